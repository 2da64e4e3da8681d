/**
 * The key events and key records of a typing pattern into EVENTS and RECORDS, checked as their schemas and
 * `src/domain/key-press.ts` do, where that does not need them all.
 */
import { EVENTS, KEY_EVENTS_MAX, KEY_RECORDS_MAX, RECORDS } from './layout'
import {
  OPEN_BRACE, OPEN_BRACKET, afterBoolean, afterValue, closed, firstItem, firstKey, keyHigh, keyLow, nextItem, nextKey, packed,
  textAt, textBytes, textEscapes, upToEight,
} from './json'
import { afterDouble, afterFinite, afterInteger, value } from './json-number'
import { NO_IDENTITY, codeIdentity, codeKey, forgetOtherCodes, identityOfKeyCode, keyOfKeyCode, readCode } from './key-identity'
import { EVENT_BYTES, KEYDOWN, KEYUP, OTHER_TYPE, PRESS_BYTES, REPEAT_ABSENT, REPEAT_FALSE, REPEAT_TRUE } from './presses'
import { afterTextOf } from './scan-around'
import { INSERT, V } from './key-classes'

export const ABSENT: i32 = -1
/** What browsers call a key that an input method, or a phone's keyboard, kept for itself. */
const COMPOSED_KEY_CODE: f64 = 229
/** `t`, of true. */
const TRUE_FIRST: u8 = 0x74

/** How many were read; ABSENT where the list is. */
export let events: i32 = ABSENT
export let records: i32 = ABSENT
/** An event has no `et`, so that all go by `t`. */
export let usesT: bool = false
let sequenced: bool = false
let unordered: bool = false
let seqnBefore: f64 = 0
/** Keydowns, and those among them and among the records that an input method kept for itself. */
let keydowns: i32 = 0
let composedEvents: i32 = 0
let composedRecords: i32 = 0
let pasted: bool = false

const TYPE = packed('type')
const KEYDOWN_NAME = packed('keydown')
const KEYUP_NAME = packed('keyup')
const K = packed('k')
const T = packed('t')
const ET = packed('et')
const E_ID = packed('eId')
const C = packed('c')
const KC = packed('kc')
const R = packed('r')
const L = packed('l')
const S = packed('s')
const H = packed('h')
const CTRL_KEY = packed('ctrlKey')
const ALT_KEY = packed('altKey')
const SHIFT_KEY = packed('shiftKey')
const META_KEY = packed('metaKey')
const SEQN = packed('seqn')

export function forgetKeys(): void {
  events = records = ABSENT
  keydowns = composedEvents = composedRecords = 0
  pasted = false
  forgetOtherCodes()
}

/** Every event has a `seqn`, and they came in another order. */
export function outOfOrder(): bool {
  return sequenced && unordered
}

/** What `untypedProblem` of `src/domain/typing-pattern.ts` refuses: a paste by keys, or half the text composed. */
export function untyped(): bool {
  return pasted || 2 * composedEvents > keydowns || (records > 0 && 2 * composedRecords > records)
}

export function afterKeyEvents(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  events = keydowns = composedEvents = 0
  pasted = false
  usesT = unordered = false
  sequenced = true
  seqnBefore = -Infinity
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || events == KEY_EVENTS_MAX) return 0
    at = afterKeyEvent(at + 1, EVENTS + <usize>events * EVENT_BYTES)
    if (at == 0) return 0
    events++
  }
  return closed
}

function afterKeyEvent(at: usize, event: usize): usize {
  let et = NaN
  let t = NaN
  let keyCode = NaN
  let seqn = NaN
  let code = NO_IDENTITY
  let hasCode = false
  let key: u8 = 0
  let hasType = false
  let type = OTHER_TYPE
  let repeat = REPEAT_ABSENT
  let shift = false, control = false, alt = false, meta = false
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    const name = keyLow
    if (keyHigh != 0) at = afterValue(at, 4)
    else if (name == TYPE) {
      at = afterTextOf(at, 32)
      if (textEscapes != 0) return 0
      type = typeRead()
      hasType = true
    } else if (name == ET) {
      at = afterDouble(at)
      et = value
    } else if (name == T) {
      at = afterDouble(at)
      t = value
    } else if (name == KC) {
      at = afterInteger(at)
      keyCode = value
    } else if (name == C) {
      at = afterCode(at)
      hasCode = true
      code = codeIdentity
      key = codeKey
    } else if (name == SEQN) {
      at = afterInteger(at)
      seqn = value
    } else if (name == R) {
      repeat = load<u8>(at) == TRUE_FIRST ? REPEAT_TRUE : REPEAT_FALSE
      at = afterBoolean(at)
    } else if (name == SHIFT_KEY) {
      shift = load<u8>(at) == TRUE_FIRST
      at = afterBoolean(at)
    } else if (name == CTRL_KEY) {
      control = load<u8>(at) == TRUE_FIRST
      at = afterBoolean(at)
    } else if (name == ALT_KEY) {
      alt = load<u8>(at) == TRUE_FIRST
      at = afterBoolean(at)
    } else if (name == META_KEY) {
      meta = load<u8>(at) == TRUE_FIRST
      at = afterBoolean(at)
    } else if (name == K) at = afterTextOf(at, 64)
    else if (name == E_ID) at = afterTextOf(at, 1024)
    else at = name == L ? afterFinite(at) : afterValue(at, 4)
    if (at == 0) return 0
  }
  const hasKeyCode = !isNaN(keyCode)
  const identity = code != NO_IDENTITY ? code : identityOfKeyCode(keyCode)
  if (!hasType || !(hasKeyCode || hasCode) || identity == NO_IDENTITY) return 0
  const byKeyCode: u8 = hasKeyCode ? keyOfKeyCode(keyCode) : 0
  usesT = usesT || isNaN(et)
  if (isNaN(seqn)) sequenced = false
  else {
    unordered = unordered || seqn < seqnBefore
    seqnBefore = seqn
  }
  const pressed = byKeyCode != 0 ? byKeyCode : key
  if (type == KEYDOWN) {
    keydowns++
    if (keyCode == COMPOSED_KEY_CODE) composedEvents++
    if ((pressed == V && (control || meta) && !alt) || (pressed == INSERT && shift)) pasted = true
  }
  store<f64>(event, et)
  store<f64>(event, t, 8)
  store<i32>(event, identity, 16)
  store<u8>(event, pressed, 20)
  store<u8>(event, type, 21)
  store<u8>(event, repeat, 22)
  return closed
}

/** The type that was read last. */
function typeRead(): u8 {
  if (textBytes > 8) return OTHER_TYPE
  const name = upToEight(textAt, textBytes)
  return name == KEYDOWN_NAME ? KEYDOWN : name == KEYUP_NAME ? KEYUP : OTHER_TYPE
}

function afterCode(at: usize): usize {
  at = afterTextOf(at, 64)
  return at != 0 && readCode() ? at : 0
}

export function afterKeyRecords(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  records = composedRecords = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || records == KEY_RECORDS_MAX) return 0
    at = afterKeyRecord(at + 1, RECORDS + <usize>records * PRESS_BYTES)
    if (at == 0) return 0
    records++
  }
  return closed
}

function afterKeyRecord(at: usize, record: usize): usize {
  let et = NaN
  let hold = NaN
  let seek = NaN
  let keyCode = NaN
  let hasCode = false
  let key: u8 = 0
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    const name = keyLow
    if (keyHigh != 0) at = afterValue(at, 4)
    else if (name == ET) {
      at = afterDouble(at)
      et = value
    } else if (name == H) {
      at = afterDouble(at)
      hold = value
    } else if (name == S) {
      at = afterDouble(at)
      seek = value
    } else if (name == KC) {
      at = afterInteger(at)
      keyCode = value
    } else if (name == C) {
      at = afterTextOf(at, 64)
      if (at == 0) return 0
      hasCode = true
      key = 0
      if (textBytes > 0) {
        if (!readCode()) return 0
        key = codeKey
      }
    } else at = name == K ? afterTextOf(at, 64) : afterValue(at, 4)
    if (at == 0) return 0
  }
  const hasKeyCode = !isNaN(keyCode)
  if (isNaN(et) || isNaN(hold) || !(hasKeyCode || hasCode)) return 0
  if (records > 0) {
    const before = load<f64>(record - PRESS_BYTES)
    if (!(et >= before) || abs(et - before - seek) > 1) return 0
  }
  if (keyCode == COMPOSED_KEY_CODE) composedRecords++
  const byKeyCode: u8 = hasKeyCode ? keyOfKeyCode(keyCode) : 0
  store<f64>(record, et)
  store<f64>(record, et + hold, 8)
  store<u8>(record, byKeyCode != 0 ? byKeyCode : key, 16)
  return closed
}
