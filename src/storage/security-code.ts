import type { Member } from '../domain/account.js'

/** A member's code as stored; the `Member` has its public part. */
export interface StoredCode {
  /** Hash of the code; null if none is set. */
  readonly hash: string | null
  /** Hash of the previous code; null if there was none. */
  readonly previousHash: string | null
  /** Times of recently issued temporary codes, oldest first, epoch ms. */
  readonly issued: readonly number[]
  /** The version in `CodeState`. */
  readonly version: number
}

export interface NewCode {
  readonly hash: string
  /** End of a temporary code, epoch ms; null for a code that the member chose. */
  readonly expiresAt: number | null
  readonly issued: readonly number[]
  readonly setAt: number
}

type CodeOutcome =
  | { readonly outcome: 'changed'; readonly member: Member }
  /** A concurrent change came first, or the member is gone. Nothing was written; read again. */
  | { readonly outcome: 'conflict' }

/** Security codes of members, as hashes only. Every change increments the code's version and the attempts' version. */
export interface SecurityCodeStore {
  /** The member's code; null if the member is gone. */
  find(organizationId: string, memberId: string): Promise<StoredCode | null>
  /** Replaces the code of `version`, which becomes the previous one. Ends a permanent code lock, but shortens no other lock. */
  set(organizationId: string, memberId: string, version: number, code: NewCode): Promise<CodeOutcome>
  /** Removes the code, if any, which becomes the previous one; shortens no lock. Null if the member is gone. */
  clear(organizationId: string, memberId: string): Promise<Member | null>
}
