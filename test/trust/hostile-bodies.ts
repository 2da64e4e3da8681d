import { seededRandom } from '../../src/calibration/random.js'

const KEYS = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', '\u0000', 'a', 'x', '$where'],
  ...['type', 'member_ref', 'user_display_name', 'securityCode', 'kevt', 'k', 'agent', 'version', 'groups', 'tag'],
  ...['action', 'pattern', 'patternId', 'language', 'word', 'id', 'ids', 'date_from', 'date_to', 'windows', 'validity'],
  ...['redirect_uri', 'name', 'recipients', 'host', 'port', 'email', 'sort', 'limit', 'tags', 'm', 'd', 'settings'],
]
const SCALARS = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '1e400', '-1e400', '1e-400', '9007199254740993', '0.1', '1e21'],
  ...['""', '"a"', '"\\u0000"', '"\\ud800"', '"__proto__"', '"generic"', '"nominative"', '"RESET_BIOMETRIC_PROFILE"'],
  ...['"2026-01-01T00:00:00Z"', '"LINK_PATTERN"', '"en"', '"749205"', '"1.0.0"', '[]', '{}', '{"x":1}', '[[]]'],
  ...['"\u2028"', '"é"', '"\\"}"', 'NaN', 'undefined', 'Infinity', "'a'", '01', '+1', '.5', '"', '\\'],
]

/** Malformed and extreme JSON bodies, the same for the same seed. Bytes, because some are not UTF-8. */
export function hostileBodies(seed: number): () => Buffer {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T // there is one
  function value(depth: number): string {
    const kind = random()
    if (depth <= 0 || kind < 0.45) return oneOf(SCALARS)
    const many = Array.from({ length: below(5) })
    if (kind < 0.65) return `[${many.map(() => value(depth - 1)).join(',')}]`
    return `{${many.map(() => `${JSON.stringify(oneOf(KEYS))}:${value(depth - 1)}`).join(',')}}`
  }
  const bombs: (() => string)[] = [
    () => '['.repeat(1 + below(8000)),
    () => `${'['.repeat(200)}${']'.repeat(200)}`,
    () => `${'{"a":'.repeat(1 + below(2000))}1`,
    () => `{${Array.from({ length: 800 }, (_, i) => `"${'a'.repeat(i % 7)}${i}":${i}`).join(',')}}`,
    () => `"${'\\u0041'.repeat(below(2500))}"`,
    () => `[${'1,'.repeat(below(7000))}1]`,
    () => `[${'0.1e1,'.repeat(below(2500))}${'9'.repeat(3000)}]`,
    () => `{"kevt":[${'{"type":"keydown"},'.repeat(below(600))}{}]}`,
  ]
  return () => {
    const kind = random()
    const text =
      kind < 0.1
        ? oneOf(bombs)()
        : kind < 0.9
          ? `{${Array.from({ length: 1 + below(6) }, () => `${JSON.stringify(oneOf(KEYS))}:${value(4)}`).join(',')}}`
          : value(3)
    const bytes = Buffer.from(text.slice(0, 16_000))
    // One in ten is damaged: a byte is changed, or the end is cut off.
    if (bytes.length > 0 && random() < 0.05) bytes[below(bytes.length)] = below(256)
    return random() < 0.05 ? bytes.subarray(0, below(bytes.length + 1)) : bytes
  }
}
