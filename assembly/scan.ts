/**
 * The typing pattern out of the bytes of its JSON, read once and without a value made of them: what `readTypingPattern`
 * (`src/domain/typing-pattern.ts`, the contract) gives of a body, or a decline, upon which the contract reads it. A decline
 * is always right; an acceptance is held to give the same presses bit for bit by test/scoring/scan.test.ts. Declined, though
 * the contract takes them: a byte order mark, names, types and codes written with escapes where they need none, recorder
 * versions with a suffix, events that are not in the order of their `seqn`, and numbers beyond `json-number.ts`.
 *
 * SCANNED: i32 presses, i32 mode (1 sensitive), then i32 place in BODY and i32 bytes of the strings `ip` and `member_ref`
 * with their quotes, 0 bytes where absent.
 */
import {
  BODY, BODY_BYTES_MAX, EVENTS, KEY_EVENTS_MAX, KEY_RECORDS_MAX, PRESSES, RECORDS, SCANNED,
} from './layout'
import {
  OPEN_BRACE, OPEN_BRACKET, afterBoolean, afterSpace, afterText, afterValue, closed, firstItem, firstKey, keyHigh,
  keyLow, nextItem, nextKey, packed, textAt, textBytes, textEscapes, upToEight,
} from './json'
import { afterFinite, afterInteger, double } from './json-number'
import { NO_IDENTITY, codeIdentity, codeKey, forgetOtherCodes, identityOfKeyCode, keyOfKeyCode, readCode } from './key-identity'
import {
  EVENT_BYTES, KEYDOWN, KEYUP, OTHER_TYPE, PRESS_BYTES, REPEAT_ABSENT, REPEAT_FALSE, REPEAT_TRUE, agree, fromFirst,
  pressesOfEvents, withinBounds, writeSample,
} from './presses'
import { afterDevice, afterMouseEvents, afterTags, afterTextOf } from './scan-around'

const ABSENT: i32 = -1

/** What was read of the agent, the key events and the key records; counts are ABSENT where the list is. */
let typed: bool = false
let versioned: bool = false
let sensitive: bool = false
let events: i32 = ABSENT
let records: i32 = ABSENT
let usesT: bool = false
let unordered: bool = false
let sequenced: bool = false
let seqnBefore: f64 = 0

const AGENT = packed('agent')
const VERSION = packed('version')
const S_ID = packed('sId')
const T_ID = packed('tId')
const IP = packed('ip')
const MEMBER_REF = packed('member_ref')
const MEMBER_REF_END = packed('member_ref', 8)
const TAGS = packed('tags')
const KEVT = packed('kevt')
const K = packed('k')
const M = packed('m')
const D = packed('d')
const TYPE = packed('type')
const MODE = packed('mode')
const VISIBLE = packed('visible')
const SENSITIVE = packed('sensitive')
const SENSITIVE_END = packed('sensitive', 8)
const KEYDOWN_NAME = packed('keydown')
const KEYUP_NAME = packed('keyup')
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

/** Reads the first `bytes` bytes of BODY; key presses, with slot 0's sample, TIMES and SCANNED written, or 0: declined. */
export function scan(bytes: i32): i32 {
  assert(bytes >= 0 && bytes <= BODY_BYTES_MAX)
  memory.fill(BODY + <usize>bytes, 0, 32)
  memory.fill(SCANNED, 0, 24)
  forgetOtherCodes()
  typed = versioned = sensitive = false
  events = records = ABSENT
  const at = afterPattern(afterSpace(BODY))
  if (at == 0 || afterSpace(at) != BODY + <usize>bytes || !typed || !versioned) return 0
  const n = readPresses()
  store<i32>(SCANNED, n)
  store<i32>(SCANNED, sensitive ? 1 : 0, 4)
  return n
}

function readPresses(): i32 {
  if (records > 0) fromFirst(RECORDS, records)
  let n = records
  let presses = RECORDS
  if (events != ABSENT) {
    if (sequenced && unordered) return 0
    presses = PRESSES
    n = pressesOfEvents(events, usesT)
    if (n < 0 || (records != ABSENT && !agree(n, records, sensitive))) return 0
  }
  if (!withinBounds(presses, n)) return 0
  writeSample(presses, n, sensitive)
  return n
}

function afterPattern(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACE) return 0
  for (at = firstKey(at + 1); at != 0; at = nextKey(at)) {
    at = afterPatternField(at)
    if (at == 0) return 0
  }
  return closed
}

function afterPatternField(at: usize): usize {
  if (keyHigh != 0) return keyLow == MEMBER_REF && keyHigh == MEMBER_REF_END ? kept(at, 256, 16) : afterValue(at, 2)
  if (keyLow == KEVT) return afterKeyEvents(at)
  if (keyLow == K) return afterKeyRecords(at)
  if (keyLow == AGENT) return afterAgent(at)
  if (keyLow == VERSION) return afterVersion(at)
  if (keyLow == S_ID) return afterTextOf(at, 128)
  if (keyLow == T_ID) return afterInteger(at)
  if (keyLow == IP) return kept(at, 64, 8)
  if (keyLow == TAGS) return afterTags(at)
  if (keyLow == M) return afterMouseEvents(at)
  return keyLow == D ? afterDevice(at) : afterValue(at, 2)
}

/** A string of `most` characters at the most that the host wants; its place goes to SCANNED. */
function kept(at: usize, most: i32, to: usize): usize {
  const end = afterTextOf(at, most)
  store<i32>(SCANNED + to, <i32>(at - BODY))
  store<i32>(SCANNED + to, <i32>(end - at), 4)
  return end
}

function afterAgent(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACE) return 0
  typed = sensitive = false
  for (at = firstKey(at + 1); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterValue(at, 3)
    else if (keyLow == TYPE) {
      at = afterTextOf(at, 64)
      typed = textBytes > 0
    } else if (keyLow == VERSION) at = afterTextOf(at, 64)
    else if (keyLow == MODE) at = afterMode(at)
    else at = afterValue(at, 3)
    if (at == 0) return 0
  }
  return closed
}

function afterMode(at: usize): usize {
  at = afterText(at)
  if (at == 0 || textEscapes != 0) return 0
  const low = upToEight(textAt, textBytes)
  sensitive = textBytes == 9 && low == SENSITIVE && upToEight(textAt + 8, 1) == SENSITIVE_END
  return sensitive || (textBytes == 7 && low == VISIBLE) ? at : 0
}

/** `1.`, a number, a point, a number: no leading zeros, nine digits at the most. */
function afterVersion(at: usize): usize {
  at = afterText(at)
  if (at == 0 || load<u16>(textAt) != 0x2e31) return 0
  const minor = afterDigits(textAt + 2)
  versioned = load<u8>(minor) == 0x2e && afterDigits(minor + 1) == textAt + <usize>textBytes
  return versioned ? at : 0
}

/** Past such a number; where there is none, an address at which neither a point nor the end can be. */
function afterDigits(at: usize): usize {
  const start = at
  while (<u8>(load<u8>(at) - 0x30) <= 9) at++
  const digits = at - start
  return digits >= 1 && digits <= 9 && (digits == 1 || load<u8>(start) != 0x30) ? at : BODY - 1
}

function afterKeyEvents(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  events = 0
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
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    const name = keyLow
    if (keyHigh != 0) at = afterValue(at, 4)
    else if (name == TYPE) {
      at = afterTextOf(at, 32)
      if (at == 0 || textEscapes != 0) return 0
      const text = textBytes > 8 ? 0 : upToEight(textAt, textBytes)
      type = text == KEYDOWN_NAME ? KEYDOWN : text == KEYUP_NAME ? KEYUP : OTHER_TYPE
      hasType = true
    } else if (name == ET) {
      at = afterFinite(at)
      if (isNaN((et = double()))) return 0
    } else if (name == T) {
      at = afterFinite(at)
      if (isNaN((t = double()))) return 0
    } else if (name == KC) {
      at = afterInteger(at)
      keyCode = double()
    } else if (name == C) {
      at = afterTextOf(at, 64)
      if (at == 0) return 0
      hasCode = true
      code = NO_IDENTITY
      key = 0
      if (textBytes > 0) {
        if (!readCode()) return 0
        code = codeIdentity
        key = codeKey
      }
    } else if (name == SEQN) {
      at = afterInteger(at)
      seqn = double()
    } else if (name == R) {
      repeat = load<u8>(at) == 0x74 ? REPEAT_TRUE : REPEAT_FALSE
      at = afterBoolean(at)
    } else if (name == SHIFT_KEY || name == CTRL_KEY || name == ALT_KEY || name == META_KEY) at = afterBoolean(at)
    else if (name == K) at = afterTextOf(at, 64)
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
  store<f64>(event, et)
  store<f64>(event, t, 8)
  store<i32>(event, identity, 16)
  store<u8>(event, byKeyCode != 0 ? byKeyCode : key, 20)
  store<u8>(event, type, 21)
  store<u8>(event, repeat, 22)
  return closed
}

function afterKeyRecords(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  records = 0
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
      at = afterFinite(at)
      if (isNaN((et = double()))) return 0
    } else if (name == H) {
      at = afterFinite(at)
      if (isNaN((hold = double()))) return 0
    } else if (name == S) {
      at = afterFinite(at)
      if (isNaN((seek = double()))) return 0
    } else if (name == KC) {
      at = afterInteger(at)
      keyCode = double()
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
  const byKeyCode: u8 = hasKeyCode ? keyOfKeyCode(keyCode) : 0
  store<f64>(record, et)
  store<f64>(record, et + hold, 8)
  store<u8>(record, byKeyCode != 0 ? byKeyCode : key, 16)
  return closed
}
