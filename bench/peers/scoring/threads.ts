import { KEY_KINDS } from './model.js'
import type { Pattern } from './pattern.js'

/** No press. */
export const NONE = -1

/**
 * The references' presses linked by key pair and by key. Pairs are numbered from 1; 0 is a pair that no reference has.
 * Presses are numbered through all references. `firsts` has, one row a reference, its first press of each pair, and `nexts` the
 * next one there; `lastOfPair` and `lastOfKey` have the last press of all, with links to earlier ones. The pair of a pattern's
 * first press is no key and its own key, and it is in no chain of pairs.
 */
export interface Threads {
  readonly codes: Uint16Array
  readonly firsts: Int16Array
  readonly nexts: Int16Array
  readonly lastOfPair: Int16Array
  readonly beforeOfPair: Int16Array
  readonly lastOfKey: Int16Array
  readonly beforeOfKey: Int16Array
}

/** Numbers of pairs; 0 between calls. */
const numbers = new Uint16Array(KEY_KINDS * KEY_KINDS)

const codeAt = (keys: Uint8Array, at: number, i: number): number =>
  ((i === at ? 0 : (keys[i - 1] ?? 0)) << 7) + (keys[i] ?? 0)

/** Links the references, which are windows of the same rows. */
export function thread({ stride, keys }: Pattern, references: readonly Pattern[]): Threads {
  const codes: number[] = []
  const pairs = new Uint16Array(stride)
  for (const { at, n } of references) {
    for (let e = at; e < at + n; e++) {
      const code = codeAt(keys, at, e)
      if (numbers[code] === 0) numbers[code] = codes.push(code)
      pairs[e] = numbers[code] ?? 0
    }
  }
  for (const code of codes) numbers[code] = 0
  const width = codes.length + 1
  const none = (length: number) => new Int16Array(length).fill(NONE)
  const firsts = none(references.length * width)
  const [nexts, beforeOfPair, beforeOfKey] = [none(stride), none(stride), none(stride)]
  const [lastOfPair, lastOfKey] = [none(width), none(KEY_KINDS)]
  for (const [reference, { at, n }] of references.entries()) {
    for (let e = at + n - 1; e >= at; e--) {
      const place = reference * width + (pairs[e] ?? 0)
      nexts[e] = firsts[place] ?? NONE
      firsts[place] = e
    }
    for (let e = at; e < at + n; e++) {
      const key = keys[e] ?? 0
      beforeOfKey[e] = lastOfKey[key] ?? NONE
      lastOfKey[key] = e
      if (e === at) continue
      const pair = pairs[e] ?? 0
      beforeOfPair[e] = lastOfPair[pair] ?? NONE
      lastOfPair[pair] = e
    }
  }
  return { codes: Uint16Array.from(codes), firsts, nexts, lastOfPair, beforeOfPair, lastOfKey, beforeOfKey }
}

/** Looks up the numbers of a probe's pairs. */
export function numberPairs({ codes }: Threads, { n, keys }: Pattern, pairs: Uint16Array): void {
  for (let i = 0; i < codes.length; i++) numbers[codes[i] ?? 0] = i + 1
  for (let i = 0; i < n; i++) pairs[i] = numbers[codeAt(keys, 0, i)] ?? 0
  for (let i = 0; i < codes.length; i++) numbers[codes[i] ?? 0] = 0
}
