import type { Member } from '../domain/account.js'

/** A member's code as it is kept; what of it is no secret comes with the `Member`. */
export interface StoredCode {
  /** Null where none is set. */
  readonly hash: string | null
  /** The code before; null where there was none. */
  readonly previousHash: string | null
  /** When temporary codes were made lately, oldest first, epoch ms. */
  readonly issued: readonly number[]
  /** Of `CodeState`. */
  readonly version: number
}

export interface NewCode {
  readonly hash: string
  /** A temporary code's end, epoch ms; null for a code that the member chose. */
  readonly expiresAt: number | null
  readonly issued: readonly number[]
  readonly setAt: number
}

type CodeOutcome =
  | { readonly outcome: 'changed'; readonly member: Member }
  /** Another change came first, or the member is gone: nothing was written, read again. */
  | { readonly outcome: 'conflict' }

/** Security codes of members, as hashes only. Every change bumps the code's version and the attempts' version. */
export interface SecurityCodeStore {
  /** Null where the member is gone. */
  find(organizationId: string, memberId: string): Promise<StoredCode | null>
  /** Replaces the code that has `version`; the replaced one becomes the previous. Revives a dead code lock, lowers no other. */
  set(organizationId: string, memberId: string, version: number, code: NewCode): Promise<CodeOutcome>
  /** Removes the code, if any, which becomes the previous one; lowers no lock. Null where the member is gone. */
  clear(organizationId: string, memberId: string): Promise<Member | null>
}
