import type { LinkTask } from '../domain/profile-link.js'

export interface NewLink extends LinkTask {
  readonly memberId: string
  /** Hash of the key; the key is not stored. */
  readonly sha256: Uint8Array
  /** Null if the page does not redirect. */
  readonly redirectUri: string | null
  readonly validityS: number
}

/** A live link, and its person. */
export interface StoredLink extends LinkTask {
  readonly organizationId: string
  readonly redirectUri: string | null
  readonly userRef: string
  readonly memberRef: string
}

/**
 * Profile links. The back end keeps the time. A link ends by deletion; the same transaction deletes the references that it has
 * collected of a new profile. The profile store ends a completed link, and all links of a profile that is reset.
 */
export interface ProfileLinkStore {
  /** Stores a link, which replaces the member's older link of the same kind. False if the member is gone. */
  make(organizationId: string, link: NewLink): Promise<boolean>
  /** Finds a link of any organization; null if it is not live. */
  find(sha256: Uint8Array): Promise<StoredLink | null>
  /** Ends every link of these members. */
  revoke(organizationId: string, memberIds: readonly string[]): Promise<void>
  /** Deletes some of the expired links; skips locked members. */
  sweep(organizationId: string): Promise<void>
}
