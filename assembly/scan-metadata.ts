/** Checks the fields of a typing pattern other than its keys by their schemas. Each function declines invalid input. */
import {
  OPEN_BRACE, OPEN_BRACKET, afterText, closed, firstItem, firstKey, keyHigh, keyLow, nextItem, nextKey, packed, textUnits,
} from './json'
import { afterBoolean, afterBooleanOrNull, afterNull, isNull } from './json-literal'
import { afterFinite, afterFiniteOrNull } from './json-number'
import {
  IN_AGENT_DATA, IN_DEVICE, IN_MOUSE_EVENT, IN_TAG, NOWHERE, afterUnknown, forgetUnknown,
} from './unknown-keys'

/** Bounds of a typing pattern (`src/domain/typing-pattern.ts`). */
const MOUSE_EVENTS_MAX: i32 = 2000
const FONTS_MAX: i32 = 512
const TAGS_MAX: i32 = 32
const TEXT_MAX: i32 = 1024

const K = packed('k')
const V = packed('v')
const ET = packed('et')
const TYPE = packed('type')
const S_X = packed('sX')
const S_Y = packed('sY')
const M_X = packed('mX')
const M_Y = packed('mY')
const UA = packed('ua')
const UA_DATA = packed('uaData')
const SCREEN_HEIGHT = packed('sH')
const SCREEN_WIDTH = packed('sW')
const INNER_HEIGHT = packed('iH')
const INNER_WIDTH = packed('iW')
const PXD = packed('pxd')
const DPR = packed('dpr')
const CPU_THREADS = packed('cpuThreads')
const CPU_THREADS_END = packed('cpuThreads', 8)
const TZ = packed('tz')
const COOKIES = packed('navCookiesEnabled')
/** The 17th letter is omitted: a longer name gets the same check and is at worst declined. */
const COOKIES_END = packed('navCookiesEnable', 8)
const NAV_LANGUAGE = packed('navLanguage')
const NAV_LANGUAGE_END = packed('navLanguage', 8)
const GPU = packed('gpu')
const FONTS = packed('fonts')
const ARCHITECTURE = packed('architecture')
const ARCHITECTURE_END = packed('architecture', 8)
const PLATFORM = packed('platform')
const MOBILE = packed('mobile')

/** Whether the device has a field with value null, which the host removes. */
export let nulls: bool = false

export function resetMetadata(): void {
  nulls = false
}

/** `afterTextOf` for an optional field. */
export function afterTextOrNull(at: usize, most: i32): usize {
  return isNull(at) ? afterNull(at) : afterTextOf(at, most)
}

/** A string of at most `most` UTF-16 units. */
export function afterTextOf(at: usize, most: i32): usize {
  at = afterText(at)
  return at != 0 && textUnits <= most ? at : 0
}

export function afterTags(at: usize): usize {
  forgetUnknown(IN_TAG)
  if (load<u8>(at) != OPEN_BRACKET) return 0
  let n = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || ++n > TAGS_MAX) return 0
    at = afterTag(at + 1, n == 1 ? IN_TAG : NOWHERE)
    if (at == 0) return 0
  }
  return closed
}

function afterTag(at: usize, place: i32): usize {
  let hasK = false
  let hasV = false
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterUnknown(at, place, 4)
    else if (keyLow == K) {
      at = afterTextOf(at, 64)
      hasK = true
    } else if (keyLow == V) {
      at = afterTextOf(at, 256)
      hasV = true
    } else at = afterUnknown(at, place, 4)
    if (at == 0) return 0
  }
  return hasK && hasV ? closed : 0
}

export function afterMouseEvents(at: usize): usize {
  forgetUnknown(IN_MOUSE_EVENT)
  if (load<u8>(at) != OPEN_BRACKET) return 0
  let n = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || ++n > MOUSE_EVENTS_MAX) return 0
    at = afterMouseEvent(at + 1, n == 1 ? IN_MOUSE_EVENT : NOWHERE)
    if (at == 0) return 0
  }
  return closed
}

function afterMouseEvent(at: usize, place: i32): usize {
  let hasType = false
  let hasEt = false
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterUnknown(at, place, 4)
    else if (keyLow == ET) {
      at = afterFinite(at)
      hasEt = true
    } else if (keyLow == TYPE) {
      at = afterTextOf(at, 32)
      hasType = true
    } else if (keyLow == M_X || keyLow == M_Y || keyLow == S_X || keyLow == S_Y) at = afterFiniteOrNull(at)
    else at = afterUnknown(at, place, 4)
    if (at == 0) return 0
  }
  return hasType && hasEt ? closed : 0
}

export function afterDevice(at: usize): usize {
  forgetUnknown(IN_DEVICE)
  forgetUnknown(IN_AGENT_DATA)
  if (load<u8>(at) != OPEN_BRACE) return 0
  for (at = firstKey(at + 1); at != 0; at = nextKey(at)) {
    const kind = keyHigh == 0 ? deviceField() : longDeviceField()
    at = isNull(at) && kind != UNKNOWN ? afterNoDeviceField(at, kind) : afterDeviceField(at, kind)
    if (at == 0) return 0
  }
  return closed
}

const UNKNOWN: i32 = 0
const TEXT: i32 = 1
const FINITE: i32 = 2
const BOOLEAN: i32 = 3
const TEXTS: i32 = 4
const AGENT_DATA: i32 = 5

/** Type of the field whose key was read last. */
function deviceField(): i32 {
  if (keyLow == UA || keyLow == TZ || keyLow == GPU) return TEXT
  if (keyLow == UA_DATA) return AGENT_DATA
  if (keyLow == SCREEN_HEIGHT || keyLow == SCREEN_WIDTH || keyLow == INNER_HEIGHT) return FINITE
  if (keyLow == INNER_WIDTH || keyLow == PXD || keyLow == DPR) return FINITE
  return keyLow == FONTS ? TEXTS : UNKNOWN
}

function longDeviceField(): i32 {
  if (keyLow == CPU_THREADS && keyHigh == CPU_THREADS_END) return FINITE
  if (keyLow == NAV_LANGUAGE && keyHigh == NAV_LANGUAGE_END) return TEXT
  return keyLow == COOKIES && keyHigh == COOKIES_END ? BOOLEAN : UNKNOWN
}

function afterDeviceField(at: usize, kind: i32): usize {
  if (kind == TEXT) return afterTextOf(at, TEXT_MAX)
  if (kind == FINITE) return afterFinite(at)
  if (kind == BOOLEAN) return afterBoolean(at)
  if (kind == TEXTS) return afterFonts(at)
  if (kind == UNKNOWN) return afterUnknown(at, IN_DEVICE, 3)
  forgetUnknown(IN_AGENT_DATA)
  return load<u8>(at) == OPEN_BRACE ? afterAgentData(at + 1) : 0
}

function afterNoDeviceField(at: usize, kind: i32): usize {
  nulls = true
  if (kind == AGENT_DATA) forgetUnknown(IN_AGENT_DATA)
  return afterNull(at)
}

function afterAgentData(at: usize): usize {
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    const isText = (keyLow == ARCHITECTURE && keyHigh == ARCHITECTURE_END) || (keyLow == PLATFORM && keyHigh == 0)
    nulls = nulls || isNull(at)
    if (isText) at = afterTextOrNull(at, TEXT_MAX)
    else at = keyLow == MOBILE && keyHigh == 0 ? afterBooleanOrNull(at) : afterUnknown(at, IN_AGENT_DATA, 4)
    if (at == 0) return 0
  }
  return closed
}

function afterFonts(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  let n = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (++n > FONTS_MAX) return 0
    at = afterTextOf(at, 256)
    if (at == 0) return 0
  }
  return closed
}
