/**
 * Distinguishes physical keys, and maps each to its key in the canonical table. Identities are small numbers: first the
 * legacy key codes themselves, then the codes of the table, then the codes that only this body uses.
 */
import { KEYS_OF_KEY_CODES, KNOWN_CODES, OTHER_CODES } from './layout'
import { textAt, textBytes, textEscapes, upToEight } from './json'

/** Above all key codes that browsers send. A key that is identified only by a higher code is declined. */
const KEY_CODES_MAX: i32 = 1024
const KEY_CODES_KNOWN: i32 = 256
/** Identity of a key without any code: `c` is empty and `kc` absent. */
const NAMELESS: i32 = KEY_CODES_MAX
const KNOWN_FIRST: i32 = KEY_CODES_MAX + 1
const KNOWN_MAX: i32 = 256
const OTHERS_FIRST: i32 = KNOWN_FIRST + KNOWN_MAX
const OTHERS_MAX: i32 = 64
export const IDENTITIES: i32 = OTHERS_FIRST + OTHERS_MAX
export const NO_IDENTITY: i32 = -1

const ENTRY_BYTES: usize = 24
let others: i32 = 0

/** Identity and table index of the code read last. */
export let codeIdentity: i32 = 0
export let codeKey: u8 = 0

export function forgetOtherCodes(): void {
  others = 0
}

/** The entry of a code in KNOWN_CODES, free or taken: 2 x u64 bytes of the code, i32 number from 1 (0: free), u8 key. */
function placeOf(low: u64, high: u64): usize {
  let hash = <i32>(((low ^ (high * 0x9e3779b97f4a7c15)) * 0x9e3779b97f4a7c15) >> 56)
  let at = KNOWN_CODES + <usize>hash * ENTRY_BYTES
  while (load<i32>(at, 16) != 0 && (load<u64>(at) != low || load<u64>(at, 8) != high)) {
    hash = (hash + 1) & (KNOWN_MAX - 1)
    at = KNOWN_CODES + <usize>hash * ENTRY_BYTES
  }
  return at
}

let known: i32 = 0

/** Adds a code of 1 to 16 ASCII bytes at `text` with the index of its key. The host calls it once per code. */
export function nameKey(text: usize, bytes: i32, key: i32): void {
  assert(bytes > 0 && bytes <= 16 && known < KNOWN_MAX / 2)
  const low = upToEight(text, bytes)
  const high = upToEight(text + 8, bytes - 8)
  const at = placeOf(low, high)
  store<u64>(at, low)
  store<u64>(at, high, 8)
  store<i32>(at, ++known, 16)
  store<u8>(at, <u8>key, 20)
}

/** Table index of a legacy key code, 0 if unknown. */
export function keyOfKeyCode(keyCode: f64): u8 {
  return keyCode >= 0 && keyCode < <f64>KEY_CODES_KNOWN ? load<u8>(KEYS_OF_KEY_CODES + <usize>keyCode) : 0
}

/** Identity of a key without `c`. `keyCode` is NaN if `kc` is absent, too. */
export function identityOfKeyCode(keyCode: f64): i32 {
  if (isNaN(keyCode)) return NAMELESS
  return keyCode >= 0 && keyCode < <f64>KEY_CODES_MAX ? <i32>keyCode : NO_IDENTITY
}

/** False for masked keys and keys of a phone's keyboard, which share an identity. Their keydowns and keyups pair in order. */
export function isOneKey(identity: i32): bool {
  return identity != 0 && identity != 229
}

/** Reads the last string as a `c`. The identity is NO_IDENTITY if the string is empty. False if it is declined. */
export function readCode(): bool {
  codeIdentity = NO_IDENTITY
  codeKey = 0
  if (textBytes == 0) return true
  if (textEscapes != 0) return false
  const low = upToEight(textAt, textBytes)
  const high = upToEight(textAt + 8, textBytes - 8)
  if (textBytes <= 16) {
    const at = placeOf(low, high)
    const number = load<i32>(at, 16)
    if (number != 0) {
      codeIdentity = KNOWN_FIRST + number - 1
      codeKey = load<u8>(at, 20)
      return true
    }
  }
  for (let i = 0; i < others; i++) {
    const at = OTHER_CODES + <usize>i * ENTRY_BYTES
    if (load<i32>(at) != textBytes || memory.compare(load<usize>(at, 8), textAt, <usize>textBytes) != 0) continue
    codeIdentity = OTHERS_FIRST + i
    return true
  }
  if (others == OTHERS_MAX) return false
  const at = OTHER_CODES + <usize>others * ENTRY_BYTES
  store<i32>(at, textBytes)
  store<usize>(at, textAt, 8)
  codeIdentity = OTHERS_FIRST + others++
  return true
}
