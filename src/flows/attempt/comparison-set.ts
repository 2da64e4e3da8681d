import { parse, stringify } from 'uuid'
import { FIT_BYTES, fitOf, fittedTemplate, samplesIn } from '../../scoring/profile-template.js'
import type { ProfileTemplate, Scoring } from '../../scoring/scoring.js'
import { sketchBytesAt } from '../../scoring/sketch.js'
import type { SetChange, StoredComparisonSet } from '../../storage/comparison-set.js'
import type { Vault } from '../../storage/vault.js'
import type { Designation, Person } from '../session/person.js'
import {
  type KnownPatterns,
  knownReferences,
  type OpenedReference,
  type Sketched,
  withPatterns,
} from './known-patterns.js'
import { packedFit, packedSample, unpackedFit, unpackedSample } from './packed-references.js'
import { packedSketches, unpackedSketches } from './packed-sketches.js'
import { ID_BYTES, idBytesIn, rowOf, type SketchRow, sketchesIn, timeOfFirst } from './sketch-row.js'

interface Needs {
  readonly vault: Pick<Vault, 'sealFor' | 'openFor'>
  /** A fit of another kernel or model is not used. */
  readonly scoring: Pick<Scoring, 'id'>
}

/** The person whose set it is. */
interface SetOwner {
  readonly who: Pick<Designation, 'organizationId'>
  readonly account: Pick<Person['account'], 'id'>
  readonly member: Pick<Person['member'], 'id' | 'generation' | 'profileVersion'>
}

/** A comparison set that was opened. */
export interface OpenedSet {
  readonly references: readonly OpenedReference[]
  /** Template of the references; null if the set has no fit of this scorer. */
  readonly template: ProfileTemplate | null
  readonly hasAdaptive: boolean
  readonly known: KnownPatterns
}

/** The parts of a comparison that a new base is made of. */
interface SetContents {
  /** The template of the references, with or without its habits. */
  readonly template: ProfileTemplate | null
  /** Ids of the references in the template. */
  readonly references: readonly string[]
  readonly hasAdaptive: boolean
  readonly known: KnownPatterns
}

interface BaseContents {
  readonly references: readonly OpenedReference[]
  /** The fit of these references by this scorer. */
  readonly fit: Uint8Array
  readonly known: KnownPatterns
}

const NOTHING = new Uint8Array()
const VERSION = 2
/** Offsets in the head. */
const [LATEST_AT, SCORER_AT, FIT_LENGTH_AT] = [4, 12, 20]
const HEAD_BYTES = 22
/**
 * Entries of a tail. A new base of 8 kB takes five rows of TOAST and 0.1 ms to pack, so it is written once in six patterns. With
 * more entries, the row of a member with long patterns would be longer than the 2 kB that a row may have in its page.
 */
const TAIL_MAX = 5
const ENTRY_HEAD_BYTES = 1 + ID_BYTES + 8

/**
 * The change of a member's comparison set for a recorded pattern: an entry of about 190 bytes, or a new base if the tail is full or
 * the stored set is not up to date. Null if no set can be made, because a reference is in a format that this version cannot read.
 */
export async function setChange(
  needs: Needs,
  person: SetOwner,
  { known, ...contents }: SetContents,
  pattern: Sketched,
): Promise<SetChange | null> {
  if (known.nInTail !== null && known.nInTail < TAIL_MAX)
    return { kind: 'append', entry: await sealedEntry(needs, person, pattern) }
  const { template, references: ids, hasAdaptive } = contents
  // A template leaves out references that this version cannot read.
  if (template === null || template.n !== ids.length) return null
  const samples = samplesIn(template)
  const references = ids.map((id, i) => ({ id, sample: samples[i] ?? NOTHING }))
  const after = withPatterns(known, [pattern])
  const base = await sealedBase(needs, person, { references, fit: fitOf(template), known: after })
  return { kind: 'replace', base, hasAdaptive, oldestAt: oldestOf(after) }
}

/** `nInTail` after the change is stored. */
export const nInTailAfter = ({ nInTail }: KnownPatterns, change: SetChange | null): number | null =>
  change === null ? null : change.kind === 'replace' ? 0 : (nInTail ?? 0) + 1

/** Time of the oldest known pattern other than a reference, epoch ms. */
export const oldestOf = ({ confirmed, failed, latestAt }: KnownPatterns): number =>
  Math.min(timeOfFirst(confirmed) ?? latestAt, timeOfFirst(failed) ?? latestAt)

/**
 * A base, sealed. Numbers are little-endian:
 *
 * | bytes    | holds                                                                                     |
 * |----------|-------------------------------------------------------------------------------------------|
 * | 4 x 1    | version; numbers of references, of confirmed and of failed patterns                       |
 * | 8        | float64: `latestAt`                                                                       |
 * | 8        | identity of the scorer that made the fit                                                  |
 * | 2        | bytes of the fit                                                                          |
 * | 16 each  | ids of references, confirmed and failed patterns                                          |
 * | the rest | the fit (`packedFit`), the references (`packedSample`), and the sketches of confirmed and failed patterns (`packedSketches`) |
 *
 * With five references and 48 known patterns of 44 presses it has 8.5 kB.
 */
export async function sealedBase(
  { vault, scoring }: Needs,
  person: SetOwner,
  { references, fit, known }: BaseContents,
): Promise<Uint8Array> {
  const { confirmed, failed } = known
  const ids = [known.references, confirmed, failed].map(idBytesIn)
  const samples = references.map(({ sample }) => packedSample(sample))
  const sketches = packedSketches(Buffer.concat([confirmed, failed].map(sketchesIn)))
  const ownFit = packedFit(fit)
  const head = Buffer.alloc(HEAD_BYTES)
  head.set([VERSION, known.references.n, confirmed.n, failed.n])
  head.writeDoubleLE(known.latestAt, LATEST_AT)
  head.set(scoring.id, SCORER_AT)
  head.writeUInt16LE(ownFit.length, FIT_LENGTH_AT)
  const base = Buffer.concat([head, ...ids, ownFit, ...samples, sketches])
  return vault.sealFor(person.who.organizationId, purposeOf(person), base)
}

/**
 * Opens the stored set of a member; null if it is of another generation or version of the profile, or of another version of the
 * layout. Throws if the bytes were altered or moved.
 */
export async function openedSet(
  { vault, scoring }: Needs,
  person: SetOwner,
  stored: StoredComparisonSet,
): Promise<OpenedSet | null> {
  const { member } = person
  const { organizationId } = person.who
  const { generation, profileVersion, attemptsVersion, hasAdaptive } = stored
  if (generation !== member.generation || profileVersion !== member.profileVersion) return null
  const base = Buffer.from(await vault.openFor(organizationId, purposeOf(person), stored.base))
  if (base[0] !== VERSION) return null
  const { references, fit, confirmed, failed } = read(base, scoring.id)
  const entries: Sketched[] = []
  for (const entry of entriesIn(stored.tail))
    entries.push(readEntry(await vault.openFor(organizationId, purposeOf(person), entry)))
  const latestAt = base.readDoubleLE(LATEST_AT)
  const known = withPatterns({ ...knownReferences(member, references), confirmed, failed, latestAt }, entries)
  const samples = references.map(({ sample }) => sample)
  return {
    references,
    template: fit === null ? null : fittedTemplate(fit, samples),
    hasAdaptive,
    known: { ...known, attemptsVersion, nInTail: entries.length },
  }
}

const purposeOf = ({ account, member }: SetOwner) =>
  ['comparison set', account.id, member.id, member.generation] as const

interface Read {
  readonly references: readonly OpenedReference[]
  readonly fit: Uint8Array | null
  readonly confirmed: SketchRow
  readonly failed: SketchRow
}

function read(base: Buffer, scorerId: Uint8Array): Read {
  const [, nReferences = 0, nConfirmed = 0, nFailed = 0] = base
  let at = HEAD_BYTES
  const take = (bytes: number) => {
    at += bytes
    return base.subarray(at - bytes, at)
  }
  const ids = take(ID_BYTES * nReferences)
  const [confirmedIds, failedIds] = [take(ID_BYTES * nConfirmed), take(ID_BYTES * nFailed)]
  const fit = take(base.readUInt16LE(FIT_LENGTH_AT))
  const isOwnFit = base.subarray(SCORER_AT, FIT_LENGTH_AT).equals(scorerId)
  const takeSample = () => {
    const { bytes, end } = unpackedSample(base, at)
    at = end
    return bytes
  }
  const references = Array.from({ length: nReferences }, (_, i) => ({
    id: stringify(ids, ID_BYTES * i),
    sample: takeSample(),
  }))
  const sketches = unpackedSketches(base.subarray(at), nConfirmed + nFailed)
  let end = 0
  for (let i = 0; i < nConfirmed; i++) end += sketchBytesAt(sketches, end)
  return {
    references,
    fit: isOwnFit ? unpackedFit(fit, FIT_BYTES) : null,
    confirmed: rowOf(confirmedIds, sketches.subarray(0, end)),
    failed: rowOf(failedIds, sketches.subarray(end)),
  }
}

/** An entry of a tail, sealed, after its length in two bytes: u8 confirmed, id, float64 time, sketch. */
export async function sealedEntry(
  { vault }: Pick<Needs, 'vault'>,
  person: SetOwner,
  { id, at, authenticated, sketch }: Sketched,
): Promise<Uint8Array> {
  const head = Buffer.alloc(ENTRY_HEAD_BYTES)
  head[0] = authenticated ? 1 : 0
  head.set(parse(id), 1)
  head.writeDoubleLE(at, 1 + ID_BYTES)
  const sealed = await vault.sealFor(person.who.organizationId, purposeOf(person), Buffer.concat([head, sketch]))
  return Buffer.concat([Uint8Array.of(sealed.length & 0xff, sealed.length >> 8), sealed])
}

function readEntry(plain: Uint8Array): Sketched {
  const view = new DataView(plain.buffer, plain.byteOffset)
  return {
    authenticated: plain[0] === 1,
    id: stringify(plain, 1),
    at: view.getFloat64(1 + ID_BYTES, true),
    sketch: plain.subarray(ENTRY_HEAD_BYTES),
  }
}

function entriesIn(tail: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = []
  for (let at = 0; at + 2 <= tail.length; ) {
    const end = at + 2 + (tail[at] ?? 0) + 256 * (tail[at + 1] ?? 0)
    entries.push(tail.subarray(at + 2, end))
    at = end
  }
  return entries
}
