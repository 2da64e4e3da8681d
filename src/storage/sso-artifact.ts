/**
 * Kinds of artifacts: the models of the OpenID provider, and `SignIn`, the progress of a person in an interaction. An artifact
 * is found by the SHA-256 (hex) of its id, which may be a bearer value and is not stored.
 */
export interface NewSsoArtifact {
  readonly kind: string
  readonly sha256: string
  readonly sealed: Uint8Array
  /** SHA-256 of a second key, for a session. */
  readonly uidSha256: string | null
  /** SHA-256 of the grant's id, for what ends with a grant. */
  readonly grantSha256: string | null
  /** The person whom it names; null while that is unknown. */
  readonly userRef: string | null
  readonly lifetimeMs: number
}

export interface SsoArtifact {
  readonly sha256: string
  readonly sealed: Uint8Array
  readonly consumed: boolean
}

/** Artifacts of single sign-on with a lifetime. The back end keeps the time. */
export interface SsoArtifactStore {
  /** Creates or replaces; a consumed artifact stays consumed. */
  put(organizationId: string, artifact: NewSsoArtifact): Promise<void>
  find(organizationId: string, kind: string, sha256: string): Promise<SsoArtifact | null>
  findByUid(organizationId: string, kind: string, uidSha256: string): Promise<SsoArtifact | null>
  /** Marks an artifact as used. Atomic: true for one of any number of calls. */
  consume(organizationId: string, kind: string, sha256: string): Promise<boolean>
  /** Idempotent, as are the next two. */
  end(organizationId: string, kind: string, sha256: string): Promise<void>
  /** Ends all that a grant led to. */
  endGrant(organizationId: string, grantSha256: string): Promise<void>
  /** Ends all that names a person. */
  endAll(organizationId: string, userRef: string): Promise<void>
}
