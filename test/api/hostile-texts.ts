import { type JsonSchema, propertiesOf } from '../../src/http/docs/route-docs.js'
import { membersOf } from '../../src/http/docs/schema-text.js'

/** Kinds of text that break careless code, each for a field of a maximum length. */
export const HOSTILE_TEXTS: Readonly<Record<string, (lengthMax: number) => string>> = {
  NUL: () => 'a\0b',
  'NUL alone': () => '\0',
  'the first half of a surrogate pair': () => 'a\ud800',
  'the second half of a surrogate pair': () => '\udfffa',
  'a surrogate pair in the wrong order': () => '\ude00\ud83d',
  'surrogate pairs, the longest text': (lengthMax) => '😀'.repeat(lengthMax / 2),
  'longer than allowed': (lengthMax) => 'x'.repeat(lengthMax + 1),
  'three bytes a unit, the longest text': (lengthMax) => '\uffff'.repeat(lengthMax),
  'longer in lower case': (lengthMax) => 'İ'.repeat(lengthMax),
  'longer when normalized': (lengthMax) => '\ufdfa'.repeat(lengthMax),
  'wild cards and an open escape': () => '%_%\\',
  'the end of a statement': () => `'"; drop table keystride.account; --`,
  placeholders: () => '$1 :x {{x}} %s %n',
  'control characters': () => Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join(''),
  'line ends': () => 'a\r\nX-Header: b\r\n\r\n\u2028\u2029',
  'invisible characters': () => '\ufeff\u200b\u202e\u00ad\ue000\u{e0001}',
  'combining marks': () => `a${'\u0301'.repeat(50)}`,
  'not a character': () => '\ufdd0\ufffe\u{10ffff}',
  nothing: () => '',
  spaces: () => ' \u00a0\u3000 ',
  'a key that pollutes prototypes': () => '__proto__',
  'a formula and a tag': () => '=cmd|"/c x"!A1<script>alert(1)</script>',
  'a path': () => '../..//%2e%2e%00',
  'a number out of range': () => '-1e400',
  'a date out of range': () => '0000-01-01T00:00:00-23:59',
  'another date out of range': () => '9999-12-31T23:59:59.999Z',
}

/** The path of a string in a schema; `isKey` if the name of a field is free. */
export interface TextSlot {
  readonly path: readonly (string | number)[]
  readonly isKey: boolean
  readonly lengthMax: number
}

/** Every string of an object or array, and every free field name. */
export function slotsIn(schema: JsonSchema, path: readonly (string | number)[] = []): TextSlot[] {
  const { items, additionalProperties: free, maxLength: lengthMax = 300 } = schema
  const own: TextSlot[] = schema.type === 'string' ? [{ path, isKey: false, lengthMax }] : []
  return [
    ...own,
    ...propertiesOf(schema).flatMap(({ name, schema: field }) => slotsIn(field, [...path, name])),
    ...(typeof items === 'object' && !Array.isArray(items) ? slotsIn(items, [...path, 0]) : []),
    ...(typeof free === 'object' ? [{ path, isKey: true, lengthMax: 64 }, ...slotsIn(free, [...path, 'free'])] : []),
    ...membersOf(schema).flatMap((member) => slotsIn(member, path)),
  ]
}

/** A copy of a value with a text in a slot; missing parents are created. */
export const withText = (value: unknown, { path, isKey }: TextSlot, text: string): unknown =>
  isKey ? withValue(value, [...path, text], 'x') : withValue(value, path, text)

/** A copy of a value with another one at a path; missing parents are created. */
export function withValue(value: unknown, [step, ...rest]: readonly (string | number)[], to: unknown): unknown {
  if (step === undefined) return to
  if (typeof step === 'number') {
    const [first, ...others] = Array.isArray(value) ? value : []
    return [withValue(first, rest, to), ...others]
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const members = isObject ? Object.entries(value) : []
  const before = members.find(([name]) => name === step)?.[1]
  return Object.fromEntries([...members.filter(([name]) => name !== step), [step, withValue(before, rest, to)]])
}
