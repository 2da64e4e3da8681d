/**
 * An artifact to store. Its kind is a model of the OpenID provider, or `SignIn`, the progress of a person in an interaction. It is
 * found by the SHA-256 (hex) of its id, which may be a bearer value and is not stored.
 */
export interface NewSsoArtifact {
  readonly kind: string
  readonly sha256: string
  readonly sealed: Uint8Array
  /** SHA-256 of a second key; null except for a session. */
  readonly uidSha256: string | null
  /** SHA-256 of the id of the grant with which the artifact ends; null if there is none. */
  readonly grantSha256: string | null
  /** The person of the artifact; null while unknown. */
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
  /** Creates or replaces an artifact; a consumed one stays consumed. */
  put(organizationId: string, artifact: NewSsoArtifact): Promise<void>
  find(organizationId: string, kind: string, sha256: string): Promise<SsoArtifact | null>
  findByUid(organizationId: string, kind: string, uidSha256: string): Promise<SsoArtifact | null>
  /** Marks an artifact as used. Atomic: true for only one of concurrent calls. */
  consume(organizationId: string, kind: string, sha256: string): Promise<boolean>
  /** Ends an artifact. Idempotent, as are `endGrant` and `endAll`. */
  end(organizationId: string, kind: string, sha256: string): Promise<void>
  /** Ends the artifacts of a grant. */
  endGrant(organizationId: string, grantSha256: string): Promise<void>
  /** Ends the artifacts of a person. */
  endAll(organizationId: string, userRef: string): Promise<void>
}
