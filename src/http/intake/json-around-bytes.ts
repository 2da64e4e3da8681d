import { Refusal } from '../../domain/refusal.js'
import { parseJson } from './json-body.js'

/**
 * Parses a JSON object except for one field of the outermost level: that field's value is a copy of its raw bytes, which
 * another layer checks. A body of 512 KiB blocks this thread for 1.4 ms; parsing, walking and serializing it takes 14 ms, and
 * 94 ms if it consists of keys. The rest must satisfy `parseJson` and `aroundBytesMax`. The whole is valid JSON if and only
 * if the rest and the field both are. Refuses with `validation-failed` and `body-too-large`.
 */
export function parseJsonAroundBytes(bytes: Uint8Array, field: string, aroundBytesMax: number): unknown {
  const span = spanOf(bytes, field)
  const around = span === null ? bytes : withNull(bytes, span)
  if (around.length > aroundBytesMax) {
    throw new Refusal('body-too-large', `the body without ${field} must be at most ${aroundBytesMax} bytes`)
  }
  const value = parseJson(around)
  if (span === null || typeof value !== 'object') return value
  return { ...value, [field]: bytes.slice(span.start, span.end) }
}

/** The raw bytes of one field of the outermost level; null without such a field. Refuses a field given twice. */
export function fieldIn(bytes: Uint8Array, field: string): Uint8Array | null {
  const span = spanOf(bytes, field)
  return span === null ? null : bytes.subarray(span.start, span.end)
}

interface Span {
  readonly start: number
  readonly end: number
}

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

const withNull = (bytes: Uint8Array, { start, end }: Span) =>
  Buffer.concat([bytes.subarray(0, start), Buffer.from('null'), bytes.subarray(end)])

/**
 * The position of the field's value. Null without such a field, and if the bytes before it are not valid JSON: the parse of the
 * whole then fails. Refuses a second field of the name, so that no two readers pick different ones.
 */
function spanOf(bytes: Uint8Array, field: string): Span | null {
  let span: Span | null = null
  let at = afterSpace(bytes, 0)
  if (bytes[at] !== openBrace) return null
  do {
    const keyStart = afterSpace(bytes, at + 1)
    if (bytes[keyStart] !== quote) return span
    const keyEnd = afterString(bytes, keyStart)
    at = afterSpace(bytes, keyEnd)
    if (bytes[at] !== colon) return span
    const start = afterSpace(bytes, at + 1)
    const end = afterValue(bytes, start)
    if (names(bytes.subarray(keyStart, keyEnd), field)) {
      if (span !== null) throw new Refusal('validation-failed', `${field}: given more than once`)
      span = { start, end }
    }
    at = afterSpace(bytes, end)
  } while (bytes[at] === comma)
  return span
}

/** Whether this key is the field's name, with escapes decoded. */
function names(key: Uint8Array, field: string): boolean {
  const text = Buffer.from(key).toString()
  if (!text.includes('\\')) return text === `"${field}"`
  try {
    return JSON.parse(text) === field
  } catch {
    return false
  }
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

/** The position after the closing quote of the string that begins here; the end of the bytes if it is not closed. */
function afterString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return Math.min(at + 1, bytes.length)
}

/** The position after the value that begins here. Brackets are counted, not matched. */
function afterValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === quote) at = afterString(bytes, at)
    else if (byte === closeBrace || byte === closeBracket || byte === comma || isSpace(byte)) {
      if (depth === 0) return at
      if (byte === closeBrace || byte === closeBracket) depth--
      at++
    } else {
      if (byte === openBrace || byte === openBracket) depth++
      at++
      continue
    }
    if (depth === 0) return at
  }
  return at
}
