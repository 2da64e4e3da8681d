/** What a sealed sample is bound to: opening it under any other binding fails. */
export interface Binding {
  readonly accountId: string
  readonly memberId: string
  readonly patternId: string
  readonly generation: number
}

/** Where a piece of an export's archive belongs. Without the secret, which the archive's row keeps, nothing opens it. */
export interface PiecePlace {
  readonly archiveId: string
  readonly secret: Uint8Array
  /** Its place in the order, from 0. */
  readonly n: number
}

/** Encryption at rest under a data key per organization, each wrapped by the deployment's encryption key. */
export interface Vault {
  /** AES-256-GCM: version byte, 12-byte nonce, ciphertext, 16-byte tag. */
  seal(organizationId: string, binding: Binding, plain: Uint8Array): Promise<Uint8Array>
  /** Throws where the bytes were altered or moved to another binding. */
  open(organizationId: string, binding: Binding, sealed: Uint8Array): Promise<Uint8Array>
  /** The same for a piece of an archive, under a key of its secret and the organization's data key. */
  sealPiece(organizationId: string, place: PiecePlace, plain: Uint8Array): Promise<Uint8Array>
  /** Throws where the bytes were altered or moved, or the secret is another. */
  openPiece(organizationId: string, place: PiecePlace, sealed: Uint8Array): Promise<Uint8Array>
  /** Something secret that the organization entrusted, by what it is for. */
  sealSecret(organizationId: string, purpose: string, secret: string): Promise<Uint8Array>
  /** Throws as `open` does. */
  openSecret(organizationId: string, purpose: string, sealed: Uint8Array): Promise<string>
  /** 32 bytes that key the organization's replay marks. */
  replayKey(organizationId: string): Promise<Uint8Array>
  /** 32 bytes under which the organization's security codes are hashed. */
  codePepper(organizationId: string): Promise<Uint8Array>
}
