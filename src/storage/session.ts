import type { AttemptKind, SessionUse } from '../domain/attempts.js'

/** A sign-in session as its holder may use it. The bearer value is never stored, only its SHA-256 in hex. */
export interface Session {
  readonly userRef: string
  /** Null on a shared account until a member is designated. */
  readonly memberRef: string | null
  /** The member's `rowVersion` as whoever minted the session had it; null where they knew of no member. */
  readonly memberVersion: number | null
  /** Attempts reserved so far, of each kind, and whether one of typing has failed. */
  readonly used: SessionUse
  /** Id of the pending action that a bootstrap of this session has reported last; null where none was pending. */
  readonly reportedAction: string | null
}

export interface NewSession {
  readonly sha256: string
  readonly userRef: string
  readonly memberRef: string | null
  readonly memberVersion?: number | null
  readonly lifetimeMs: number
}

/** A session that was found by its member instead of its bearer value; that value is nobody's. */
interface ImplicitSession extends Session {
  readonly sha256: string
  /** How long it still lives. */
  readonly remainingMs: number
}

type Reservation =
  /**
   * `nth`: about how many attempts of this user were reserved lately, in whatever session, this one included. Whoever made
   * the one before it has seen all that came of them; where nothing was kept of those it is 1.
   */
  | { readonly outcome: 'reserved'; readonly session: Session; readonly nth: number }
  /** The budget of this kind is used up; nothing was counted. */
  | { readonly outcome: 'exhausted'; readonly session: Session }

/**
 * Sessions and the attempts reserved in them. A session is found only under the organization and userRef it was minted
 * for. The back end keeps the time (a clock jump of this process ends no session early and keeps none alive).
 */
export interface SessionStore {
  mint(organizationId: string, session: NewSession): Promise<void>
  /**
   * The one live implicit session of a member; where there is none, this new one becomes it: atomically, so that all who
   * ask at once are given the same.
   */
  mintImplicit(organizationId: string, session: NewSession & { readonly memberRef: string }): Promise<ImplicitSession>
  find(organizationId: string, userRef: string, sha256: string): Promise<Session | null>
  /** Binds a session without a member to one, once; false where it is bound to another already or gone. */
  designate(organizationId: string, userRef: string, sha256: string, memberRef: string): Promise<boolean>
  /**
   * Counts one attempt before it is made, if fewer than `budget` of its kind are used: atomically. A reservation stays used whatever becomes of it, save for `release`.
   * One round trip, the session check included; null where there is no such live session.
   */
  reserve(
    organizationId: string,
    userRef: string,
    sha256: string,
    kind: AttemptKind,
    budget: number,
  ): Promise<Reservation | null>
  /** Gives back a reservation whose pattern could not be read, or whose code was not compared: nothing was learned from it. */
  release(organizationId: string, userRef: string, sha256: string, kind: AttemptKind): Promise<void>
  markTypingFailed(organizationId: string, userRef: string, sha256: string): Promise<void>
  markReported(organizationId: string, userRef: string, sha256: string, actionId: string): Promise<void>
  end(organizationId: string, userRef: string, sha256: string): Promise<void>
  /** Ends the user's sessions: all, or those of one member and those without a member; `except` stays. */
  endAll(organizationId: string, userRef: string, memberRef: string | null, except?: string): Promise<void>
}
