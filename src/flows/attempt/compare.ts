import type { Member } from '../../domain/account.js'
import { liftable } from '../../domain/adaptation.js'
import { Refusal, userNotFound } from '../../domain/refusal.js'
import { type Sitting, sittingOf } from '../../domain/sitting.js'
import type { TypedWords } from '../../domain/typed-words.js'
import { normalizeUserRef } from '../../domain/user-ref.js'
import type { PatternReading, ProfileTemplate, Scoring, ScoringResult, ScoringTask } from '../../scoring/scoring.js'
import type { CodeHash } from '../../storage/code-hash.js'
import type { SecurityCodeStore } from '../../storage/security-code.js'
import { requiresWords, typedWords, wordsRefusal } from '../session/session-words.js'
import type { AttemptContext, AttemptInput, Reserved } from './attempt-context.js'
import { type ComparedWithNeeds, comparedWith, idsOf, isEnrolled, openReferences, samplesOf } from './compared-with.js'
import { type KnownPatterns, sketchesOfKnown } from './known-patterns.js'
import { type PatternInput, scoreInput } from './pattern-input.js'

export interface CompareNeeds extends ComparedWithNeeds {
  readonly scoring: Scoring
  /** Profiles learn from clean sign-ins, and adaptive references are scored. */
  readonly adaptation: boolean
  readonly securityCodes: SecurityCodeStore
  readonly codeHash: CodeHash
  readonly newId: () => string
}

/** A pattern scored against the member's references. */
export interface TypingComparison {
  readonly method: 'biometric'
  readonly reading: PatternReading
  readonly profileVersion: number
  /** The patterns that were searched for a copy. */
  readonly known: KnownPatterns
  /** The template of the enrolled references, perhaps without its habits; null without references that this version can read. */
  readonly template: ProfileTemplate | null
  readonly hasAdaptive: boolean
  /** Ids of the references, in the order in which they were compared. */
  readonly references: readonly string[]
  readonly adaptive: readonly string[]
  /** The sitting whose trees gave the confidence. */
  readonly sitting: Sitting
  readonly typedWords: TypedWords
  readonly patternId: string
  /** The encrypted sample. */
  readonly sealed: Uint8Array
}

/** A security code compared with the member's. */
export interface CodeComparison {
  readonly method: 'security_code'
  readonly right: boolean
  /** Version of the code that was compared. */
  readonly version: number
}

export type Comparison = TypingComparison | CodeComparison

/**
 * Compares the input with the member's profile or code. Returns a Refusal if the body is not a pattern of this member, or if
 * the code could not be compared: the attempt does not count then.
 */
export const compare = (needs: CompareNeeds, reserved: Reserved, input: AttemptInput): Promise<Comparison | Refusal> =>
  input.kind === 'pattern' ? compareTyping(needs, reserved, input) : compareCode(needs, reserved, input.code)

/** Whether the comparison is valid for the member as read again: with the same references, known patterns and code. */
export const stillHolds = (comparison: Comparison, { member }: AttemptContext): boolean =>
  comparison.method === 'biometric'
    ? comparison.profileVersion === member.profileVersion && comparison.known.attemptsVersion >= member.attemptsVersion
    : comparison.version === member.code.version

async function compareTyping(
  needs: CompareNeeds,
  context: Reserved,
  input: PatternInput,
): Promise<TypingComparison | Refusal> {
  const { who, account, member, settings } = context
  const { organizationId } = who
  const [replayKey, against] = await Promise.all([needs.vault.replayKey(organizationId), comparedWith(needs, context)])
  const { known, hasAdaptive } = against
  const sitting = sittingOf(member.completedAt, needs.now())
  const typed = { body: input.body, replayKey, sitting, known: sketchesOfKnown(known) }
  const first = await scoreInput(needs.scoring, input, { ...typed, ...against.task })
  if (!first.ok) return new Refusal('pattern-invalid', first.message)
  const typedText = typedInAttempt(first.reading, context)
  const otherText = requiresWords(settings, context.hints) ? wordsRefusal(typedText) : null
  if (otherText !== null) return otherMember(first.reading, member) ?? otherText
  // Adaptive references may raise the confidence. They do not change the verdict of a bot.
  const isLiftable = !first.reading.bot && liftable(first.reading.confidence ?? 0, settings.policy.policy)
  const mayLift = needs.adaptation && hasAdaptive && isLiftable
  const { result, references, adaptive } = mayLift
    ? await lift(needs, context, typed)
    : { result: first, references: against.references, adaptive: [] }
  if (!result.ok) return new Refusal('pattern-invalid', result.message)
  const { reading } = result
  const foreign = otherMember(reading, member)
  if (foreign !== null) return foreign
  const patternId = needs.newId()
  const binding = { accountId: account.id, memberId: member.id, patternId, generation: member.generation }
  return {
    method: 'biometric',
    reading,
    profileVersion: member.profileVersion,
    known,
    template: against.template ?? first.reading.newTemplate,
    hasAdaptive,
    references,
    adaptive,
    sitting,
    typedWords: typedText,
    patternId,
    sealed: await needs.vault.seal(organizationId, binding, reading.sample),
  }
}

/** Whether the pattern types the suggestion that its reservation has used up. */
function typedInAttempt(reading: PatternReading, { session, hints }: Reserved): TypedWords {
  if (hints.words === 'none') return 'other'
  return typedWords(reading, session.words, (session.words?.used ?? 0) - 1)
}

/** Scores against the enrolled and the adaptive references. */
async function lift(
  needs: CompareNeeds,
  context: AttemptContext,
  typed: Pick<ScoringTask, 'body' | 'replayKey' | 'sitting' | 'known'>,
): Promise<Pick<TypingComparison, 'references' | 'adaptive'> & { readonly result: ScoringResult }> {
  const stored = await needs.profiles.references(context.who.organizationId, context.member.id)
  const [enrolled, learned] = await Promise.all([
    openReferences(needs, context, stored.filter(isEnrolled)),
    openReferences(
      needs,
      context,
      stored.filter((one) => !isEnrolled(one)),
    ),
  ])
  const [references, adaptive] = [samplesOf(enrolled), samplesOf(learned)]
  const result = await needs.scoring.score({ ...typed, references, adaptive })
  return { result, references: idsOf(enrolled), adaptive: idsOf(learned) }
}

/** The refusal of a pattern whose `member_ref` names another member than the call; null if it names the same or none. */
export function otherMember(reading: PatternReading, member: Member): Refusal | null {
  if (reading.memberRef === null || normalizeUserRef(reading.memberRef) === member.memberRef) return null
  return new Refusal('member-mismatch', 'member_ref of the body is not the member of this call')
}

async function compareCode(
  needs: CompareNeeds,
  context: AttemptContext,
  code: string,
): Promise<CodeComparison | Refusal> {
  const { who, member } = context
  const stored = await needs.securityCodes.find(who.organizationId, member.id)
  if (stored === null) throw userNotFound()
  try {
    const right = await needs.codeHash.matches(ownerOf(context), code, stored.hash)
    return { method: 'security_code', right, version: stored.version }
  } catch (error) {
    // The hashing queue shed the call.
    if (error instanceof Refusal) return error
    throw error
  }
}

/** For a member without a code, takes as long as a comparison, so that the time does not reveal whether a code is set. */
export async function hideCodeAbsence(
  { codeHash }: Pick<CompareNeeds, 'codeHash'>,
  context: AttemptContext,
  input: AttemptInput,
): Promise<void> {
  if (input.kind === 'code' && !context.member.code.set) await codeHash.matches(ownerOf(context), input.code, null)
}

const ownerOf = ({ who, member }: AttemptContext) => ({ organizationId: who.organizationId, memberId: member.id })
