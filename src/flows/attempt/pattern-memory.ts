import { parse } from 'uuid'
import type { Member } from '../../domain/account.js'
import { confirmed, sketchOf } from '../../scoring/sketch.js'
import type { AuthenticationStore, TestedPattern } from '../../storage/authentication.js'
import type { ProfileStore, StoredReference } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { AttemptContext } from './attempt-context.js'
import { createExpiringCache } from './expiring-cache.js'
import { bytesOf, EMPTY_ROW, hasId, idsIn, latestOf, type SketchRow, sketchesIn } from './sketch-row.js'

/** The patterns that a member's next pattern is compared with. */
export interface KnownPatterns {
  readonly references: SketchRow
  /** Patterns of successful sign-ins. */
  readonly confirmed: SketchRow
  /** Patterns of failed attempts and of refused calls, which anybody can send. */
  readonly failed: SketchRow
  /** Complete up to this version of the member's attempts, in this generation and version of the profile. */
  readonly attemptsVersion: number
  readonly generation: number
  readonly profileVersion: number
  /** Time of the latest tested or refused pattern, epoch ms; 0 without any. */
  readonly latestAt: number
}

export interface PatternMemory {
  find(member: Member): KnownPatterns | null
  keep(memberId: string, known: KnownPatterns): void
  forget(memberId: string): void
}

/**
 * Patterns kept per member in addition to the references, of which there are 16 at most: together the kernel's `KNOWN_SKETCHES_MAX`. Failures
 * have places of their own, so that they replace no success.
 */
const CONFIRMED_MAX = 48
const FAILED_MAX = 16
/** Clocks of two processes may differ by this much. */
const OVERLAP_MS = 120_000
/** Approximate size of an entry without its sketches and ids. */
const ENTRY_BYTES = 600

/** Known patterns by member, in at most `bytesMax`, for 15 minutes after they last changed. Biometric data: memory only. */
export function createPatternMemory(bytesMax: number): PatternMemory {
  const members = createExpiringCache<KnownPatterns>(bytesMax, sizeOf)
  return {
    find({ id, generation, profileVersion }) {
      const known = members.get(id)
      return known?.generation === generation && known.profileVersion === profileVersion ? known : null
    },
    keep: (memberId, known) => void members.set(memberId, known),
    forget: (memberId) => void members.delete(memberId),
  }
}

const rowsOf = ({ references, confirmed, failed }: KnownPatterns): readonly SketchRow[] => [
  references,
  confirmed,
  failed,
]

/** The ids of all known patterns, in the order in which they are compared. */
export const idsOfKnown = (known: KnownPatterns): string[] => rowsOf(known).flatMap(idsIn)

/** The sketches of all known patterns, row by row. */
export const sketchesOfKnown = (known: KnownPatterns): Uint8Array[] => rowsOf(known).map(sketchesIn)

const sizeOf = (known: KnownPatterns): number => rowsOf(known).reduce((sum, row) => sum + bytesOf(row), ENTRY_BYTES)

interface Needs {
  readonly memory: PatternMemory
  readonly profiles: Pick<ProfileStore, 'references'>
  readonly authentications: Pick<AuthenticationStore, 'tested'>
  readonly vault: Vault
  readonly now: () => number
}

/** A reference's sample, opened. */
export interface OpenedReference {
  readonly id: string
  readonly sample: Uint8Array
}

/**
 * All known patterns of the member as of `member.attemptsVersion`, from memory and completed from the store. `enrolled` is
 * null unless the caller has opened the enrolled references.
 */
export async function knownPatterns(
  needs: Needs,
  context: AttemptContext,
  enrolled: readonly OpenedReference[] | null,
): Promise<KnownPatterns> {
  const { member } = context
  const kept = needs.memory.find(member)
  if (kept !== null && kept.attemptsVersion >= member.attemptsVersion) return kept
  const known = kept ?? fromReferences(member, enrolled ?? (await enrolledReferences(needs, context)))
  const complete = withPatterns(known, await testedSince(needs, context, known))
  const { attemptsVersion } = member
  const current = { ...complete, attemptsVersion }
  needs.memory.keep(member.id, current)
  return current
}

/** Adds the pattern of a recorded attempt, unless another attempt was recorded in between. */
export function remember(memory: PatternMemory, member: Member, known: KnownPatterns, pattern: Sketched): void {
  if (known.attemptsVersion + 1 !== member.attemptsVersion) return
  const { attemptsVersion } = member
  memory.keep(member.id, { ...withPatterns(known, [pattern]), attemptsVersion })
}

/** A tested or refused pattern, opened. */
interface Sketched {
  readonly id: string
  readonly at: number
  readonly authenticated: boolean
  readonly sketch: Uint8Array
}

export const isEnrolled = ({ kind }: StoredReference): boolean => kind === 'enrolled'

/** Opens the sealed samples of references. */
export const openReferences = (
  needs: Pick<Needs, 'vault'>,
  context: AttemptContext,
  references: readonly StoredReference[],
): Promise<OpenedReference[]> =>
  Promise.all(
    references.map(async (reference) => ({ id: reference.id, sample: await opened(needs, context, reference) })),
  )

async function enrolledReferences(needs: Needs, context: AttemptContext): Promise<OpenedReference[]> {
  const stored = await needs.profiles.references(context.who.organizationId, context.member.id)
  return openReferences(needs, context, stored.filter(isEnrolled))
}

const fromReferences = (
  { generation, profileVersion }: Member,
  enrolled: readonly OpenedReference[],
): KnownPatterns => ({
  references: latestOf(
    EMPTY_ROW,
    enrolled.map(({ id, sample }) => ({ id: parse(id), sketch: confirmed(sketchOf(sample)) })),
    enrolled.length,
    false,
  ),
  confirmed: EMPTY_ROW,
  failed: EMPTY_ROW,
  attemptsVersion: 0,
  generation,
  profileVersion,
  latestAt: 0,
})

/**
 * Tested and refused patterns that are not known, since `latestAt`, oldest first, without those that do not open: a tested one
 * may be sealed for an earlier generation.
 */
async function testedSince(needs: Needs, context: AttemptContext, known: KnownPatterns): Promise<Sketched[]> {
  const { latestAt, attemptsVersion } = known
  const { who, member } = context
  // A latest pattern in the future means that the database's clock was set back: later patterns have earlier times.
  const since = latestAt > needs.now() ? 0 : Math.max(0, latestAt - OVERLAP_MS)
  // Each attempt and each refused pattern has incremented the version.
  const missing = member.attemptsVersion - attemptsVersion
  const limits = { confirmed: Math.min(CONFIRMED_MAX, missing), failed: Math.min(FAILED_MAX, missing) }
  const asked = { userRef: who.userRef, memberId: member.id, since, limits, known: idsOfKnown(known) }
  const tested = await needs.authentications.tested(who.organizationId, asked)
  const sketched = await Promise.all(
    tested.map(async ({ patternId: id, createdAt: at, authenticated, sealed, refused }: TestedPattern) => {
      const generation = refused?.generation ?? member.generation
      const sample = await opened(needs, context, { id, generation, sealed }).catch(() => null)
      return sample === null ? [] : [{ id, at, authenticated, sketch: sketchOf(sample) }]
    }),
  )
  return sketched.flat().sort((a, b) => a.at - b.at)
}

function opened(
  { vault }: Pick<Needs, 'vault'>,
  { who, account, member }: AttemptContext,
  { id, generation, sealed }: Pick<StoredReference, 'id' | 'generation' | 'sealed'>,
): Promise<Uint8Array> {
  const binding = { accountId: account.id, memberId: member.id, patternId: id, generation }
  return vault.open(who.organizationId, binding, sealed)
}

/** Adds patterns, each as the latest of its kind, in place of the oldest if there are too many. */
function withPatterns(known: KnownPatterns, added: readonly Sketched[]): KnownPatterns {
  const fresh = added
    .map((one) => ({ ...one, id: parse(one.id) }))
    .filter(({ id }) => !rowsOf(known).some((row) => hasId(row, id)))
  if (fresh.length === 0) return known
  const successes = fresh.filter(({ authenticated }) => authenticated)
  return {
    ...known,
    confirmed: latestOf(
      known.confirmed,
      successes.map(({ id, sketch }) => ({ id, sketch: confirmed(sketch) })),
      CONFIRMED_MAX,
    ),
    failed: latestOf(
      known.failed,
      fresh.filter(({ authenticated }) => !authenticated),
      FAILED_MAX,
    ),
    latestAt: Math.max(known.latestAt, ...fresh.map(({ at }) => at)),
  }
}
