import type { Member } from '../../domain/account.js'
import { liftable } from '../../domain/adaptation.js'
import { Refusal } from '../../domain/refusal.js'
import { normalizeUserRef } from '../../domain/user-ref.js'
import type { PatternReading, ProfileTemplate, Scoring, ScoringResult } from '../../scoring/scoring.js'
import type { ProfileStore, StoredReference } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { Situation } from './attempt-context.js'
import type { KnownPeople } from './person-cache.js'

export interface ComparisonNeeds {
  readonly profiles: ProfileStore
  readonly vault: Vault
  readonly people: KnownPeople
  readonly scoring: Scoring
  /** Profiles learn from clean sign-ins, and what they learned counts. */
  readonly adaptation: boolean
}

/** A pattern, and the references it was scored against. */
export interface ComparedTyping {
  readonly reading: PatternReading
  readonly generation: number
  readonly profileVersion: number
  /** Of the enrolled references; null where there is none to keep. */
  readonly template: ProfileTemplate | null
  readonly hasAdaptive: boolean
  /** Ids of the references, in the order in which they were compared. */
  readonly references: readonly string[]
  readonly adaptive: readonly string[]
}

/** A Refusal as a value where the body is no pattern of this member: nothing was learned from it. */
export async function compareTyping(
  needs: ComparisonNeeds,
  situation: Situation,
  body: Uint8Array,
): Promise<ComparedTyping | Refusal> {
  const { who, member, settings } = situation
  const { organizationId } = who
  const held = needs.people.profileOf(who, member)
  const stored = held === null ? await needs.profiles.references(organizationId, member.id) : null
  const replayKey = await needs.vault.replayKey(organizationId)
  const against =
    held === null
      ? { references: await opened(needs, situation, (stored ?? []).filter(isEnrolled)), keep: true }
      : { references: [], template: held.template }
  const first = await needs.scoring.score({ body, replayKey, ...against })
  if (!first.ok) return new Refusal('pattern-invalid', first.message)
  const hasAdaptive = held?.hasAdaptive ?? stored?.some((one) => !isEnrolled(one)) ?? false
  const mayLift = needs.adaptation && hasAdaptive && liftable(first.reading.confidence ?? 0, settings.policy.policy)
  const enrolled = held?.references ?? idsOf((stored ?? []).filter(isEnrolled))
  const { result, ...compared } = mayLift
    ? await lift(needs, situation, body, replayKey)
    : { result: first, references: enrolled, adaptive: [] }
  if (!result.ok) return new Refusal('pattern-invalid', result.message)
  const { generation, profileVersion } = member
  const template = held?.template ?? first.reading.kept
  const { reading } = result
  return otherMember(reading, member) ?? { reading, generation, profileVersion, template, hasAdaptive, ...compared }
}

/** The same against enrolled and adaptive references. */
async function lift(
  needs: ComparisonNeeds,
  situation: Situation,
  body: Uint8Array,
  replayKey: Uint8Array,
): Promise<Pick<ComparedTyping, 'references' | 'adaptive'> & { readonly result: ScoringResult }> {
  const stored = await needs.profiles.references(situation.who.organizationId, situation.member.id)
  const [enrolled, learned] = [stored.filter(isEnrolled), stored.filter((one) => !isEnrolled(one))]
  const [references, adaptive] = await Promise.all([
    opened(needs, situation, enrolled),
    opened(needs, situation, learned),
  ])
  const result = await needs.scoring.score({ body, replayKey, references, adaptive })
  return { result, references: idsOf(enrolled), adaptive: idsOf(learned) }
}

/** A `member_ref` in the pattern must name the member whom the call is about; null where it does, or is absent. */
export function otherMember(reading: PatternReading, member: Member): Refusal | null {
  if (reading.memberRef === null || normalizeUserRef(reading.memberRef) === member.memberRef) return null
  return new Refusal('member-mismatch', 'member_ref of the body is not the member of this call')
}

const idsOf = (references: readonly StoredReference[]): string[] => references.map(({ id }) => id)

const isEnrolled = ({ kind }: StoredReference): boolean => kind === 'enrolled'

const opened = (needs: ComparisonNeeds, { who, account, member }: Situation, references: readonly StoredReference[]) =>
  Promise.all(
    references.map(({ id, generation, sealed }) => {
      const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
      return needs.vault.open(who.organizationId, binding, sealed)
    }),
  )
