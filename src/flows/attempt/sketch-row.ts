import { stringify } from 'uuid'
import { sketchBytesAt } from '../../scoring/sketch.js'

/** Known patterns of one kind, oldest first: a part of `arena`. Versions of a row share the arena. */
export interface SketchRow {
  readonly arena: Arena
  readonly n: number
  /** Index of the first id in the arena. */
  readonly firstId: number
  /** Offsets of the sketches in the arena, bytes. */
  readonly from: number
  readonly to: number
}

/** Ids and sketches (`sketchOf`), one after another: a later version of a row appends behind an earlier one. */
interface Arena {
  readonly ids: Uint8Array
  readonly sketches: Uint8Array
  nIds: number
  used: number
}

/** An id is the bytes of a UUID: its text takes 56 bytes, in an object that the garbage collector visits. */
export const ID_BYTES = 16
/** Room behind a copied row that will grow: six to seven sketches, so that few appends copy the row. */
const SPARE = { bytes: 1024, ids: 7 }
const NO_SPARE: typeof SPARE = { bytes: 0, ids: 0 }

export const EMPTY_ROW: SketchRow = { arena: arenaOf(0, 0), n: 0, firstId: 0, from: 0, to: 0 }

/** The sketches of the row, one after another. */
export const sketchesIn = ({ arena, from, to }: SketchRow): Uint8Array => arena.sketches.subarray(from, to)

/** The ids of the row, as bytes. */
export const idBytesIn = ({ arena, firstId, n }: SketchRow): Uint8Array =>
  arena.ids.subarray(firstId * ID_BYTES, (firstId + n) * ID_BYTES)

/** A row of these ids and sketches, which it copies. */
export function rowOf(ids: Uint8Array, sketches: Uint8Array): SketchRow {
  const n = ids.length / ID_BYTES
  if (n === 0) return EMPTY_ROW
  const arena = arenaOf(n + SPARE.ids, sketches.length + SPARE.bytes)
  arena.ids.set(ids)
  arena.sketches.set(sketches)
  arena.nIds = n
  arena.used = sketches.length
  return { arena, n, firstId: 0, from: 0, to: sketches.length }
}

/** The time in the first id, a UUIDv7, epoch ms; null in an empty row. */
export const timeOfFirst = (row: SketchRow): number | null =>
  row.n === 0 ? null : Number.parseInt(Buffer.from(idBytesIn(row).subarray(0, 6)).toString('hex'), 16)

/** The ids of the row, as text. */
export const idsIn = ({ arena, firstId, n }: SketchRow): string[] =>
  Array.from({ length: n }, (_, i) => stringify(arena.ids, (firstId + i) * ID_BYTES))

export function hasId({ arena, firstId, n }: SketchRow, id: Uint8Array): boolean {
  for (let i = firstId; i < firstId + n; i++) {
    // Ids of the same time differ in their last bytes.
    let at = ID_BYTES - 1
    while (at >= 0 && arena.ids[i * ID_BYTES + at] === id[at]) at--
    if (at < 0) return true
  }
  return false
}

/** Bytes of memory of the row and of the room behind it. */
export const bytesOf = ({ arena }: SketchRow): number => arena.ids.length + arena.sketches.length

/** The latest `max` items of the row and of `fresh` after it. The row stays valid. If `grows`, a copied row gets room behind it. */
export function latestOf(
  row: SketchRow,
  fresh: readonly { readonly id: Uint8Array; readonly sketch: Uint8Array }[],
  max: number,
  grows = true,
): SketchRow {
  const nDropped = Math.max(0, row.n + fresh.length - max)
  if (fresh.length === 0 && nDropped === 0) return row
  const kept = withoutOldest(row, Math.min(nDropped, row.n))
  const added = fresh.slice(Math.max(0, nDropped - row.n))
  const bytes = added.reduce((sum, { sketch }) => sum + sketch.length, 0)
  const { arena, n, firstId, from, to } = hasRoom(kept, added.length, bytes)
    ? kept
    : copied(kept, added.length, bytes, grows ? SPARE : NO_SPARE)
  for (const { id, sketch } of added) {
    arena.ids.set(id, arena.nIds++ * ID_BYTES)
    arena.sketches.set(sketch, arena.used)
    arena.used += sketch.length
  }
  return { arena, n: n + added.length, firstId, from, to: to + bytes }
}

function withoutOldest({ arena, n, firstId, from, to }: SketchRow, dropped: number): SketchRow {
  let at = from
  for (let i = 0; i < dropped; i++) at += sketchBytesAt(arena.sketches, at)
  return { arena, n: n - dropped, firstId: firstId + dropped, from: at, to }
}

/** Whether the arena has room behind the row. Behind an earlier version of a row, a later version has the room. */
const hasRoom = ({ arena, firstId, n, to }: SketchRow, nIds: number, bytes: number): boolean =>
  arena.used === to &&
  arena.nIds === firstId + n &&
  to + bytes <= arena.sketches.length &&
  (arena.nIds + nIds) * ID_BYTES <= arena.ids.length

function copied(row: SketchRow, nIds: number, bytes: number, spare: typeof SPARE): SketchRow {
  const { arena, n, firstId, from, to } = row
  const copy = arenaOf(n + nIds + spare.ids, to - from + bytes + spare.bytes)
  copy.ids.set(arena.ids.subarray(firstId * ID_BYTES, (firstId + n) * ID_BYTES))
  copy.sketches.set(sketchesIn(row))
  copy.nIds = n
  copy.used = to - from
  return { arena: copy, n, firstId: 0, from: 0, to: to - from }
}

function arenaOf(nIds: number, bytes: number): Arena {
  const all = new Uint8Array(nIds * ID_BYTES + bytes)
  return { ids: all.subarray(0, nIds * ID_BYTES), sketches: all.subarray(nIds * ID_BYTES), nIds: 0, used: 0 }
}
