import { type ProfileTargets, profileView } from '../../domain/biometric-status.js'
import { Refusal, type RefusalKind } from '../../domain/refusal.js'
import type { VerdictReason } from '../../domain/verdict.js'
import { decodeSample } from '../../scoring/sample.js'
import type { Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { Authentication, AuthenticationStore } from '../../storage/authentication.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import type { PatternInput } from '../attempt/pattern-input.js'
import type { Settings } from '../organization/settings.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import { type Admission, admit, type Enrolled, type EnrollFlow } from '../profile/enroll.js'
import { implicitSession } from '../session/implicit-session.js'
import { bindSession, type Designation, findPerson, requireSession } from '../session/person.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly enroll: EnrollFlow
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newToken: () => string
  readonly now: () => number
  readonly randomSeed: () => number
  readonly replay: 'reject' | 'flag'
}

/** The profile after a call, and its new reference; `patternId` is null if the profile took none. */
type Linked = Omit<Enrolled, 'words' | 'update' | 'retryAfterSeconds'>

/** If `token` is null, the call has no session, and a complete profile takes no pattern from it. */
export interface LegacyLinkFlows {
  /** Enrolls the pattern. */
  link(who: Designation, token: string | null, input: PatternInput): Promise<Linked>
  /**
   * Makes a reference, with the same id, from a pattern that an earlier attempt of the same member tested. Refuses a
   * pattern that was judged a bot's or a replay. Idempotent.
   */
  linkTested(who: Designation, token: string | null, patternId: string): Promise<Linked>
}

/** These answers carry no words, and these calls type none. */
const NO_HINTS: LanguageHints = { language: null, acceptLanguage: null, words: 'none' }

export function createLegacyLink(needs: Needs): LegacyLinkFlows {
  async function admission(given: Designation, token: string | null): Promise<Admission> {
    const brought = token === null ? null : await requireSession(needs.sessions, given, token)
    const who = { ...given, memberRef: given.memberRef ?? brought?.memberRef ?? null }
    const person = await findPerson(needs.accounts, who)
    const session = brought ?? (await implicitSession(needs, who, person.member))
    await bindSession(needs.sessions, who, session, person)
    return { who, session, owed: false, ...person, hints: NO_HINTS }
  }

  const isReference = async ({ who, member }: Admission, patternId: string) =>
    (await needs.profiles.references(who.organizationId, member.id)).some(
      ({ id, kind }) => id === patternId && kind === 'enrolled',
    )

  return {
    async link(given, token, input) {
      const { who, session, hints } = await admission(given, token)
      return needs.enroll(who, session, input, hints)
    },

    async linkTested(given, token, patternId) {
      const admitted = await admission(given, token)
      const { who, member } = admitted
      if (await isReference(admitted, patternId)) {
        // Read again, because a concurrent call may have stored the reference since.
        const now = await findPerson(needs.accounts, who)
        return { ...profileView(now.member, needs.targets, needs.now()), ...now, patternId, warnings: null }
      }
      const tested = await needs.authentications.findByPattern(who.organizationId, who.userRef, patternId)
      if (tested === null || tested.memberId !== member.id) throw notTested()
      if (tested.reason !== '') throw new Refusal(UNFIT[tested.reason], 'the attempt with this pattern was refused')
      const sample = await openTested(needs.vault, who.organizationId, tested, member.generation)
      const mode = decodeSample(sample)?.mode
      if (mode === undefined) throw notTested()
      const candidate = { id: patternId, sample, mode, warnings: null, replayMark: null, body: NO_BODY }
      const linked = await admit(needs, admitted, candidate)
      // A concurrent call may have stored the reference.
      return linked.patternId === null && (await isReference(admitted, patternId)) ? { ...linked, patternId } : linked
    },
  }
}

/** The replay index has a tested pattern already, so its body is not compared. */
const NO_BODY = new Uint8Array()

const UNFIT = {
  'detection-bot': 'bot-detected',
  'fraud-detected': 'replay-detected',
} as const satisfies Record<Exclude<VerdictReason, ''>, RefusalKind>

const notTested = () => new Refusal('pattern-not-found', 'no attempt of this member tested a pattern of this id')

/** Most generations tried, newest first: 5 ms at 0.1 ms each. */
const GENERATIONS_TRIED_MAX = 50

/**
 * The tested pattern's sample. It is bound to the profile's generation at the time of the attempt, which the record does
 * not store. So generations are tried from the current one down; a pattern of an older one is refused as unknown.
 */
async function openTested(
  vault: Vault,
  organizationId: string,
  { accountId, memberId, patternId, sealed }: Authentication,
  newest: number,
): Promise<Uint8Array> {
  if (patternId === null || sealed === null) throw notTested()
  const oldest = Math.max(0, newest - GENERATIONS_TRIED_MAX + 1)
  for (let generation = newest; ; generation--) {
    const binding = { accountId, memberId, patternId, generation }
    try {
      return await vault.open(organizationId, binding, sealed)
    } catch (error) {
      if (error instanceof Refusal || generation === 0) throw error
      if (generation === oldest) throw notTested()
    }
  }
}
