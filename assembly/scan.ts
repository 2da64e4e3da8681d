/**
 * Reads the typing pattern from the bytes of its JSON in one pass, without building values. The result equals that of
 * `readTypingPattern` (`src/domain/typing-pattern.ts`, the contract), or it is a decline, and the contract reads the body. A
 * decline is always safe; test/scoring/scan.test.ts checks that an accepted body gives the same presses bit for bit. The scan
 * declines some bodies that the contract accepts: with a byte order mark; with needless escapes in names, types or codes; with a
 * suffix in the recorder's version; with events not in the order of their `seqn`; with numbers outside the range of `json-number.ts`.
 *
 * SCANNED: i32 presses, i32 mode (1 sensitive); i32 offset in BODY and i32 bytes of the values of `ip`, `member_ref` (with
 * their quotes), `agent`, `tags` and `d`, 0 bytes if absent; i32 unknown keys, i32 whether the device has a field of null;
 * then i32 place, i32 offset in BODY and i32 bytes of each unknown key (`unknown-keys.ts`).
 */
import { BODY, BODY_BYTES_MAX, PRESSES, RECORDS, SCANNED } from './layout'
import {
  OPEN_BRACE, afterSpace, afterText, closed, firstKey, keyHigh, keyLow, nextKey, packed, textAt, textBytes, textEscapes,
  upToEight,
} from './json'
import { afterNull, isNull } from './json-literal'
import { afterInteger } from './json-number'
import { agree, fromFirst, pressesOfEvents, withinBounds, writeSample } from './presses'
import { afterDevice, afterMouseEvents, afterTags, afterTextOf, afterTextOrNull, resetMetadata, nulls } from './scan-metadata'
import {
  ABSENT, afterKeyEvents, afterKeyRecords, events, forgetEvents, forgetKeys, forgetRecords, outOfOrder, records, untyped, usesT,
} from './scan-keys'
import {
  IN_AGENT, IN_AGENT_DATA, IN_DEVICE, IN_MOUSE_EVENT, IN_PATTERN, IN_TAG, afterUnknown, forgetUnknown,
} from './unknown-keys'

/** Whether the agent's type and the version were found, and the agent's mode. */
let typed: bool = false
let versioned: bool = false
let sensitive: bool = false

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

/** Reads the first `bytes` bytes of BODY; writes slot 0's sample, TIMES and SCANNED. Returns the number of key presses, 0 if declined. */
export function scan(bytes: i32): i32 {
  assert(bytes >= 0 && bytes <= BODY_BYTES_MAX)
  memory.fill(BODY + <usize>bytes, 0, 32)
  memory.fill(SCANNED, 0, 56)
  forgetKeys()
  resetMetadata()
  typed = versioned = sensitive = false
  const at = afterPattern(afterSpace(BODY))
  if (at == 0 || afterSpace(at) != BODY + <usize>bytes || !typed || !versioned) return 0
  const n = readPresses()
  store<i32>(SCANNED, n)
  store<i32>(SCANNED, sensitive ? 1 : 0, 4)
  store<i32>(SCANNED, nulls ? 1 : 0, 52)
  return n
}

function readPresses(): i32 {
  if (untyped()) return 0
  if (records > 0) fromFirst(RECORDS, records)
  let n = records
  let presses = RECORDS
  if (events != ABSENT) {
    if (outOfOrder()) return 0
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
  if (isNull(at)) return afterNoField(at)
  if (isMemberRef()) return kept(at, afterTextOf(at, 256), 16)
  if (keyHigh != 0) return afterUnknown(at, IN_PATTERN, 2)
  if (keyLow == KEVT) return afterKeyEvents(at)
  if (keyLow == K) return afterKeyRecords(at)
  if (keyLow == AGENT) return kept(at, afterAgent(at), 24)
  if (keyLow == VERSION) return afterVersion(at)
  if (keyLow == S_ID) return afterTextOf(at, 128)
  if (keyLow == T_ID) return afterInteger(at)
  if (keyLow == IP) return kept(at, afterTextOf(at, 64), 8)
  if (keyLow == TAGS) return kept(at, afterTags(at), 32)
  if (keyLow == M) return afterMouseEvents(at)
  return keyLow == D ? kept(at, afterDevice(at), 40) : afterUnknown(at, IN_PATTERN, 2)
}

function isMemberRef(): bool {
  return keyLow == MEMBER_REF && keyHigh == MEMBER_REF_END
}

/** Null makes an optional field absent, even if an earlier duplicate set it. */
function afterNoField(at: usize): usize {
  if (isMemberRef()) return kept(at, afterNull(at), 16, 0)
  if (keyHigh != 0) return afterUnknown(at, IN_PATTERN, 2)
  if (keyLow == AGENT || keyLow == VERSION) return 0
  if (keyLow == KEVT) forgetEvents()
  else if (keyLow == K) forgetRecords()
  else if (keyLow == M) forgetUnknown(IN_MOUSE_EVENT)
  else if (keyLow == IP) return kept(at, afterNull(at), 8, 0)
  else if (keyLow == TAGS) {
    forgetUnknown(IN_TAG)
    return kept(at, afterNull(at), 32, 0)
  } else if (keyLow == D) {
    forgetUnknown(IN_DEVICE)
    forgetUnknown(IN_AGENT_DATA)
    return kept(at, afterNull(at), 40, 0)
  } else if (keyLow != S_ID && keyLow != T_ID) return afterUnknown(at, IN_PATTERN, 2)
  return afterNull(at)
}

/** Writes the offset in BODY and the length (0 if null) of the value from `at` to `end` to SCANNED, for the host. */
function kept(at: usize, end: usize, to: usize, bytes: i32 = <i32>(end - at)): usize {
  store<i32>(SCANNED + to, <i32>(at - BODY))
  store<i32>(SCANNED + to, bytes, 4)
  return end
}

function afterAgent(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACE) return 0
  typed = sensitive = false
  forgetUnknown(IN_AGENT)
  for (at = firstKey(at + 1); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterUnknown(at, IN_AGENT, 3)
    else if (keyLow == TYPE) {
      at = afterTextOf(at, 64)
      typed = textBytes > 0
    } else if (keyLow == VERSION) at = afterTextOrNull(at, 64)
    else if (keyLow == MODE) at = afterMode(at)
    else at = afterUnknown(at, IN_AGENT, 3)
    if (at == 0) return 0
  }
  return closed
}

function afterMode(at: usize): usize {
  if (isNull(at)) {
    sensitive = false
    return afterNull(at)
  }
  at = afterText(at)
  if (at == 0 || textEscapes != 0) return 0
  const low = upToEight(textAt, textBytes)
  sensitive = textBytes == 9 && low == SENSITIVE && upToEight(textAt + 8, 1) == SENSITIVE_END
  return sensitive || (textBytes == 7 && low == VISIBLE) ? at : 0
}

/** `1.` number `.` number: no leading zeros, at most nine digits each. */
function afterVersion(at: usize): usize {
  at = afterText(at)
  if (at == 0 || load<u16>(textAt) != 0x2e31) return 0
  const minor = afterDigits(textAt + 2)
  versioned = load<u8>(minor) == 0x2e && afterDigits(minor + 1) == textAt + <usize>textBytes
  return versioned ? at : 0
}

/** The address past a number of one to nine digits; without one, an address where neither a point nor the end can be. */
function afterDigits(at: usize): usize {
  const start = at
  while (<u8>(load<u8>(at) - 0x30) <= 9) at++
  const digits = at - start
  return digits >= 1 && digits <= 9 && (digits == 1 || load<u8>(start) != 0x30) ? at : BODY - 1
}
