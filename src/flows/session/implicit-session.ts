import type { Member } from '../../domain/account.js'
import type { SessionStore } from '../../storage/session.js'
import { sha256Hex } from '../process/tokens.js'
import { SESSION_LIFETIME_MS } from './bootstrap.js'
import type { Designation, LiveSession } from './person.js'

interface Needs {
  readonly sessions: SessionStore
  readonly newToken: () => string
}

interface ImplicitLive extends LiveSession {
  /** Remaining lifetime, ms. */
  readonly remainingMs: number
}

/**
 * The session of a member whose calls have none. A member has one implicit session at a time across all processes, so its
 * budgets apply from call to call. The session has the usual lifetime. Its bearer value is discarded, so nobody can send or guess
 * the session. It counts as never authenticated, because a caller without a session has proved nothing.
 */
export async function implicitSession(needs: Needs, who: Designation, member: Member): Promise<ImplicitLive> {
  const session = await needs.sessions.mintImplicit(who.organizationId, {
    sha256: sha256Hex(needs.newToken()),
    userRef: who.userRef,
    memberRef: member.memberRef,
    lifetimeMs: SESSION_LIFETIME_MS,
  })
  return { ...session, implicit: true }
}
