import { z } from 'zod'
import { KEY_UNKNOWN, keyOf } from './key-table.js'

/** Our choice: a string that is longer than those of a recorder is refused, not truncated. */
const TEXT_MAX = 1024

export const recordedText = z.string().max(TEXT_MAX)

export const KeyEvent = z
  .object({
    t: z.number().optional(),
    et: z.number().optional(),
    type: z.string().max(32),
    eId: recordedText.optional(),
    k: z.string().max(64).optional(),
    c: z.string().max(64).optional(),
    kc: z.int().optional(),
    r: z.boolean().optional(),
    l: z.number().optional(),
    ctrlKey: z.boolean().optional(),
    altKey: z.boolean().optional(),
    shiftKey: z.boolean().optional(),
    metaKey: z.boolean().optional(),
    seqn: z.int(),
  })
  .meta({ title: 'KeyEvent' })
export const KeyRecord = z
  .object({
    k: z.string().max(64).optional(),
    c: z.string().max(64).optional(),
    kc: z.int().optional(),
    et: z.number(),
    s: z.number().optional(),
    h: z.number(),
  })
  .meta({ title: 'KeyRecord' })
export type KeyEvent = z.infer<typeof KeyEvent>
export type KeyRecord = z.infer<typeof KeyRecord>

/** One key press: times in ms since the pattern's first press. */
export interface KeyPress {
  /** Index in the canonical key table; 0 if unknown or masked. */
  readonly key: number
  readonly pressMs: number
  readonly releaseMs: number
}

/** Sorted by `seqn`; events with equal `seqn` keep the order in which they were sent. */
const inOrder = (events: readonly KeyEvent[]): readonly KeyEvent[] => [...events].sort((a, b) => a.seqn - b.seqn)

/** Identity of a physical key. */
const identity = (event: KeyEvent): string => (event.c ? `c${event.c}` : `kc${event.kc ?? ''}`)
/** False for masked keys and keys of a phone's keyboard (229): these share an identity and pair in order. */
const isOneKey = (event: KeyEvent): boolean => Boolean(event.c) || (event.kc !== 0 && event.kc !== 229)

/**
 * Presses from key events: pairs each keydown with the next keyup of the same key. Drops auto-repeat keydowns and keys
 * without a keyup. Uses `t` if any event lacks `et`. Ignores unknown event types. Returns the fault, by path, if an event
 * has no key or no time, or if time decreases.
 */
export function keyPressesOfEvents(events: readonly KeyEvent[], masked: boolean): readonly KeyPress[] | string {
  const usesT = events.some((event) => event.et === undefined)
  const open = new Map<string, number[]>()
  const presses: { key: number; pressMs: number; releaseMs: number | null }[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const [i, event] of inOrder(events).entries()) {
    const at = usesT ? event.t : event.et
    if (at === undefined) return `kevt[${i}]: et or t is required`
    if (!(at >= last)) return `kevt[${i}].${usesT ? 't' : 'et'}: must not decrease`
    last = at
    if (event.kc === undefined && event.c === undefined) return `kevt[${i}]: kc or c is required`
    const name = identity(event)
    const waiting = open.get(name) ?? []
    if (event.type === 'keydown') {
      if (event.r === true && waiting.length > 0) continue
      const one = isOneKey(event)
      if (one && event.r === undefined && waiting.length > 0) continue
      // A second keydown that is not a repeat: the keyup of the first was lost, so the first press is dropped.
      open.set(name, one ? [presses.length] : [...waiting, presses.length])
      presses.push({ key: masked ? KEY_UNKNOWN : keyOf(event), pressMs: at, releaseMs: null })
    } else if (event.type === 'keyup') {
      const [first, ...others] = waiting
      const press = first === undefined ? undefined : presses[first]
      open.set(name, others)
      if (press !== undefined) press.releaseMs = at
    }
  }
  return fromFirst(
    presses.flatMap(({ key, pressMs, releaseMs }) => (releaseMs === null ? [] : [{ key, pressMs, releaseMs }])),
  )
}

/** Presses from key records, by press time and hold. Returns the fault, by path, if times decrease or `s` disagrees. */
export function keyPressesOfRecords(records: readonly KeyRecord[], masked: boolean): readonly KeyPress[] | string {
  const presses: KeyPress[] = []
  for (const [i, record] of records.entries()) {
    if (record.kc === undefined && record.c === undefined) return `k[${i}]: kc or c is required`
    const before = records[i - 1]
    if (before !== undefined && !(record.et >= before.et)) return `k[${i}].et: must not decrease`
    if (before !== undefined && record.s !== undefined && Math.abs(record.et - before.et - record.s) > 1) {
      return `k[${i}].s: does not agree with et`
    }
    presses.push({ key: masked ? KEY_UNKNOWN : keyOf(record), pressMs: record.et, releaseMs: record.et + record.h })
  }
  return fromFirst(presses)
}

function fromFirst(presses: readonly KeyPress[]): readonly KeyPress[] {
  const origin = presses[0]?.pressMs ?? 0
  return presses.map(({ key, pressMs, releaseMs }) => ({
    key,
    pressMs: pressMs - origin,
    releaseMs: releaseMs - origin,
  }))
}
