import { createTickGate } from '../../base/tick-gate.js'
import type { ProfileTemplate, Scoring, ScoringTask } from '../../scoring/scoring.js'
import { sketchOf } from '../../scoring/sketch.js'
import type { AuthenticationStore, TestedPattern } from '../../storage/authentication.js'
import type { ComparisonSetStore } from '../../storage/comparison-set.js'
import type { ProfileStore, StoredReference } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { Designation, Person } from '../session/person.js'
import { type OpenedSet, openedSet } from './comparison-set.js'
import {
  CONFIRMED_MAX,
  FAILED_MAX,
  idsOfKnown,
  type KnownPatterns,
  knownReferences,
  type OpenedReference,
  type Sketched,
  withPatterns,
} from './known-patterns.js'
import type { PatternMemory } from './pattern-memory.js'
import type { PersonCache } from './person-cache.js'

/** The stores of references and of patterns. */
interface RowNeeds {
  readonly profiles: Pick<ProfileStore, 'references'>
  readonly authentications: Pick<AuthenticationStore, 'tested'>
  readonly scoring: Pick<Scoring, 'id'>
  readonly vault: Vault
  readonly now: () => number
}

export interface ComparedWithNeeds extends RowNeeds {
  readonly people: PersonCache
  readonly memory: PatternMemory
  /** Null keeps no comparison sets: each process reads the rows. */
  readonly comparisonSets: Pick<ComparisonSetStore, 'find'> | null
  readonly profiles: ProfileStore
}

/** A person whose pattern is to be compared. */
export interface ComparedPerson extends Person {
  readonly who: Designation
  /** As `Reserved.isCarried`. Nothing is cached before the verdict then. */
  readonly isCarried?: boolean
}

/** The references and known patterns that a typing pattern of a member is compared with. */
interface ComparedWith {
  /** Ids of the enrolled references, in the order in which they are compared. */
  readonly references: readonly string[]
  /** The profile also has adaptive references. */
  readonly hasAdaptive: boolean
  /** The enrolled references of a scoring task. */
  readonly task: Pick<ScoringTask, 'references' | 'template' | 'returnTemplate'>
  /** The template of the references, without its habits if the session carried the person; null if the task asks for a whole one. */
  readonly template: ProfileTemplate | null
  readonly known: KnownPatterns
}

type Profile = Omit<ComparedWith, 'known'>

/** Sets opened per iteration of the event loop: some 2 ms. Sessions arrive in groups, as many as Redis answered at once. */
const opening = createTickGate(8)

/** Clocks of two processes may differ by this much. */
const OVERLAP_MS = 120_000

/**
 * Reads references and known patterns as of the member's versions: from the caches of this process, else from the member's
 * comparison set, else from references, attempts and refused patterns. Completes known patterns that are behind the member's
 * attempts.
 */
export async function comparedWith(needs: ComparedWithNeeds, person: ComparedPerson): Promise<ComparedWith> {
  const { who, member } = person
  const cached = needs.people.profileOf(who, member)
  const kept = needs.memory.find(member)
  const stored =
    cached !== null && kept !== null ? null : ((await storedSet(needs, person)) ?? (await enrolled(needs, person)))
  const profile = cached === null ? stored && fromSet(stored, person.isCarried) : fromCache(cached)
  const before = kept ?? stored?.known
  if (profile === null || before === undefined) throw new Error('neither a cache nor the stores have the profile')
  const complete = await completed(needs, person, before)
  // A stored set that is behind takes no further entry, so the next base replaces it.
  const known = kept === null && complete !== before ? { ...complete, nInTail: null } : complete
  if (known !== kept && person.isCarried !== true) needs.memory.keep(member.id, known)
  return { ...profile, known }
}

function fromCache({ template, references, hasAdaptive }: NonNullable<ReturnType<PersonCache['profileOf']>>): Profile {
  return { references, hasAdaptive, task: { references: [], template }, template }
}

/**
 * Most carried people succeed, and their template is used once, so it is not completed. After a failure it is cached without its
 * habits, and a retry computes them again.
 */
function fromSet({ references, template, hasAdaptive }: OpenedSet, isCarried = false): Profile {
  const of = { references: idsOf(references), hasAdaptive }
  if (template === null)
    return { ...of, task: { references: samplesOf(references), returnTemplate: true }, template: null }
  return isCarried
    ? { ...of, task: { references: [], template }, template }
    : { ...of, task: { references: [], template, returnTemplate: true }, template: null }
}

/** The set as read with the person, else as stored now; null if there is none for this profile, or if it does not open. */
async function storedSet(needs: ComparedWithNeeds, person: ComparedPerson): Promise<OpenedSet | null> {
  const { who, member, comparisonSet } = person
  if (needs.comparisonSets === null) return null
  const stored =
    comparisonSet === undefined ? await needs.comparisonSets.find(who.organizationId, member.id) : comparisonSet
  if (stored !== null) await opening()
  // A set that does not open is replaced by the next recorded pattern.
  return stored === null ? null : openedSet(needs, person, stored).catch(() => null)
}

/** The enrolled references, opened, and the known patterns of the member, all from their rows. */
export async function enrolledSet(needs: RowNeeds, person: ComparedPerson): Promise<Omit<OpenedSet, 'template'>> {
  const set = await enrolled(needs, person)
  return { ...set, known: await completed(needs, person, set.known) }
}

/** The enrolled references, opened; no attempt is known. */
async function enrolled(needs: RowNeeds, person: ComparedPerson): Promise<OpenedSet> {
  const stored = await needs.profiles.references(person.who.organizationId, person.member.id)
  const references = await openReferences(needs, person, stored.filter(isEnrolled))
  const hasAdaptive = stored.some((one) => !isEnrolled(one))
  return { references, template: null, hasAdaptive, known: knownReferences(person.member, references) }
}

/** Adds the patterns of attempts that are not known. */
async function completed(needs: RowNeeds, person: ComparedPerson, known: KnownPatterns): Promise<KnownPatterns> {
  const { attemptsVersion } = person.member
  const missing = attemptsVersion - known.attemptsVersion
  if (missing <= 0) return known
  const complete = withPatterns(known, await testedSince(needs, person, known, missing))
  // Each missing attempt, which another process has recorded, may have added an entry to the tail.
  return { ...complete, attemptsVersion, nInTail: known.nInTail === null ? null : known.nInTail + missing }
}

/**
 * Tested and refused patterns that are not known, since `latestAt`, oldest first, without those that do not open: a tested one
 * may be sealed for an earlier generation.
 */
async function testedSince(
  needs: RowNeeds,
  { who, account, member }: ComparedPerson,
  known: KnownPatterns,
  missing: number,
): Promise<Sketched[]> {
  const { latestAt } = known
  // A latest pattern in the future means that the database's clock was set back: later patterns have earlier times.
  const since = latestAt > needs.now() ? 0 : Math.max(0, latestAt - OVERLAP_MS)
  // Each attempt and each refused pattern has incremented the version.
  const limits = { confirmed: Math.min(CONFIRMED_MAX, missing), failed: Math.min(FAILED_MAX, missing) }
  const asked = { userRef: who.userRef, memberId: member.id, since, limits, known: idsOfKnown(known) }
  const tested = await needs.authentications.tested(who.organizationId, asked)
  const sketched = await Promise.all(
    tested.map(async ({ patternId: id, createdAt: at, authenticated, sealed, refused }: TestedPattern) => {
      const generation = refused?.generation ?? member.generation
      const sample = await opened(needs, { who, account, member }, { id, generation, sealed }).catch(() => null)
      return sample === null ? [] : [{ id, at, authenticated, sketch: sketchOf(sample) }]
    }),
  )
  return sketched.flat().sort((a, b) => a.at - b.at)
}

export const isEnrolled = ({ kind }: StoredReference): boolean => kind === 'enrolled'

export const idsOf = (references: readonly OpenedReference[]): string[] => references.map(({ id }) => id)

export const samplesOf = (references: readonly OpenedReference[]): Uint8Array[] =>
  references.map(({ sample }) => sample)

/** Opens the sealed samples of references. */
export const openReferences = (
  needs: Pick<RowNeeds, 'vault'>,
  person: ComparedPerson,
  references: readonly StoredReference[],
): Promise<OpenedReference[]> =>
  Promise.all(
    references.map(async (reference) => ({ id: reference.id, sample: await opened(needs, person, reference) })),
  )

function opened(
  { vault }: Pick<RowNeeds, 'vault'>,
  { who, account, member }: ComparedPerson,
  { id, generation, sealed }: Pick<StoredReference, 'id' | 'generation' | 'sealed'>,
): Promise<Uint8Array> {
  const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
  return vault.open(who.organizationId, binding, sealed)
}
