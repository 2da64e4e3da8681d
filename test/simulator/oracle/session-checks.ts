import type { AttemptKind } from '../../../src/domain/attempts.js'
import { sha256Hex, shownSessionId } from '../../../src/flows/process/tokens.js'
import { SESSION_LIFETIME_MS } from '../../../src/flows/session/bootstrap.js'
import type { Request } from '../request.js'
import { keyOf } from '../stores/tables.js'
import type { Hold, OracleNeeds } from './checks.js'

interface Minted {
  readonly place: string
  readonly at: number
  readonly step: number
}

const ATTEMPTS: readonly string[] = ['verify', 'verify code', 'legacy verify']

/** The attempt of a call and its session; null if the call makes no attempt or presents no session. */
function attemptOf({ kind: call, who, token, code }: Request) {
  if (token === undefined || !ATTEMPTS.includes(call)) return null
  const kind: AttemptKind = code === undefined ? 'biometric' : 'security_code'
  const sha256 = sha256Hex(token)
  return { who, kind, sha256, session: keyOf(who.organizationId, sha256, kind) }
}

/** Checks of sessions: their user, their end, and the attempts that they count. */
export function createSessionChecks({ sessions, now, step, saw }: OracleNeeds, hold: Hold) {
  const tokens = new Map<string, Minted>()
  /** Number of recorded attempts, by session and kind. */
  const scored = new Map<string, number>()
  /** Number of attempts that began, and of those answered as free, by session and kind. */
  const begun = new Map<string, number>()
  const free = new Map<string, number>()

  return {
    began(request: Request): void {
      const visit = attemptOf(request)
      if (visit !== null) begun.set(visit.session, (begun.get(visit.session) ?? 0) + 1)
    },
    /** Counts a recorded attempt; returns the number of its session and kind. */
    recorded(organizationId: string, sessionId: string, kind: AttemptKind): number {
      const visit = keyOf(organizationId, sessionId, kind)
      const n = (scored.get(visit) ?? 0) + 1
      scored.set(visit, n)
      return n
    },
    /**
     * Each attempt that is not free may hold one reservation and one record. A session that counts more has kept the
     * reservation of a free attempt.
     */
    holdFree(request: Request, action: string | undefined): void {
      if (action !== 'refused' && action !== 'enroll') return
      const visit = attemptOf(request)
      if (visit === null) return
      const { kind, session, sha256, who } = visit
      free.set(session, (free.get(session) ?? 0) + 1)
      const most = (begun.get(session) ?? 0) - (free.get(session) ?? 0)
      const used = sessions.of(who.organizationId, who.userRef).get(sha256)?.used[kind] ?? 0
      const judged = scored.get(keyOf(who.organizationId, shownSessionId(sha256), kind)) ?? 0
      hold('free', used <= most, () => `a session counts ${used} attempts by ${kind}; ${most} were not free`)
      hold(
        'free',
        judged <= most,
        () => `${judged} attempts by ${kind} of a session are recorded; ${most} were not free`,
      )
      saw(`free: ${action}`)
    },
    /** Checks that the call ended the user's older sessions, except the one that it presented. */
    holdEnded({ who, token, beganAt }: Request, memberRef: string | null): void {
      for (const [sha256, session] of sessions.of(who.organizationId, who.userRef)) {
        const minted = tokens.get(sha256)
        if (minted === undefined || minted.step >= beganAt || (token !== undefined && sha256 === sha256Hex(token)))
          continue
        const its = memberRef === null || session.memberRef === null || session.memberRef === memberRef
        hold('sessions', !its, () => `a session of ${who.userRef} did not end`)
      }
    },
    /** Checks that an answered call presented a live session of its user. */
    holdToken({ who, token, at, kind }: Request): void {
      if (token === undefined || kind === 'bootstrap') return
      const minted = tokens.get(sha256Hex(token))
      const own = minted?.place === keyOf(who.organizationId, who.userRef)
      hold('sessions', own, () => `a session of ${minted?.place} served ${who.organizationId} ${who.userRef}`)
      hold('sessions', minted === undefined || at < minted.at + SESSION_LIFETIME_MS, () => 'an expired session served')
    },
    /** Checks that every session ends. */
    audit(): void {
      const oldest = sessions.oldest()
      hold('sessions', oldest === null || now() - oldest < SESSION_LIFETIME_MS, () => 'a session does not expire')
    },
    /** Notes the bearer token of a session that a client got. */
    given(token: string, { who }: Request): void {
      const sha256 = sha256Hex(token)
      const place = keyOf(who.organizationId, who.userRef)
      const known = tokens.get(sha256)
      hold(
        'sessions',
        known === undefined || known.place === place,
        () => `the session of ${known?.place} for ${place}`,
      )
      const mintedAt = sessions.of(who.organizationId, who.userRef).get(sha256)?.mintedAt ?? now()
      if (known === undefined) tokens.set(sha256, { place, at: mintedAt, step: step() })
    },
    /** A lost session store may forget that an attempt was given back, so earlier attempts are not checked. */
    lost: () => free.clear(),
  }
}
