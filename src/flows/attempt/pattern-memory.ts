import type { Member } from '../../domain/account.js'
import { confirmed, sketchBytesAt, sketchOf } from '../../scoring/sketch.js'
import type { AuthenticationStore, TestedPattern } from '../../storage/authentication.js'
import type { ProfileStore, StoredReference } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { AttemptContext } from './attempt-context.js'

/**
 * The patterns that a member's next pattern is compared with: the enrolled references, then the latest tested ones, then the
 * latest of refused calls, both oldest first.
 */
export interface KnownPatterns {
  readonly ids: readonly string[]
  /** Their sketches (`sketchOf`), one after another. */
  readonly sketches: Uint8Array
  readonly nReferences: number
  /** Patterns of refused calls. */
  readonly nRefused: number
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
}

/** Patterns kept per member: the kernel's `KNOWN_SKETCHES_MAX`. */
const KNOWN_MAX = 64
/** Tested ones among them, which fit with 16 references. Those of refused calls have the places that are left. */
const TESTED_MAX = 48
/** Clocks of two processes may differ by this much. */
const OVERLAP_MS = 120_000
/** Approximate size of an entry without its sketches and ids, and of an id. */
const ENTRY_BYTES = 200
const ID_BYTES = 60

/** Known patterns by member, in at most `bytesMax`; drops the least recently updated first. Biometric data: memory only. */
export function createPatternMemory(bytesMax: number): PatternMemory {
  const members = new Map<string, KnownPatterns>()
  let held = 0
  const drop = (memberId: string): void => {
    const known = members.get(memberId)
    if (known === undefined) return
    members.delete(memberId)
    held -= sizeOf(known)
  }
  return {
    find({ id, generation, profileVersion }) {
      const known = members.get(id)
      return known?.generation === generation && known.profileVersion === profileVersion ? known : null
    },
    keep(memberId, known) {
      drop(memberId)
      if (sizeOf(known) > bytesMax) return
      members.set(memberId, known)
      held += sizeOf(known)
      for (const oldest of members.keys()) {
        if (held <= bytesMax) break
        drop(oldest)
      }
    },
  }
}

const sizeOf = ({ ids, sketches }: KnownPatterns): number => ENTRY_BYTES + ID_BYTES * ids.length + sketches.length

interface Needs {
  readonly memory: PatternMemory
  readonly profiles: Pick<ProfileStore, 'references'>
  readonly authentications: Pick<AuthenticationStore, 'tested'>
  readonly vault: Vault
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
export function remember(
  memory: PatternMemory,
  member: Member,
  known: KnownPatterns,
  pattern: Omit<Sketched, 'refused'>,
): void {
  if (known.attemptsVersion + 1 !== member.attemptsVersion) return
  const { attemptsVersion } = member
  memory.keep(member.id, { ...withPatterns(known, [{ ...pattern, refused: false }]), attemptsVersion })
}

/** A tested or refused pattern, opened. */
interface Sketched {
  readonly id: string
  readonly at: number
  readonly authenticated: boolean
  readonly refused: boolean
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
    references.map(async ({ id, generation, sealed }) => ({
      id,
      sample: await opened(needs, context, id, generation, sealed),
    })),
  )

async function enrolledReferences(needs: Needs, context: AttemptContext): Promise<OpenedReference[]> {
  const stored = await needs.profiles.references(context.who.organizationId, context.member.id)
  return openReferences(needs, context, stored.filter(isEnrolled))
}

const fromReferences = (
  { generation, profileVersion }: Member,
  enrolled: readonly OpenedReference[],
): KnownPatterns => ({
  ids: enrolled.map(({ id }) => id),
  sketches: Buffer.concat(enrolled.map(({ sample }) => confirmed(sketchOf(sample)))),
  nReferences: enrolled.length,
  nRefused: 0,
  attemptsVersion: 0,
  generation,
  profileVersion,
  latestAt: 0,
})

/**
 * Tested and refused patterns that are not known, since `latestAt`, each oldest first, without those that do not open: a
 * tested one may be sealed for an earlier generation.
 */
async function testedSince(
  needs: Needs,
  context: AttemptContext,
  { ids: known, latestAt, attemptsVersion }: KnownPatterns,
): Promise<Sketched[]> {
  const { who, member } = context
  const since = Math.max(0, latestAt - OVERLAP_MS)
  // Each attempt and each refused pattern has incremented the version.
  const limit = Math.min(TESTED_MAX, member.attemptsVersion - attemptsVersion)
  const asked = { userRef: who.userRef, memberId: member.id, since, limit, known }
  const tested = await needs.authentications.tested(who.organizationId, asked)
  const sketched = await Promise.all(
    tested.map(async ({ patternId: id, createdAt: at, authenticated, sealed, refused }: TestedPattern) => {
      const generation = refused?.generation ?? member.generation
      const sample = await opened(needs, context, id, generation, sealed).catch(() => null)
      return sample === null ? [] : [{ id, at, authenticated, refused: refused !== null, sketch: sketchOf(sample) }]
    }),
  )
  return sketched.flat().reverse()
}

function opened(
  { vault }: Pick<Needs, 'vault'>,
  { who, account, member }: AttemptContext,
  patternId: string,
  generation: number,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const binding = { accountId: account.id, memberId: member.id, patternId, generation }
  return vault.open(who.organizationId, binding, sealed)
}

/**
 * Adds patterns, each as the latest of its kind. Drops the oldest tested ones if there are too many of these, and the oldest
 * refused ones if there are too many in all, so that a refused pattern pushes out no tested one.
 */
function withPatterns(known: KnownPatterns, added: readonly Sketched[]): KnownPatterns {
  const fresh = added.filter(({ id }) => !known.ids.includes(id))
  if (fresh.length === 0) return known
  const { nReferences, nRefused } = known
  const held = entriesOf(known)
  const entries = (refused: boolean) =>
    fresh
      .filter((one) => one.refused === refused)
      .map(({ id, sketch, authenticated }) => ({ id, sketch: authenticated ? confirmed(sketch) : sketch }))
  const tested = [...held.slice(nReferences, held.length - nRefused), ...entries(false)].slice(-TESTED_MAX)
  const room = KNOWN_MAX - nReferences - tested.length
  const ofRefused = [...held.slice(held.length - nRefused), ...entries(true)]
  const refused = room > 0 ? ofRefused.slice(-room) : []
  const all = [...held.slice(0, nReferences), ...tested, ...refused]
  return {
    ...known,
    ids: all.map(({ id }) => id),
    sketches: Buffer.concat(all.map(({ sketch }) => sketch)),
    nRefused: refused.length,
    latestAt: Math.max(known.latestAt, ...fresh.map(({ at }) => at)),
  }
}

function entriesOf({ ids, sketches }: KnownPatterns): { readonly id: string; readonly sketch: Uint8Array }[] {
  let end = 0
  return ids.map((id) => {
    const start = end
    end += sketchBytesAt(sketches, start)
    return { id, sketch: sketches.subarray(start, end) }
  })
}
