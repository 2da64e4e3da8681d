/** What a typing pattern says besides its keys: checked as its schema does, and not kept. Each declines what it refuses. */
import {
  OPEN_BRACE, OPEN_BRACKET, afterBoolean, afterNull, afterText, afterValue, closed, firstItem, firstKey, keyHigh, keyLow,
  nextItem, nextKey, packed, textUnits,
} from './json'
import { afterFinite } from './json-number'

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
/** The seventeenth letter is left out: a longer name is held to the same rule, and declined at the worst. */
const COOKIES_END = packed('navCookiesEnable', 8)
const NAV_LANGUAGE = packed('navLanguage')
const NAV_LANGUAGE_END = packed('navLanguage', 8)
const GPU = packed('gpu')
const FONTS = packed('fonts')
const ARCHITECTURE = packed('architecture')
const ARCHITECTURE_END = packed('architecture', 8)
const PLATFORM = packed('platform')
const MOBILE = packed('mobile')

/** A string of `most` UTF-16 units at the most. */
export function afterTextOf(at: usize, most: i32): usize {
  at = afterText(at)
  return at != 0 && textUnits <= most ? at : 0
}

export function afterTags(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  let n = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || ++n > TAGS_MAX) return 0
    at = afterTag(at + 1)
    if (at == 0) return 0
  }
  return closed
}

function afterTag(at: usize): usize {
  let hasK = false
  let hasV = false
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterValue(at, 4)
    else if (keyLow == K) {
      at = afterTextOf(at, 64)
      hasK = true
    } else if (keyLow == V) {
      at = afterTextOf(at, 256)
      hasV = true
    } else at = afterValue(at, 4)
    if (at == 0) return 0
  }
  return hasK && hasV ? closed : 0
}

export function afterMouseEvents(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACKET) return 0
  let n = 0
  for (at = firstItem(at + 1); at != 0; at = nextItem(at)) {
    if (load<u8>(at) != OPEN_BRACE || ++n > MOUSE_EVENTS_MAX) return 0
    at = afterMouseEvent(at + 1)
    if (at == 0) return 0
  }
  return closed
}

function afterMouseEvent(at: usize): usize {
  let hasType = false
  let hasEt = false
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    if (keyHigh != 0) at = afterValue(at, 4)
    else if (keyLow == ET) {
      at = afterFinite(at)
      hasEt = true
    } else if (keyLow == TYPE) {
      at = afterTextOf(at, 32)
      hasType = true
    } else if (keyLow == M_X || keyLow == M_Y || keyLow == S_X || keyLow == S_Y) at = afterFinite(at)
    else at = afterValue(at, 4)
    if (at == 0) return 0
  }
  return hasType && hasEt ? closed : 0
}

export function afterDevice(at: usize): usize {
  if (load<u8>(at) != OPEN_BRACE) return 0
  for (at = firstKey(at + 1); at != 0; at = nextKey(at)) {
    at = keyHigh == 0 ? afterDeviceField(at) : afterLongDeviceField(at)
    if (at == 0) return 0
  }
  return closed
}

function afterDeviceField(at: usize): usize {
  if (keyLow == UA || keyLow == TZ || keyLow == GPU) return afterTextOf(at, TEXT_MAX)
  if (keyLow == UA_DATA) return load<u8>(at) == OPEN_BRACE ? afterAgentData(at + 1) : afterNull(at)
  if (keyLow == SCREEN_HEIGHT || keyLow == SCREEN_WIDTH || keyLow == INNER_HEIGHT) return afterFinite(at)
  if (keyLow == INNER_WIDTH || keyLow == PXD || keyLow == DPR) return afterFinite(at)
  return keyLow == FONTS ? afterFonts(at) : afterValue(at, 3)
}

function afterLongDeviceField(at: usize): usize {
  if (keyLow == CPU_THREADS && keyHigh == CPU_THREADS_END) return afterFinite(at)
  if (keyLow == NAV_LANGUAGE && keyHigh == NAV_LANGUAGE_END) return afterTextOf(at, TEXT_MAX)
  return keyLow == COOKIES && keyHigh == COOKIES_END ? afterBoolean(at) : afterValue(at, 3)
}

function afterAgentData(at: usize): usize {
  for (at = firstKey(at); at != 0; at = nextKey(at)) {
    if (keyLow == ARCHITECTURE && keyHigh == ARCHITECTURE_END) at = afterTextOf(at, TEXT_MAX)
    else if (keyHigh != 0) at = afterValue(at, 4)
    else if (keyLow == PLATFORM) at = afterTextOf(at, TEXT_MAX)
    else at = keyLow == MOBILE ? afterBoolean(at) : afterValue(at, 4)
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
