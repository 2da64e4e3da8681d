import type { Account, Member } from '../../domain/account.js'
import { type AttemptKind, type RefusedBecause, type SessionUse, whyClosed } from '../../domain/attempts.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { sessionMissing } from '../../domain/refusal.js'
import type { AccountStore } from '../../storage/account.js'
import type { SessionStore } from '../../storage/session.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import { type ModeNeeds, modeInputs } from '../session/mode-inputs.js'
import {
  bindSession,
  type Designation,
  findPerson,
  type LiveSession,
  type Presented,
  requireSession,
} from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly now: () => number
}

/** What an attempt of either kind is judged on, and answered from. */
export interface Situation {
  readonly method: AttemptKind
  readonly who: Designation
  readonly session: LiveSession
  readonly account: Account
  readonly member: Member
  readonly settings: Settings
  readonly used: SessionUse
  /** Of the user's latest attempts this is the nth, about; 0 where none is reserved. */
  readonly nth: number
  readonly hints: LanguageHints
}

/** Who attempts what, in which session. Refuses a missing session and an absent person. */
export async function begin(
  needs: Needs,
  method: AttemptKind,
  who: Designation,
  token: Presented,
  hints: LanguageHints,
): Promise<Situation> {
  const session = await requireSession(needs.sessions, who, token)
  const named = { ...who, memberRef: who.memberRef ?? session.memberRef }
  const [settings, { account, member }] = await Promise.all([
    needs.settingsOf(who.organizationId),
    findPerson(needs.accounts, named),
  ])
  await bindSession(needs.sessions, who, session, { account, member })
  return {
    method,
    who: named,
    session,
    account,
    member,
    settings: settingsFor(settings, account),
    used: session.used,
    nth: 0,
    hints,
  }
}

/** Counts the attempt before it is made. `open` false where the session's budget of its kind is used up. */
export async function reserve(needs: Needs, situation: Situation): Promise<Situation & { readonly open: boolean }> {
  const { max_biometric_attempts, max_code_attempts } = situation.settings.policy.policy.security_code_fallback
  const budget = situation.method === 'biometric' ? max_biometric_attempts : max_code_attempts
  const reservation = await needs.sessions.reserve(...placeOf(situation), budget)
  if (reservation === null) throw sessionMissing()
  const session = { ...situation.session, ...reservation.session }
  const open = reservation.outcome !== 'exhausted'
  return { ...situation, session, used: session.used, nth: open ? reservation.nth : situation.nth, open }
}

/** Gives back an attempt from which nothing was learned: the situation as it was before its reservation. */
export async function release(
  needs: { readonly sessions: Pick<SessionStore, 'release'> },
  situation: Situation,
): Promise<Situation> {
  await needs.sessions.release(...placeOf(situation))
  return unreserved(situation)
}

const placeOf = ({ who, session, method }: Situation) =>
  [who.organizationId, who.userRef, session.sha256, method] as const

/** An attempt's own reservation does not close it; a member-wide lock may. */
const unreserved = (situation: Situation): Situation => {
  const { used, method } = situation
  return { ...situation, used: { ...used, [method]: used[method] - 1 } }
}

/** Why an attempt that is not reserved yet is not open; null where it is. */
export const closedBy = (needs: ModeNeeds, situation: Situation): 'enroll' | RefusedBecause | null =>
  whyClosed(modeInputs(needs, situation), situation.method)

/** The same of one that is reserved. */
export const closedByNow = (needs: ModeNeeds, situation: Situation): 'enroll' | RefusedBecause | null =>
  closedBy(needs, unreserved(situation))
