import { memberAfter } from '../../domain/member-after.js'
import { Refusal, sessionMissing } from '../../domain/refusal.js'
import type { AttemptRecord, AuthenticationStore } from '../../storage/authentication.js'
import type { SetChange } from '../../storage/comparison-set.js'
import type { Geography } from '../../storage/geography.js'
import type { InvalidPatternStore } from '../../storage/invalid-patterns.js'
import type { SessionStore } from '../../storage/session.js'
import type { LanguageHints } from '../organization/suggested-words.js'
import type { Designation, Presented } from '../session/person.js'
import { type AnswerNeeds, answerOf, answerOfClosed, type VerifyAnswer } from './answer.js'
import {
  type AttemptInput,
  type ContextNeeds,
  closedWhileReserved,
  openAttempt,
  type Reserved,
  readAgain,
  type Unjudged,
  withdrawn,
} from './attempt-context.js'
import { type CompareNeeds, type Comparison, compare, hideCodeAbsence, stillHolds } from './compare.js'
import { setChange } from './comparison-set.js'
import { type DecideNeeds, decide, type Location } from './decide.js'
import { patternsLimited, refusingInvalid } from './invalid-patterns.js'
import { type LearnNeeds, learn } from './learn.js'
import { checkReplay, NOT_SEEN } from './replay-check.js'

interface Needs extends ContextNeeds, CompareNeeds, DecideNeeds, AnswerNeeds, Pick<LearnNeeds, 'adaptation'> {
  readonly sessions: SessionStore
  readonly authentications: AuthenticationStore
  readonly invalidPatterns: InvalidPatternStore
  readonly geography: Geography
}

export type VerifyFlow = (
  who: Designation,
  token: Presented,
  input: AttemptInput,
  hints: LanguageHints,
) => Promise<VerifyAnswer>

/** Most rounds after concurrent commits of one member. More rounds mean that the store is unhealthy. */
const ROUNDS_MAX = 50

/**
 * Judges one attempt, a typing pattern or a security code: session and budgets, the reservation, the comparison, one
 * transaction with the record and the counters, what the profile learns, the answer. An attempt that is not open is
 * neither compared nor counted. Our choice: a security code does not authenticate the session for enrollment, so a complete
 * profile takes no further references after it.
 *
 * Types from the request body to the row: `AttemptInput` (bytes or code), `AttemptCall`, `Reserved`, `PatternReading`,
 * `Comparison`, `Circumstances`, `ContextJudgement`, `Verdict`, `AttemptRecord`, the parameters of one SQL statement.
 */
export function createVerify(needs: Needs): VerifyFlow {
  return async (who, token, input, hints) => {
    const opened = await openAttempt(needs, { who, token, input, hints })
    if ('why' in opened) {
      await hideCodeAbsence(needs, opened.context, input)
      return unjudged(needs, opened)
    }
    try {
      return await judge(needs, opened, input)
    } catch (error) {
      needs.people.forget(who)
      throw error
    }
  }
}

/**
 * Decides on the member as read and commits; if the member changed meanwhile, reads and decides again. An attempt that is
 * no longer open leaves no record. Throws a Refusal if the input cannot be compared, if the member is gone or limited, or
 * if its profile was replaced.
 */
async function judge(needs: Needs, opened: Reserved, input: AttemptInput): Promise<VerifyAnswer> {
  let reserved = opened
  let compared = await compare(needs, reserved, input)
  let check = NOT_SEEN
  for (let round = 0; round < ROUNDS_MAX && !(compared instanceof Refusal); round++) {
    const stopped = closedWhileReserved(needs, reserved) ?? stoppedPattern(opened, reserved)
    if (stopped !== null) return unjudged(needs, stopped)
    if (!stillHolds(compared, reserved)) compared = await compare(needs, reserved, input)
    if (compared instanceof Refusal) break
    const location = locationOf(needs.geography, compared)
    const [id, now] = [needs.newId(), needs.now()]
    const record = decide(needs, { context: reserved, comparison: compared, location, check, id, now })
    const change = await setChangeOf(needs, reserved, compared, record)
    const outcome = await needs.authentications.record(reserved.who.organizationId, record, change)
    if (outcome === 'recorded') return answerRecorded(needs, { reserved, compared, record, change })
    if (outcome === 'replay') check = await checkReplay(needs, reserved, { input, comparison: compared, record })
    else reserved = await readAgain(needs, reserved)
  }
  if (compared instanceof Refusal) return unjudged(needs, withdrawn(reserved, compared))
  throw new Refusal('degraded', 'too many attempts of this member at once: try again', 1)
}

/** The location of the end user's address that the caller relays, not of the transport's address. */
function locationOf(geography: Geography, comparison: Comparison): Location {
  const ip = comparison.method === 'biometric' ? comparison.reading.ip : null
  return ip === null ? { network: null, place: null, anonymizer: null } : geography.locate(ip)
}

/** The refusal of a pattern whose profile was replaced, which ended the session, or whose member is limited; else null. */
function stoppedPattern(opened: Reserved, reserved: Reserved): Unjudged | null {
  if (reserved.method !== 'biometric') return null
  const isReplaced = reserved.member.generation !== opened.member.generation
  const refusal = isReplaced ? sessionMissing() : patternsLimited(reserved.member)
  return refusal === null ? null : withdrawn(reserved, refusal)
}

/**
 * Answers or refuses an attempt that is not judged, and counts the refusal of an invalid pattern. No other function gives a
 * reservation back.
 */
async function unjudged(needs: Needs, { why, context, owed }: Unjudged): Promise<VerifyAnswer> {
  const { organizationId, userRef } = context.who
  if (owed !== null) {
    const { session, method: kind } = owed
    await needs.sessions.release(organizationId, userRef, session.sha256, { kind, words: session.words })
  }
  if (!(why instanceof Refusal)) return answerOfClosed(needs, context, why)
  return refusingInvalid(needs.invalidPatterns, organizationId, context.member)(why)
}

/** The change of the member's comparison set that belongs to the record; null for a security code, or if none are kept. */
async function setChangeOf(
  needs: Needs,
  reserved: Reserved,
  compared: Comparison,
  { createdAt: at, authenticated }: AttemptRecord,
): Promise<SetChange | null> {
  if (compared.method === 'security_code' || needs.comparisonSets === null) return null
  const pattern = { id: compared.patternId, at, authenticated, sketch: compared.reading.sketch }
  return setChange(needs, reserved, compared, pattern)
}

interface RecordedAttempt {
  readonly reserved: Reserved
  readonly compared: Comparison
  readonly record: AttemptRecord
  readonly change: SetChange | null
}

async function answerRecorded(needs: Needs, recorded: RecordedAttempt): Promise<VerifyAnswer> {
  const { reserved: before, compared, record, change } = recorded
  const { used } = before
  const typingFailed = used.typingFailed || (record.method === 'biometric' && !record.authenticated)
  const context = { ...before, member: memberAfter(before.member, record), used: { ...used, typingFailed } }
  if (compared.method === 'security_code') return answerOf(needs, context, record, null)
  await learn(needs, context, { comparison: compared, record, change })
  return answerOf(needs, context, record, compared.reading.warnings)
}
