import type { Account, Member } from '../../domain/account.js'
import { type AttemptWindow, attemptWindow, type SessionUse } from '../../domain/attempts.js'
import { canVerify, type ProfileTargets, type ProfileView, profileView } from '../../domain/biometric-status.js'
import { livePending, type PendingAction, type UpdateProgress, updateProgress } from '../../domain/pending-action.js'
import type { AccountStore, AccountWithMember } from '../../storage/account.js'
import type { SessionStore, SessionWords } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import {
  type LanguageHints,
  newcomer,
  newSuggestions,
  type SuggestedWords,
  typistOf,
} from '../organization/suggested-words.js'
import { sha256Hex } from '../process/tokens.js'
import { sealedPerson } from './carried-person.js'
import { modeInputs } from './mode-inputs.js'
import { type Designation, refuseForeignMember } from './person.js'
import { wordsOf } from './session-words.js'

interface Needs {
  readonly accounts: AccountStore
  readonly sessions: SessionStore
  readonly vault: Pick<Vault, 'sealFor'>
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newToken: () => string
  readonly now: () => number
  readonly randomSeed: () => number
}

const UNUSED: SessionUse = { biometric: 0, security_code: 0, typingFailed: false }

/** Sessions last this long from their creation; use does not extend them. */
export const SESSION_LIFETIME_MS = 900_000

export interface AccountState extends ProfileView {
  readonly account: Account
  readonly member: Member | null
}

export interface Bootstrap {
  /** Null if the account does not exist yet. Its `member` is null if the named member does not exist yet. */
  readonly state: AccountState | null
  /** The person does not exist yet; the session can create and enroll them. */
  readonly unknown: boolean
  readonly sessionToken: string
  readonly targetRefPatterns: number
  /** The action that an administrator queued; this session's enrollment carries it out. */
  readonly pendingAction: PendingAction | null
  /** Progress of a queued UPDATE; null if none. */
  readonly update: UpdateProgress | null
  /** The open alternative if typing is closed in this session; null if typing is open. */
  readonly next: AttemptWindow | null
  /** The policy accepts a security code after typing fails. */
  readonly requiresSecurityCode: boolean
  readonly codeLength: number
  readonly words: SuggestedWords
}

export type BootstrapFlow = (who: Designation, token: string | null, hints: LanguageHints) => Promise<Bootstrap>

/**
 * Begins a sign-in: the account's state, a session and words to type. A live session of the same user (and member) is
 * echoed with the words that it has not used up; any other token is replaced by a new session.
 */
export function createBootstrap(needs: Needs): BootstrapFlow {
  return async (who, token, hints) => {
    const found = await needs.accounts.find(who.organizationId, who.userRef, who.memberRef, {
      withComparisonSet: needs.sessions.keepsCarried,
    })
    const settings = settingsFor(await needs.settingsOf(who.organizationId), found?.account ?? { groups: [] })
    if (found !== null) refuseForeignMember(found.account, who.memberRef)
    const memberRef = found?.member?.memberRef ?? (found === null ? null : who.memberRef)
    const member = found?.member ?? null
    const typist = member === null ? newcomer(who.memberRef ?? who.userRef) : typistOf(member, needs)
    const issue = () => newSuggestions(settings, typist, hints, needs.randomSeed())
    const session =
      (await echoed(needs, who, memberRef, token)) ?? (await mint(needs, who, { memberRef, found, issued: issue() }))
    const { token: sessionToken, used, words } = session
    const pending = livePending(member?.pending ?? null, needs.now())
    if (pending !== null)
      await needs.sessions.markReported(who.organizationId, who.userRef, sha256Hex(sessionToken), pending.id)
    const live = { sha256: sha256Hex(sessionToken), words }
    return {
      state: found === null ? null : stateOf(needs, found.account, found.member),
      unknown: found === null || (who.memberRef !== null && found.member === null),
      sessionToken,
      targetRefPatterns: needs.targets.targetRefPatterns,
      pendingAction: pending?.action ?? null,
      update: updateProgress(pending, needs.targets.targetRefPatterns),
      next: member === null ? null : nextOf(needs, { member, settings, used }),
      requiresSecurityCode: settings.policy.policy.security_code_fallback.enabled,
      codeLength: settings.policy.policy.security_code_fallback.code_length,
      words: await wordsOf(needs, { who, session: live, settings, typist, hints }),
    }
  }
}

/** The next attempt if typing is closed, so that a bootstrap reports a lock before the user types. */
function nextOf(needs: Needs, state: { member: Member; settings: Settings; used: SessionUse }): AttemptWindow | null {
  if (!canVerify(profileView(state.member, needs.targets, needs.now()).biometricStatus)) return null
  const window = attemptWindow(modeInputs(needs, state))
  return window.mode === 'biometric' ? null : window
}

export const stateOf = (
  { targets, now }: Pick<Needs, 'targets' | 'now'>,
  account: Account,
  member: Member | null,
): AccountState => ({ ...profileView(member, targets, now()), account, member })

interface Begun {
  readonly token: string
  readonly used: SessionUse
  readonly words: SessionWords | null
}

async function echoed(
  needs: Needs,
  who: Designation,
  memberRef: string | null,
  token: string | null,
): Promise<Begun | null> {
  if (token === null) return null
  const hash = sha256Hex(token)
  const session = await needs.sessions.find(who.organizationId, who.userRef, hash)
  if (session === null) return null
  const begun = { token, used: session.used, words: session.words }
  if (session.memberRef === memberRef) return begun
  if (session.memberRef !== null || memberRef === null) return null
  return (await needs.sessions.designate(who.organizationId, who.userRef, hash, memberRef)) ? begun : null
}

interface SessionToMint {
  readonly memberRef: string | null
  readonly found: AccountWithMember | null
  /** Suggestions for the session. */
  readonly issued: string
}

async function mint(needs: Needs, who: Designation, { memberRef, found, issued }: SessionToMint): Promise<Begun> {
  const token = needs.newToken()
  const sha256 = sha256Hex(token)
  await needs.sessions.mint(who.organizationId, {
    sha256,
    userRef: who.userRef,
    memberRef,
    memberVersion: found?.member?.rowVersion ?? null,
    lifetimeMs: SESSION_LIFETIME_MS,
    words: issued,
    carried: await carriedOf(needs, who, sha256, found),
  })
  return { token, used: UNUSED, words: { issued, used: 0 } }
}

/** The sealed person for a verify by typing; null if none is open. */
async function carriedOf(
  needs: Needs,
  who: Designation,
  sha256: string,
  found: AccountWithMember | null,
): Promise<Uint8Array | null> {
  const member = found?.member ?? null
  if (!needs.sessions.keepsCarried || found === null || member === null) return null
  const { biometricStatus } = profileView(member, needs.targets, needs.now())
  // The remaining time of a closed member changes.
  if (!canVerify(biometricStatus) || member.patternsClosedForMs > 0) return null
  return sealedPerson(needs, who, sha256, { ...found, member })
}
