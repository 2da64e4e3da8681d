/**
 * Reads the key events and key records of a typing pattern into EVENTS and RECORDS. Applies the checks of their schemas and of
 * `src/domain/key-press.ts` that do not need the whole list. Both lists are in one file, because they share the names of their fields
 * and the totals that `untyped` compares.
 */
import { EVENTS, KEY_EVENTS_MAX, KEY_RECORDS_MAX, RECORDS } from './layout'
import {
  OPEN_BRACE, OPEN_BRACKET, closed, firstItem, firstKey, follows, keyHigh, keyLow, nextItem, nextKey, packed, textAt, textBytes,
  textEscapes, upToEight,
} from './json'
import { afterBoolean, afterBooleanOrNull, afterNull, isNull } from './json-literal'
import {
  afterDouble, afterDoubleOrNull, afterFinite, afterFiniteOrNull, afterInteger, afterIntegerOrNull, value,
} from './json-number'
import { NO_IDENTITY, codeIdentity, codeKey, forgetOtherCodes, identityOfKeyCode, keyOfKeyCode, readCode } from './key-identity'
import { EVENT_BYTES, KEYDOWN, KEYUP, OTHER_TYPE, PRESS_BYTES, REPEAT_ABSENT, REPEAT_FALSE, REPEAT_TRUE } from './presses'
import { afterTextOf, afterTextOrNull } from './scan-metadata'
import { IN_EVENT, IN_RECORD, NOWHERE, afterUnknown, forgetUnknown } from './unknown-keys'
import { INSERT, V } from './key-classes'

export const ABSENT: i32 = -1
/** The key code that browsers report for a key that an input method or a phone's keyboard consumed. */
const COMPOSED_KEY_CODE: f64 = 229
/** First byte of `true`. */
const TRUE_FIRST: u8 = 0x74
const QUOTE: u8 = 0x22
const CLOSING_BRACE: u8 = 0x7d

/** Items read; ABSENT if the list is absent. */
export let events: i32 = ABSENT
export let records: i32 = ABSENT
/** True if an event has no `et`. All events use `t` then. */
export let usesT: bool = false
let unordered: bool = false
let seqnBefore: f64 = 0
/** Keydowns, and the events and records that an input method consumed. */
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

/** The fields in the recorder's order, each as the bytes before its value. */
const FIRST_T = packed('"t":')
const FIRST_K = packed('"k":')
const NEXT_ET = packed(',"et":')
const NEXT_TYPE = packed(',"type":')
const A_KEYDOWN = packed('"keydown')
const A_KEYUP = packed('"keyup"')
const NEXT_E_ID = packed(',"eId":')
const NEXT_K = packed(',"k":')
const NEXT_C = packed(',"c":')
const NEXT_KC = packed(',"kc":')
const NEXT_R = packed(',"r":')
const NEXT_L = packed(',"l":')
const NEXT_SEQN = packed(',"seqn":')
const NEXT_S = packed(',"s":')
const NEXT_H = packed(',"h":')
/** No modifier pressed: 64 bytes, eight at a time. */
const NO_MODIFIERS: StaticArray<u64> = [
  packed(',"ctrlKe'), packed('y":false'), packed(',"altKey'), packed('":false,'), packed('"shiftKe'), packed('y":false'),
  packed(',"metaKe'), packed('y":false'),
]

export function forgetKeys(): void {
  forgetEvents()
  forgetRecords()
  forgetOtherCodes()
}

/** Resets to the state of an absent list. */
export function forgetEvents(): void {
  events = ABSENT
  keydowns = composedEvents = 0
  pasted = false
  forgetUnknown(IN_EVENT)
}

export function forgetRecords(): void {
  records = ABSENT
  composedRecords = 0
  forgetUnknown(IN_RECORD)
}

/** Whether the events are not in the order of their `seqn`. */
export function outOfOrder(): bool {
  return unordered
}

/** The refusals of `untypedProblem` in `src/domain/typing-pattern.ts`: a paste by keys, or more than half the text composed. */
export function untyped(): bool {
  return pasted || 2 * composedEvents > keydowns || (records > 0 && 2 * composedRecords > records)
}

export function afterKeyEvents(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  forgetEvents()
  events = 0
  usesT = unordered = false
  seqnBefore = -Infinity
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || events == KEY_EVENTS_MAX) return 0
    const event = EVENTS + <usize>events * EVENT_BYTES
    const end = afterRecordedEvent(at + 1, event)
    at = end != 0 ? end : afterKeyEvent(at + 1, event)
    if (at == 0) return 0
    events++
  }
  return closed
}

/**
 * Fast path: an event without modifiers in the recorder's order of fields and without spaces, so each field has only one
 * possible position. Returns 0 for any other event, which `afterKeyEvent` reads.
 */
function afterRecordedEvent(at: usize, event: usize): usize {
  if (!follows(at, FIRST_T, 4)) return 0
  at = afterDouble(at + 4)
  store<f64>(event, value, 8)
  if (at == 0 || !follows(at, NEXT_ET, 6)) return 0
  at = afterDouble(at + 6)
  store<f64>(event, value)
  if (at == 0 || !follows(at, NEXT_TYPE, 8)) return 0
  let type = KEYDOWN
  if (follows(at + 8, A_KEYDOWN, 8) && load<u8>(at, 16) == QUOTE) at += 17
  else if (follows(at + 8, A_KEYUP, 7)) {
    type = KEYUP
    at += 15
  } else return 0
  if (!follows(at, NEXT_E_ID, 7)) return 0
  at = afterTextOf(at + 7, 1024)
  if (at == 0 || !follows(at, NEXT_K, 5)) return 0
  at = afterTextOf(at + 5, 64)
  if (at == 0 || !follows(at, NEXT_C, 5)) return 0
  at = afterCode(at + 5)
  if (at == 0 || !follows(at, NEXT_KC, 6)) return 0
  at = afterInteger(at + 6)
  const keyCode = value
  if (at == 0 || !follows(at, NEXT_R, 5)) return 0
  const repeat = load<u8>(at, 5) == TRUE_FIRST ? REPEAT_TRUE : REPEAT_FALSE
  at = afterBoolean(at + 5)
  if (at == 0 || !follows(at, NEXT_L, 5)) return 0
  at = afterFinite(at + 5)
  if (at == 0 || !noModifiers(at) || !follows(at + 64, NEXT_SEQN, 8)) return 0
  at = afterInteger(at + 72)
  if (at == 0 || load<u8>(at) != CLOSING_BRACE) return 0
  store<u8>(event, codeKey, 20)
  store<u8>(event, type, 21)
  store<u8>(event, repeat, 22)
  return completed(event, keyCode, value, codeIdentity) ? at + 1 : 0
}

// @ts-ignore: decorator
@inline
function noModifiers(at: usize): bool {
  const low = (load<u64>(at) ^ NO_MODIFIERS[0]) | (load<u64>(at, 8) ^ NO_MODIFIERS[1]) | (load<u64>(at, 16) ^ NO_MODIFIERS[2])
  const middle = (load<u64>(at, 24) ^ NO_MODIFIERS[3]) | (load<u64>(at, 32) ^ NO_MODIFIERS[4]) | (load<u64>(at, 40) ^ NO_MODIFIERS[5])
  return (low | middle | (load<u64>(at, 48) ^ NO_MODIFIERS[6]) | (load<u64>(at, 56) ^ NO_MODIFIERS[7])) == 0
}

function afterKeyEvent(at: usize, event: usize): usize {
  const place = events == 0 ? IN_EVENT : NOWHERE
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
    if (keyHigh != 0) at = afterUnknown(at, place, 4)
    else if (name == TYPE) {
      at = afterTextOf(at, 32)
      if (textEscapes != 0) return 0
      type = typeRead()
      hasType = true
    } else if (name == ET) {
      at = afterDoubleOrNull(at)
      et = value
    } else if (name == T) {
      at = afterDoubleOrNull(at)
      t = value
    } else if (name == KC) {
      at = afterIntegerOrNull(at)
      keyCode = value
    } else if (name == C) {
      hasCode = !isNull(at)
      at = hasCode ? afterCode(at) : afterNull(at)
      code = hasCode ? codeIdentity : NO_IDENTITY
      key = hasCode ? codeKey : 0
    } else if (name == SEQN) {
      at = afterInteger(at)
      seqn = value
    } else if (name == R) {
      repeat = isNull(at) ? REPEAT_ABSENT : load<u8>(at) == TRUE_FIRST ? REPEAT_TRUE : REPEAT_FALSE
      at = afterBooleanOrNull(at)
    } else if (name == SHIFT_KEY) {
      shift = load<u8>(at) == TRUE_FIRST
      at = afterBooleanOrNull(at)
    } else if (name == CTRL_KEY) {
      control = load<u8>(at) == TRUE_FIRST
      at = afterBooleanOrNull(at)
    } else if (name == ALT_KEY) {
      alt = load<u8>(at) == TRUE_FIRST
      at = afterBooleanOrNull(at)
    } else if (name == META_KEY) {
      meta = load<u8>(at) == TRUE_FIRST
      at = afterBooleanOrNull(at)
    } else if (name == K) at = afterTextOrNull(at, 64)
    else if (name == E_ID) at = afterTextOrNull(at, 1024)
    else at = name == L ? afterFiniteOrNull(at) : afterUnknown(at, place, 4)
    if (at == 0) return 0
  }
  store<f64>(event, et)
  store<f64>(event, t, 8)
  store<u8>(event, key, 20)
  store<u8>(event, type, 21)
  store<u8>(event, repeat, 22)
  if (!hasType || (!hasCode && isNaN(keyCode)) || !completed(event, keyCode, seqn, code)) return 0
  if (type == KEYDOWN) {
    const pressed = load<u8>(event, 20)
    if ((pressed == V && (control || meta) && !alt) || (pressed == INSERT && shift)) pasted = true
  }
  return closed
}

/**
 * Completes an event that has its times, the key of its code (0: none), its type and whether it repeats, and updates the totals.
 * False if it is declined.
 */
// @ts-ignore: decorator
@inline
function completed(event: usize, keyCode: f64, seqn: f64, code: i32): bool {
  const identity = code != NO_IDENTITY ? code : identityOfKeyCode(keyCode)
  if (identity == NO_IDENTITY || isNaN(seqn)) return false
  usesT = usesT || isNaN(load<f64>(event))
  unordered = unordered || seqn < seqnBefore
  seqnBefore = seqn
  if (load<u8>(event, 21) == KEYDOWN) {
    keydowns++
    if (keyCode == COMPOSED_KEY_CODE) composedEvents++
  }
  store<i32>(event, identity, 16)
  const byKeyCode: u8 = isNaN(keyCode) ? 0 : keyOfKeyCode(keyCode)
  if (byKeyCode != 0) store<u8>(event, byKeyCode, 20)
  return true
}

/** Event type in the string read last. */
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
  forgetRecords()
  records = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || records == KEY_RECORDS_MAX) return 0
    const record = RECORDS + <usize>records * PRESS_BYTES
    const end = afterRecordedRecord(at + 1, record)
    at = end != 0 ? end : afterKeyRecord(at + 1, record)
    if (at == 0) return 0
    records++
  }
  return closed
}

/** Fast path: a record as the recorder writes it. Returns 0 for any other record, which `afterKeyRecord` reads. */
function afterRecordedRecord(at: usize, record: usize): usize {
  if (!follows(at, FIRST_K, 4)) return 0
  at = afterTextOf(at + 4, 64)
  if (at == 0 || !follows(at, NEXT_C, 5)) return 0
  at = afterCode(at + 5)
  store<u8>(record, codeKey, 16)
  if (at == 0 || !follows(at, NEXT_KC, 6)) return 0
  at = afterInteger(at + 6)
  const keyCode = value
  if (at == 0 || !follows(at, NEXT_ET, 6)) return 0
  at = afterDouble(at + 6)
  store<f64>(record, value)
  if (at == 0 || !follows(at, NEXT_S, 5)) return 0
  at = afterDouble(at + 5)
  const seek = value
  if (at == 0 || !follows(at, NEXT_H, 5)) return 0
  at = afterDouble(at + 5)
  if (at == 0 || load<u8>(at) != CLOSING_BRACE) return 0
  return completedRecord(record, value, seek, keyCode) ? at + 1 : 0
}

function afterKeyRecord(at: usize, record: usize): usize {
  const place = records == 0 ? IN_RECORD : NOWHERE
  let et = NaN
  let hold = NaN
  let seek = NaN
  let keyCode = NaN
  let hasCode = false
  let key: u8 = 0
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    const name = keyLow
    if (keyHigh != 0) at = afterUnknown(at, place, 4)
    else if (name == ET) {
      at = afterDouble(at)
      et = value
    } else if (name == H) {
      at = afterDouble(at)
      hold = value
    } else if (name == S) {
      at = afterDoubleOrNull(at)
      seek = value
    } else if (name == KC) {
      at = afterIntegerOrNull(at)
      keyCode = value
    } else if (name == C) {
      hasCode = !isNull(at)
      key = 0
      at = afterTextOrNull(at, 64)
      if (at == 0) return 0
      if (hasCode && textBytes > 0) {
        if (!readCode()) return 0
        key = codeKey
      }
    } else at = name == K ? afterTextOrNull(at, 64) : afterUnknown(at, place, 4)
    if (at == 0) return 0
  }
  store<f64>(record, et)
  store<u8>(record, key, 16)
  return (hasCode || !isNaN(keyCode)) && completedRecord(record, hold, seek, keyCode) ? closed : 0
}

/** Completes a record that has its time and the key of its code (0: none). False if it is declined. */
// @ts-ignore: decorator
@inline
function completedRecord(record: usize, hold: f64, seek: f64, keyCode: f64): bool {
  const et = load<f64>(record)
  if (isNaN(et) || isNaN(hold)) return false
  if (records > 0) {
    const before = load<f64>(record - PRESS_BYTES)
    if (!(et >= before) || abs(et - before - seek) > 1) return false
  }
  if (keyCode == COMPOSED_KEY_CODE) composedRecords++
  store<f64>(record, et + hold, 8)
  const byKeyCode: u8 = isNaN(keyCode) ? 0 : keyOfKeyCode(keyCode)
  if (byKeyCode != 0) store<u8>(record, byKeyCode, 16)
  return true
}
