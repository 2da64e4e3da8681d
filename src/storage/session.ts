import type { AttemptKind, SessionUse } from '../domain/attempts.js'
import type { AccountWithMember } from './account.js'

/** The words that a session has issued: suggestions in the order of use (`src/domain/issued-words.ts`), and the number used up. */
export interface SessionWords {
  readonly issued: string
  readonly used: number
}

/** A sign-in session as its holder may use it. The bearer value is never stored, only its SHA-256 in hex. */
export interface Session {
  readonly userRef: string
  /** Null on a shared account until a member is designated. */
  readonly memberRef: string | null
  /** The member's `rowVersion` when the session was minted; null if no member was known. */
  readonly memberVersion: number | null
  /** Attempts reserved so far by kind, and whether a typing attempt has failed. */
  readonly used: SessionUse
  /** Id of the pending action that a bootstrap of this session last reported; null if none was pending. */
  readonly reportedAction: string | null
  /** Null if no words were issued. */
  readonly words: SessionWords | null
}

export interface NewSession {
  readonly sha256: string
  readonly userRef: string
  readonly memberRef: string | null
  readonly memberVersion?: number | null
  readonly lifetimeMs: number
  /** Suggestions to issue; none if absent. */
  readonly words?: string | null
  /** The sealed person that the session carries to its first typing attempt, and no further; none if absent. */
  readonly carried?: Uint8Array | null
}

/** The person of a reserved attempt: as the session has carried them from its bootstrap, or as the store reads them with it. */
export type ReservedPerson =
  | {
      readonly sealed: Uint8Array
      /** Number of the user's recent reservations (`nth`) when the session was minted. */
      readonly nth: number
    }
  | { readonly read: AccountWithMember }

/** A session that is found by its member. Nobody has its bearer value. */
interface ImplicitSession extends Session {
  readonly sha256: string
  /** Remaining lifetime, ms. */
  readonly remainingMs: number
}

export type Reservation =
  /**
   * `nth`: approximate number of this user's recent reservations in any session, this one included; 1 if the earlier ones
   * are not stored any more. A process that made number `nth - 1` knows the outcome of all earlier attempts.
   */
  | {
      readonly outcome: 'reserved'
      readonly session: Session
      readonly nth: number
      /** Present if it was asked for. */
      readonly person?: ReservedPerson
    }
  /** The person was asked for, and there is none. Nothing was counted. */
  | { readonly outcome: 'empty'; readonly session: Session }
  /** The budget of this kind is used up, and nothing was counted. */
  | { readonly outcome: 'exhausted'; readonly session: Session }

/**
 * Sessions and the attempts reserved in them. A session is found only under the organization and userRef for which it was minted.
 * The back end keeps the time, so a clock jump of this process neither ends nor extends a session.
 */
export interface SessionStore {
  /** Whether sessions keep the sealed person that they are minted with. Otherwise `reserve` reads the person. */
  readonly keepsCarried: boolean
  mint(organizationId: string, session: NewSession): Promise<void>
  /**
   * Returns the only live implicit session of a member, created from `session` if there is none. Atomic: concurrent calls get
   * the same session.
   */
  mintImplicit(organizationId: string, session: NewSession & { readonly memberRef: string }): Promise<ImplicitSession>
  find(organizationId: string, userRef: string, sha256: string): Promise<Session | null>
  /** Binds a session without a member to one, once. False if the session is gone or bound to another member. */
  designate(organizationId: string, userRef: string, sha256: string, memberRef: string): Promise<boolean>
  /**
   * Counts one attempt before it is made, if fewer than `budget` of its `kind` are used. A typing attempt uses up one suggestion.
   * Atomic, in one round trip that includes the check of the session. Only `release` undoes a reservation. Null if there is no
   * such live session.
   */
  reserve(
    organizationId: string,
    userRef: string,
    sha256: string,
    attempt: {
      readonly kind: AttemptKind
      readonly budget: number
      /** Whether to return the person; false by default. */
      readonly withPerson?: boolean
    },
  ): Promise<Reservation | null>
  /**
   * Undoes a reservation that revealed nothing, because its pattern could not be read or its code was not compared. Gives back
   * the suggestion too, if the session still has the `words` of the reservation.
   */
  release(
    organizationId: string,
    userRef: string,
    sha256: string,
    reserved: { readonly kind: AttemptKind; readonly words: SessionWords | null },
  ): Promise<void>
  /**
   * Replaces the words if they are still `from`. Atomic. `changed` says whether they were replaced, and `words` are those of the
   * session afterwards. Null if there is no such live session.
   */
  changeWords(
    organizationId: string,
    userRef: string,
    sha256: string,
    change: { readonly from: SessionWords | null; readonly to: SessionWords },
  ): Promise<{ readonly changed: boolean; readonly words: SessionWords | null } | null>
  markTypingFailed(organizationId: string, userRef: string, sha256: string): Promise<void>
  markReported(organizationId: string, userRef: string, sha256: string, actionId: string): Promise<void>
  end(organizationId: string, userRef: string, sha256: string): Promise<void>
  /** Ends all sessions of the user, or those of one member and those without a member. Keeps `except`. */
  endAll(organizationId: string, userRef: string, memberRef: string | null, except?: string): Promise<void>
}
