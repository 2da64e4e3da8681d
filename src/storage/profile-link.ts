import type { LinkTask } from '../domain/profile-link.js'

export interface NewLink extends LinkTask {
  readonly memberId: string
  /** Of the key, which itself is stored nowhere. */
  readonly sha256: Uint8Array
  /** Null: nowhere. */
  readonly redirectUri: string | null
  readonly validityS: number
}

/** A live link, and whom it is about. */
export interface StoredLink extends LinkTask {
  readonly organizationId: string
  readonly redirectUri: string | null
  readonly userRef: string
  readonly memberRef: string
}

/**
 * Profile links. The back end keeps the time. A link ends by being deleted: what it has collected of a new profile goes
 * with it, in the same transaction, unless it was completed, which is the profile store's affair.
 */
export interface ProfileLinkStore {
  /** Takes the place of the member's older link of the kind, if there is one. False where the member is gone. */
  make(organizationId: string, link: NewLink): Promise<boolean>
  /** Whose link this is, whatever the organization; null where it is not alive. */
  find(sha256: Uint8Array): Promise<StoredLink | null>
  /** Ends every link of these members. */
  revoke(organizationId: string, memberIds: readonly string[]): Promise<void>
  /** Removes some of the links that have expired; it waits for nobody. */
  sweep(organizationId: string): Promise<void>
}
