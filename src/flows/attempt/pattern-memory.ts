import type { Member } from '../../domain/account.js'
import { confirmed, sketchBytesAt, sketchOf } from '../../scoring/sketch.js'
import type { AuthenticationStore, TestedPattern } from '../../storage/authentication.js'
import type { ProfileStore, StoredReference } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'
import type { AttemptContext } from './attempt-context.js'

/** The patterns that a member's next pattern is compared with: the enrolled references, then the latest tested ones, oldest first. */
export interface KnownPatterns {
  readonly ids: readonly string[]
  /** Their sketches (`sketchOf`), one after another. */
  readonly sketches: Uint8Array
  readonly nReferences: number
  /** Complete up to this version of the member's attempts, in this generation and version of the profile. */
  readonly attemptsVersion: number
  readonly generation: number
  readonly profileVersion: number
  /** Time of the latest tested pattern, epoch ms; 0 without any. */
  readonly latestAt: number
}

export interface PatternMemory {
  find(member: Member): KnownPatterns | null
  keep(memberId: string, known: KnownPatterns): void
}

/** Tested patterns kept per member. With 16 references they fit into the kernel's 64 sketches. */
const TESTED_MAX = 48
/** Clocks of two processes may differ by this much. A pattern that is read twice is kept once. */
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
  const complete = (await testedSince(needs, context, known.latestAt)).reduce(withTested, known)
  const { attemptsVersion } = member
  const current = { ...complete, attemptsVersion }
  needs.memory.keep(member.id, current)
  return current
}

/** Adds the pattern of a recorded attempt, unless another attempt was recorded in between. */
export function remember(memory: PatternMemory, member: Member, known: KnownPatterns, pattern: Sketched): void {
  if (known.attemptsVersion + 1 !== member.attemptsVersion) return
  memory.keep(member.id, { ...withTested(known, pattern), attemptsVersion: member.attemptsVersion })
}

/** A tested pattern, opened. */
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
  attemptsVersion: 0,
  generation,
  profileVersion,
  latestAt: 0,
})

/** Tested patterns since `latestAt`, oldest first, without those that do not open: they are sealed for an earlier generation. */
async function testedSince(needs: Needs, context: AttemptContext, latestAt: number): Promise<Sketched[]> {
  const { who, member } = context
  const since = Math.max(0, latestAt - OVERLAP_MS)
  const asked = { userRef: who.userRef, memberId: member.id, since, limit: TESTED_MAX }
  const tested = await needs.authentications.tested(who.organizationId, asked)
  const sketched = await Promise.all(
    tested.map(async ({ patternId, createdAt, authenticated, sealed }: TestedPattern) => {
      const sample = await opened(needs, context, patternId, member.generation, sealed).catch(() => null)
      return sample === null ? [] : [{ id: patternId, at: createdAt, authenticated, sketch: sketchOf(sample) }]
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

/** Adds a tested pattern as the latest. Drops the oldest tested one if there are too many. */
function withTested(known: KnownPatterns, { id, at, authenticated, sketch }: Sketched): KnownPatterns {
  if (known.ids.includes(id)) return known
  const { ids, sketches, nReferences } = known
  const isFull = ids.length - nReferences >= TESTED_MAX
  const start = isFull ? sketchesBytes(sketches, nReferences) : sketches.length
  const end = isFull ? start + sketchBytesAt(sketches, start) : sketches.length
  return {
    ...known,
    ids: [...ids.slice(0, nReferences), ...ids.slice(nReferences + (isFull ? 1 : 0)), id],
    sketches: Buffer.concat([
      sketches.subarray(0, start),
      sketches.subarray(end),
      authenticated ? confirmed(sketch) : sketch,
    ]),
    latestAt: Math.max(known.latestAt, at),
  }
}

/** Bytes of the first n sketches. */
function sketchesBytes(sketches: Uint8Array, n: number): number {
  let at = 0
  for (let i = 0; i < n; i++) at += sketchBytesAt(sketches, at)
  return at
}
