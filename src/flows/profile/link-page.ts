import type { Member } from '../../domain/account.js'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import { type LinkKind, type LinkPlace, type LinkProgress, linkPlace, linkProgress } from '../../domain/profile-link.js'
import { completedUri } from '../../domain/redirect-uri.js'
import { linkUnknown, Refusal } from '../../domain/refusal.js'
import type { Scoring } from '../../scoring/scoring.js'
import type { AccountStore } from '../../storage/account.js'
import type { AuthenticationStore } from '../../storage/authentication.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { ProfileLinkStore, StoredLink } from '../../storage/profile-link.js'
import type { RefusedPatternStore } from '../../storage/refused-patterns.js'
import type { SessionStore } from '../../storage/session.js'
import type { Vault } from '../../storage/vault.js'
import { limitInvalidPatterns } from '../attempt/invalid-patterns.js'
import type { PatternInput } from '../attempt/pattern-input.js'
import { rememberingRefused } from '../attempt/refused-patterns.js'
import { type Settings, settingsFor } from '../organization/settings.js'
import { type LanguageHints, type SuggestedWords, suggestedWords } from '../organization/suggested-words.js'
import { sha256, sha256Hex } from '../process/tokens.js'
import { endingSessions } from '../session/ending-sessions.js'
import type { Designation, Person } from '../session/person.js'
import { typedOf, wordsRefusal } from '../session/session-words.js'
import { readPattern, refuseLocked } from './enroll.js'
import { intervalOf, notStored, storeReference } from './store-reference.js'

interface Needs {
  readonly accounts: AccountStore
  readonly profileLinks: ProfileLinkStore
  readonly profiles: ProfileStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly refusedPatterns: RefusedPatternStore
  readonly sessions: SessionStore
  readonly vault: Vault
  readonly scoring: Scoring
  readonly settingsOf: (organizationId: string) => Promise<Settings>
  readonly targets: ProfileTargets
  readonly newId: () => string
  readonly now: () => number
  readonly replay: 'reject' | 'flag'
}

/** The page of a live link. */
interface LinkPage extends LinkProgress {
  readonly kind: LinkKind
  readonly organizationName: string
  /** The profile was completed in another way, so nothing is left to type. */
  readonly nothingLeft: boolean
  readonly words: SuggestedWords
  /** The user may choose another language. */
  readonly languageOpen: boolean
}

interface LinkStep extends LinkProgress {
  /** This pattern completed the profile and ended the link. */
  readonly completed: boolean
  /** Seconds until the link takes its next pattern; 0 if it takes one at once. */
  readonly retryAfterSeconds: number
  /** The browser's next address; null if none. */
  readonly redirectTo: string | null
  readonly words: SuggestedWords
  /** Warnings about the pattern; null if none. */
  readonly warnings: readonly string[] | null
}

export interface LinkPageFlows {
  /** Changes nothing. Refuses a key of no live link with `link-unknown`, and a key of a locked person with `profile-locked`. */
  open(key: string, hints: LanguageHints): Promise<LinkPage>
  /**
   * Stores one typing pattern that was sent through the link. The pattern that completes the profile ends the link in the
   * same transaction, so only one of several concurrent patterns does. Then a reset takes effect and ends the user's sessions.
   * Refuses with `profile-locked` while an administrator's lock holds.
   */
  step(key: string, input: PatternInput, hints: LanguageHints): Promise<LinkStep>
}

export function createLinkPage(needs: Needs): LinkPageFlows {
  return {
    async open(key, hints) {
      const live = await liveLink(needs, key)
      const { link, member, settings } = live
      refuseLocked(member)
      const { organization } = settings
      return {
        ...progressOf(needs, link, member),
        kind: link.kind,
        organizationName: organization.name,
        nothingLeft: placeOf(needs, link, member).kind === 'none',
        words: wordsOfLink(needs, live, hints),
        languageOpen: member.preferredLanguage === null && organization.languageMode === 'auto',
      }
    },

    async step(key, input, hints) {
      const before = await liveLink(needs, key)
      const { link, who, member, settings } = before
      const refuseInvalid = limitInvalidPatterns(needs.invalidPatterns, who.organizationId, member)
      const {
        completed,
        patternId,
        member: after,
        warnings,
      } = await rememberingRefused(
        needs,
        { who, token: null, input },
        storePattern(needs, before, input, hints).catch(refuseInvalid),
      )
      const progress = progressOf(needs, link, after)
      return {
        // The references that the reset has collected are now the profile.
        ...(completed ? { ...progress, nPatterns: progress.targetPatterns } : progress),
        completed,
        retryAfterSeconds:
          patternId !== null && !completed && hasInterval(needs, link, after) ? intervalOf(settings) / 1000 : 0,
        redirectTo: completed && link.redirectUri !== null ? completedUri(link.redirectUri) : null,
        words: wordsOfLink(needs, { ...before, member: after }, hints),
        warnings,
      }
    },
  }
}

/** A live link, with its person. */
interface LiveLink extends Person {
  readonly link: StoredLink
  readonly who: Designation
  readonly settings: Settings
}

async function liveLink(needs: Needs, key: string): Promise<LiveLink> {
  const link = await needs.profileLinks.find(sha256(key))
  if (link === null) throw linkUnknown()
  const { organizationId, userRef, memberRef } = link
  const [general, person] = await Promise.all([
    needs.settingsOf(organizationId),
    needs.accounts.find(organizationId, userRef, memberRef),
  ])
  if (person === null || person.member === null) throw linkUnknown()
  const { account, member } = person
  const settings = settingsFor(general, account)
  return { link, who: { organizationId, userRef, memberRef }, account, member, settings }
}

interface Stored extends Person, Pick<LinkStep, 'completed' | 'warnings'> {
  /** The new reference; null if the profile took none. */
  readonly patternId: string | null
}

/**
 * The words of a link: its next pattern has to type them. They follow from the link and the number of its patterns, so opening the
 * page stores nothing, a page that is loaded again shows the same ones, and a stored pattern uses them up.
 */
function wordsOfLink(needs: Needs, { link, member, settings }: LiveLink, hints: LanguageHints): SuggestedWords {
  const { nPatterns } = progressOf(needs, link, member)
  const generation = placeOf(needs, link, member).kind === 'successor' ? member.generation + 1 : member.generation
  const turn = { enrolls: nPatterns < needs.targets.targetRefPatterns, n: nPatterns }
  return suggestedWords(
    settings,
    { ...member, generation, turn },
    hints,
    Number.parseInt(sha256Hex(`${link.id}:${nPatterns}`).slice(0, 8), 16),
  )
}

const WORDS_OF_LINK =
  'type the words of the page: each pattern uses them up, and a page that is loaded again shows the next ones'

async function storePattern(
  needs: Needs,
  before: LiveLink,
  input: PatternInput,
  hints: LanguageHints,
): Promise<Stored> {
  const { link, who, account, member } = before
  refuseLocked(member)
  const place = placeOf(needs, link, member)
  if (place.kind === 'none') throw new Refusal('profile-complete', 'the biometric profile is complete already')
  const reading = await readPattern(needs, who, member, input)
  const { warnings } = reading
  const { suggestedWords: words } = wordsOfLink(needs, before, hints)
  const otherText = wordsRefusal(typedOf(reading, words), WORDS_OF_LINK)
  if (otherText !== null) throw otherText
  const candidate = { ...reading, id: needs.newId(), body: input.body }
  const intervalMs = intervalOf(before.settings)
  const storing = { who, account, member, place, candidate, intervalMs, linkId: link.id }
  const stores = async () => {
    const outcome = await storeReference(needs, storing)
    if (outcome.outcome !== 'added' && outcome.outcome !== 'closed') throw notStored(outcome, needs.now())
    return outcome
  }
  const endSessions = () => needs.sessions.endAll(who.organizationId, who.userRef, member.memberRef)
  const resets = place.kind === 'successor' && place.asReset && isLast(needs, link, member)
  const outcome = await (resets ? endingSessions(endSessions, stores) : stores())
  const stored = { account, member: outcome.member, warnings }
  if (outcome.outcome === 'closed') return { ...stored, patternId: null, completed: false }
  // A concurrent pattern of the link has made this one the last.
  if (outcome.completes && link.kind === 'reset-profile' && !resets) await endSessions()
  return { ...stored, patternId: candidate.id, completed: outcome.completes }
}

function isLast(needs: Needs, link: StoredLink, member: Member): boolean {
  const { nPatterns, targetPatterns } = progressOf(needs, link, member)
  return nPatterns + 1 >= targetPatterns
}

/** Whether the policy's interval applies to the next pattern. References beyond the target are added at once. */
function hasInterval(needs: Needs, link: StoredLink, member: Member): boolean {
  const place = placeOf(needs, link, member)
  return (
    place.kind === 'successor' || (place.kind === 'current' && member.nPatternsRef < needs.targets.targetRefPatterns)
  )
}

const inputsOf = ({ targets, now }: Needs, link: StoredLink, member: Member) => ({ link, member, targets, now: now() })
const placeOf = (needs: Needs, link: StoredLink, member: Member): LinkPlace => linkPlace(inputsOf(needs, link, member))
const progressOf = (needs: Needs, link: StoredLink, member: Member): LinkProgress =>
  linkProgress(inputsOf(needs, link, member))
