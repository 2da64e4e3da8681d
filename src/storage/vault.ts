/** The binding of a sealed sample, which cannot be opened under another binding. */
export interface Binding {
  readonly accountId: string
  readonly memberId: string
  readonly patternId: string
  readonly generation: number
}

/** The purpose of sealed bytes other than a sample, and the person or session that they belong to. */
export type Purpose =
  | readonly ['comparison set', accountId: string, memberId: string, generation: number]
  | readonly ['carried person', userRef: string, sessionSha256: string]

/** The position of a piece in an export's archive. The key of the piece derives from the secret in the archive's row. */
export interface PiecePlace {
  readonly archiveId: string
  readonly secret: Uint8Array
  /** Position in the archive, from 0. */
  readonly n: number
}

/** Encryption at rest under a data key per organization, each wrapped by the deployment's encryption key. */
export interface Vault {
  /** AES-256-GCM: version byte, 12-byte nonce, ciphertext, 16-byte tag. */
  seal(organizationId: string, binding: Binding, plain: Uint8Array): Promise<Uint8Array>
  /** Throws if the bytes were altered or moved to another binding. */
  open(organizationId: string, binding: Binding, sealed: Uint8Array): Promise<Uint8Array>
  /** Seals bytes for one purpose. */
  sealFor(organizationId: string, purpose: Purpose, plain: Uint8Array): Promise<Uint8Array>
  /** Throws as `open` does. */
  openFor(organizationId: string, purpose: Purpose, sealed: Uint8Array): Promise<Uint8Array>
  /** Seals a piece of an archive under a key derived from its secret and the organization's data key. */
  sealPiece(organizationId: string, place: PiecePlace, plain: Uint8Array): Promise<Uint8Array>
  /** Throws if the bytes were altered or moved, or the secret is wrong. */
  openPiece(organizationId: string, place: PiecePlace, sealed: Uint8Array): Promise<Uint8Array>
  /** Seals a secret of the organization, bound to its purpose. */
  sealSecret(organizationId: string, purpose: string, secret: string): Promise<Uint8Array>
  /** Throws as `open` does. */
  openSecret(organizationId: string, purpose: string, sealed: Uint8Array): Promise<string>
  /** 32 bytes that key the organization's replay marks. */
  replayKey(organizationId: string): Promise<Uint8Array>
  /** 32 bytes under which the organization's security codes are hashed. */
  codePepper(organizationId: string): Promise<Uint8Array>
}
