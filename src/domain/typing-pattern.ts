import { z } from 'zod'
import { canonicalAddress } from '../base/address.js'
import { prepareFields } from '../base/known-fields.js'
import { ILL_FORMED, illFormedPath } from '../base/text.js'
import { check, sentenceOf } from '../base/validation.js'
import {
  KeyEvent,
  type KeyPress,
  KeyRecord,
  keyPressesOfEvents,
  keyPressesOfRecords,
  recordedText,
} from './key-press.js'
import { keyOf, keyOfCode } from './key-table.js'

/** Bounds of a typing pattern. */
export const KEYDOWNS_MIN = 15
export const KEYDOWNS_MAX = 500
const KEY_EVENTS_MAX = 1200
const KEY_RECORDS_MAX = 600
const MOUSE_EVENTS_MAX = 2000
const FONTS_MAX = 512
const TAGS_MAX = 32
export const HOLD_MAX_MS = 5000
const FLIGHT_MIN_MS = -2000
export const FLIGHT_MAX_MS = 10_000
export const CAPTURE_MIN_MS = 1000
export const CAPTURE_MAX_MS = 600_000
const NESTING_MAX = 8
/** `kevt` and `k` of one capture use the same clock; they may differ by rounding. */
const AGREEMENT_MS = 1
const MouseEvent = z
  .object({
    et: z.number(),
    type: z.string().max(32),
    sX: z.number().optional(),
    sY: z.number().optional(),
    mX: z.number().optional(),
    mY: z.number().optional(),
  })
  .meta({ title: 'MouseEvent' })
const Device = z
  .object({
    ua: recordedText.optional(),
    uaData: z
      .object({
        architecture: recordedText.optional(),
        platform: recordedText.optional(),
        mobile: z.boolean().optional(),
      })
      .optional(),
    sH: z.number().optional(),
    sW: z.number().optional(),
    iH: z.number().optional(),
    iW: z.number().optional(),
    pxd: z.number().optional(),
    dpr: z.number().optional(),
    cpuThreads: z.number().optional(),
    tz: recordedText.optional(),
    navCookiesEnabled: z.boolean().optional(),
    navLanguage: recordedText.optional(),
    gpu: recordedText.optional(),
    fonts: z.array(z.string().max(256)).max(FONTS_MAX, `too long: ${FONTS_MAX} fonts at the most`).optional(),
  })
  .meta({ title: 'Device' })

const Tags = z
  .array(z.object({ k: z.string().max(64), v: z.string().max(256) }))
  .max(TAGS_MAX, `too long: ${TAGS_MAX} tags at the most`)

/** Accepted recorders: `>=1.0.0 <2.0.0`, without pre-releases of 1.0.0 (semver 2.0.0, rule 11). */
const VERSION = /^1\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$/
const acceptedVersion = (version: string): boolean => VERSION.test(version) && !version.startsWith('1.0.0-')

/** The end user's address; leading and trailing spaces are dropped. */
const Address = z
  .string()
  .max(64)
  .transform((text, context) => {
    const address = canonicalAddress(text.trim())
    if (address !== null) return address
    context.addIssue({ code: 'custom', message: 'must be an IPv4 or IPv6 address' })
    return z.NEVER
  })

const RecorderVersion = z
  .string()
  .refine(acceptedVersion, 'recorder version is not supported: it must be >=1.0.0 and <2.0.0')

/**
 * The typing pattern on the wire (interface, Typing pattern). Unknown fields are dropped. Checks
 * shape and counts only; `readTypingPattern` checks the time bounds of the key presses.
 */
export const TypingPattern = z
  .object({
    agent: z.object({
      type: z.string().min(1).max(64),
      version: z.string().max(64).optional(),
      mode: z.enum(['visible', 'sensitive']).default('visible'),
    }),
    version: RecorderVersion,
    sId: z.string().max(128).optional(),
    tId: z.int().optional(),
    ip: Address.optional(),
    member_ref: z.string().max(256).optional(),
    tags: Tags.optional(),
    kevt: z.array(KeyEvent).max(KEY_EVENTS_MAX, `too long: ${KEY_EVENTS_MAX} key events at the most`).optional(),
    k: z.array(KeyRecord).max(KEY_RECORDS_MAX, `too long: ${KEY_RECORDS_MAX} key records at the most`).optional(),
    m: z.array(MouseEvent).max(MOUSE_EVENTS_MAX, `too long: ${MOUSE_EVENTS_MAX} mouse events at the most`).optional(),
    d: Device.optional(),
  })
  .meta({
    title: 'TypingPattern',
    description: 'A typing pattern from the recorder; `keystride typing-pattern` prints one of a synthetic person',
  })
export type TypingPattern = z.infer<typeof TypingPattern>
/** The part of a typing pattern that describes where it was typed. */
export type PatternMetadata = Pick<TypingPattern, 'tags' | 'd'> & {
  readonly agent: Pick<TypingPattern['agent'], 'type'>
}

/** A valid pattern with its key presses in press order, the first at 0 ms; or the reason for its refusal. */
type ReadPattern =
  | {
      readonly ok: true
      readonly pattern: TypingPattern
      readonly presses: readonly KeyPress[]
      /** One sentence per misspelt field. */
      readonly warnings: readonly string[]
    }
  /** The message names the field by its path, or the bound; it never contains a value. */
  | { readonly ok: false; readonly message: string }

const refused = (message: string): ReadPattern => ({ ok: false, message })

/**
 * Reads a request body as a typing pattern. The body must be a JSON object in valid UTF-8 of the wire shape, at most eight
 * levels deep and within all bounds, without prototype-polluting keys, NUL and lone surrogates. Null in an optional field
 * means absent. Never throws.
 */
export function readTypingPattern(body: Uint8Array): ReadPattern {
  const json = parseJson(body)
  if (!json.ok) return refused(json.message)
  const nesting = nestingProblem(json.value, 1)
  if (nesting !== null) return refused(nesting)
  const illFormed = json.escapes ? illFormedPath(json.value) : null
  if (illFormed !== null) return refused(sentenceOf([{ path: illFormed, message: ILL_FORMED }], 'body'))
  const warnings = prepareFields(TypingPattern, json.value)
  const parsed = check(TypingPattern, json.value)
  if (!parsed.ok) return refused([sentenceOf(parsed.problems, 'body'), ...warnings].join('; '))
  const keys = keyPressesOf(parsed.data)
  if (typeof keys === 'string') return refused([keys, ...warnings].join('; '))
  const problem = boundsProblem(keys)
  return problem === null ? { ok: true, pattern: parsed.data, presses: keys, warnings } : refused(problem)
}

/** `escapes` is true if the text has \u escapes: only these can contain NUL or a lone surrogate. */
type Parsed = { ok: true; value: unknown; escapes: boolean } | { ok: false; message: string }

function parseJson(body: Uint8Array): Parsed {
  try {
    // A byte order mark stays in the text and is no JSON: routing reads the same bytes without a decoder.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isObject) return { ok: false, message: 'the body must be a JSON object' }
    return { ok: true, value, escapes: text.includes('\\u') }
  } catch {
    return { ok: false, message: 'the body must be a JSON object in valid UTF-8' }
  }
}

const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

function nestingProblem(value: unknown, depth: number): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (depth > NESTING_MAX) return `the body is nested deeper than ${NESTING_MAX} levels`
  for (const key of Object.keys(value)) {
    if (PROTOTYPE_KEYS.has(key)) return `the key ${key} is not allowed`
    const problem = nestingProblem((value as Record<string, unknown>)[key], depth + 1)
    if (problem !== null) return problem
  }
  return null
}

/** The pattern's key presses in press order, or the fault of its events. In sensitive mode all keys are masked. */
function keyPressesOf(pattern: TypingPattern): readonly KeyPress[] | string {
  if (pattern.kevt === undefined && pattern.k === undefined) return 'kevt: either kevt or k is required'
  const masked = pattern.agent.mode === 'sensitive'
  const untyped = untypedProblem(pattern)
  if (untyped !== null) return untyped
  const ofEvents = pattern.kevt === undefined ? undefined : keyPressesOfEvents(pattern.kevt, masked)
  if (typeof ofEvents === 'string') return ofEvents
  const ofRecords = pattern.k === undefined ? undefined : keyPressesOfRecords(pattern.k, masked)
  if (typeof ofRecords === 'string') return ofRecords
  if (ofEvents === undefined) return ofRecords ?? []
  if (ofRecords !== undefined && !agree(ofEvents, ofRecords)) return 'k: does not agree with kevt'
  return ofEvents
}

/** The key code that browsers report if an input method or a phone's keyboard handled the key. */
const COMPOSED_KEY_CODE = 229
/** Above this share of the presses the text counts as composed. Dead keys of European layouts are far below it. Not measured. */
const COMPOSED_SHARE_MAX = 0.5
const KEY_V = keyOfCode('KeyV')
const INSERT = keyOfCode('Insert')

/** The reason why the text was not typed key by key; null if it was. The recorder does not send such patterns. */
function untypedProblem({ kevt = [], k = [] }: TypingPattern): string | null {
  const downs = kevt.filter(({ type }) => type === 'keydown')
  const pasted = downs.some((event) => {
    const key = keyOf(event)
    return (key === KEY_V && (event.ctrlKey || event.metaKey) && !event.altKey) || (key === INSERT && event.shiftKey)
  })
  if (pasted) return 'kevt: pasted text is not typed'
  const composed = (keys: readonly { readonly kc?: number | undefined }[]) =>
    keys.filter(({ kc }) => kc === COMPOSED_KEY_CODE).length > COMPOSED_SHARE_MAX * keys.length
  if (composed(downs)) return 'kevt: an input method composed the text'
  return composed(k) ? 'k: an input method composed the text' : null
}

/** Whether events and records match in order; one last press may lack a counterpart, because its keyup was lost. */
function agree(events: readonly KeyPress[], records: readonly KeyPress[]): boolean {
  if (Math.abs(events.length - records.length) > 1) return false
  const shorter = Math.min(events.length, records.length)
  for (let i = 0; i < shorter; i++) {
    const [a, b] = [events[i], records[i]]
    if (a === undefined || b === undefined || a.key !== b.key) return false
    if (Math.abs(a.pressMs - b.pressMs) > AGREEMENT_MS || Math.abs(a.releaseMs - b.releaseMs) > AGREEMENT_MS)
      return false
  }
  return true
}

/** The bound that the presses break; null if none. The comparisons are written so that NaN breaks them. */
export function boundsProblem(presses: readonly KeyPress[]): string | null {
  if (presses.length < KEYDOWNS_MIN) return `too short: ${KEYDOWNS_MIN} keydowns at the least`
  if (presses.length > KEYDOWNS_MAX) return `too long: ${KEYDOWNS_MAX} keydowns at the most`
  let end = 0
  let before: KeyPress | undefined
  for (const press of presses) {
    const holdMs = press.releaseMs - press.pressMs
    if (!(holdMs > 0)) return 'hold too short: every hold must be over 0 ms'
    if (!(holdMs <= HOLD_MAX_MS)) return `hold too long: ${HOLD_MAX_MS} ms at the most`
    if (before !== undefined) {
      if (!(press.pressMs - before.releaseMs >= FLIGHT_MIN_MS))
        return `flight too short: ${FLIGHT_MIN_MS} ms at the least`
      const flightMs = Math.max(press.pressMs - before.pressMs, press.pressMs - before.releaseMs)
      if (!(flightMs <= FLIGHT_MAX_MS)) return `flight too long: ${FLIGHT_MAX_MS} ms at the most`
      if (!(press.pressMs >= before.pressMs)) return 'key presses must be in order of time'
    }
    end = Math.max(end, press.releaseMs)
    before = press
  }
  const captureMs = end - (presses[0]?.pressMs ?? 0)
  if (!(captureMs >= CAPTURE_MIN_MS)) return `too short: a capture of ${CAPTURE_MIN_MS} ms at the least`
  if (!(captureMs <= CAPTURE_MAX_MS)) return `too long: a capture of ${CAPTURE_MAX_MS} ms at the most`
  return null
}
