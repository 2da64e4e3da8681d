/**
 * A reader of JSON bytes (RFC 8259) that builds no values. Every function takes the address where an element begins and returns
 * the address past it, or 0 if it declines the element. Accepted text is JSON in valid UTF-8 exactly as JSON.parse accepts it.
 * To leave the error message to the contract's reader, these are also declined: nesting over eight levels, the keys that pollute
 * prototypes, keys with \u escapes, and NUL or a lone surrogate in any string. The caller appends at least 16 zero bytes to the
 * text. No rule accepts a zero byte, so reading stops at the end.
 */
import { afterBoolean, afterNull, isNull } from './json-literal'
import { afterNumber } from './json-number'

const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c
const COMMA: u8 = 0x2c
export const OPEN_BRACE: u8 = 0x7b
export const OPEN_BRACKET: u8 = 0x5b
/** Bound of a request body; the outermost value is level 1. */
const NESTING_MAX: i32 = 8

/** The string read last: address of its first byte, length in bytes, length in UTF-16 units as JavaScript counts. */
export let textAt: usize = 0
export let textBytes: i32 = 0
export let textUnits: i32 = 0
/** Bit 0: the string has escapes, so its bytes are not its content. Bit 1: \u is among them. */
export let textEscapes: i32 = 0

/** The key read last: its first eight bytes and the next eight, little-endian; zero after its end and if it has escapes. */
export let keyLow: u64 = 0
export let keyHigh: u64 = 0

/** Address past the object or array whose last member was read; 0 if it was declined. */
export let closed: usize = 0

/** The first eight (with `from` 8 the next eight) ASCII characters of a name in the format of `keyLow` and `keyHigh`. */
export function packed(name: string, from: i32 = 0): u64 {
  let bytes: u64 = 0
  for (let i = min(name.length, from + 8) - 1; i >= from; i--) bytes = (bytes << 8) | <u64>name.charCodeAt(i)
  return bytes
}

/** Whether the next `bytes` bytes, one to eight, equal `wanted` in the format of `packed`. */
// @ts-ignore: decorator
@inline
export function follows(at: usize, wanted: u64, bytes: u64): bool {
  return (load<u64>(at) ^ wanted) << (64 - (bytes << 3)) == 0
}

const PROTO = packed('__proto__')
const PROTO_END = packed('__proto__', 8)
const PROTOTYPE = packed('prototype')
const PROTOTYPE_END = packed('prototype', 8)
const CONSTRUCTOR = packed('constructor')
const CONSTRUCTOR_END = packed('constructor', 8)

// @ts-ignore: decorator
@inline
export function afterSpace(at: usize): usize {
  return load<u8>(at) > 0x20 ? at : afterSpaces(at)
}

function afterSpaces(at: usize): usize {
  while (isSpace(load<u8>(at))) at++
  return at
}

// @ts-ignore: decorator
@inline
function isSpace(byte: u8): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}

/** Up to eight bytes from an address, zero past `bytes`. */
// @ts-ignore: decorator
@inline
export function upToEight(at: usize, bytes: i32): u64 {
  if (bytes >= 8) return load<u64>(at)
  return bytes <= 0 ? 0 : load<u64>(at) & (((<u64>1) << (<u64>bytes << 3)) - 1)
}

/** Reads a string from its opening quote. Nearly all strings are short and have no escapes: one 16-byte load finds their end. */
// @ts-ignore: decorator
@inline
export function afterText(at: usize): usize {
  const stops = stopsIn(at + 1)
  const length = <usize>ctz(stops)
  if (load<u8>(at) != QUOTE || stops == 0 || load<u8>(at + 1 + length) != QUOTE) return afterAnyText(at)
  textAt = at + 1
  textBytes = textUnits = <i32>length
  textEscapes = 0
  return at + 2 + length
}

function afterAnyText(at: usize): usize {
  if (load<u8>(at) != QUOTE) return 0
  const start = at + 1
  let surplus = 0
  textEscapes = 0
  at = afterPlain(start)
  for (let byte = load<u8>(at); byte != QUOTE; byte = load<u8>(at)) {
    const width = byte == BACKSLASH ? escapeWidth(at) : utf8Width(at)
    if (width == 0) return 0
    // Four bytes of UTF-8, and two paired escapes, are two UTF-16 units; any other character or escape is one.
    surplus += byte >= 0xf0 ? 2 : width == PAIR_WIDTH ? PAIR_WIDTH - 2 : width - 1
    at = afterPlain(at + <usize>width)
  }
  textAt = start
  textBytes = <i32>(at - start)
  textUnits = textBytes - surplus
  return at + 1
}

/** The address past ASCII text without escapes. */
// @ts-ignore: decorator
@inline
function afterPlain(at: usize): usize {
  let stops = stopsIn(at)
  while (stops == 0) {
    at += 16
    stops = stopsIn(at)
  }
  return at + <usize>ctz(stops)
}

/** A bit for each of the next 16 bytes that is a quote, a backslash, a control character or not ASCII (negative as i8). */
// @ts-ignore: decorator
@inline
function stopsIn(at: usize): i32 {
  const chunk = v128.load(at)
  const ends = v128.or(i8x16.eq(chunk, i8x16.splat(QUOTE)), i8x16.eq(chunk, i8x16.splat(BACKSLASH)))
  return i8x16.bitmask(v128.or(ends, i8x16.lt_s(chunk, i8x16.splat(0x20))))
}

/** Bytes of two escapes that form a surrogate pair. */
const PAIR_WIDTH: i32 = 12

/** Bytes of an escape, or of two that form a surrogate pair; 0 if invalid, NUL or a lone surrogate. */
function escapeWidth(at: usize): i32 {
  textEscapes |= 1
  const byte = load<u8>(at, 1)
  if (byte != 0x75) {
    const known = byte == QUOTE || byte == BACKSLASH || byte == 0x2f || byte == 0x62 || byte == 0x66
    return known || byte == 0x6e || byte == 0x72 || byte == 0x74 ? 2 : 0
  }
  textEscapes |= 2
  const unit = unitOf(at + 2)
  if (unit <= 0) return 0
  if ((unit & 0xf800) != 0xd800) return 6
  return unit < 0xdc00 && load<u16>(at, 6) == 0x755c && (unitOf(at + 8) & 0xfc00) == 0xdc00 ? PAIR_WIDTH : 0
}

/** The UTF-16 unit of four hexadecimal digits; -1 if one is not a digit. */
function unitOf(at: usize): i32 {
  let unit = 0
  for (let i: usize = 0; i < 4; i++) {
    const byte = load<u8>(at + i)
    const digit: u8 = byte - 0x30
    const letter: u8 = (byte | 0x20) - 0x61
    if (digit > 9 && letter > 5) return -1
    unit = (unit << 4) | <i32>(digit <= 9 ? digit : letter + 10)
  }
  return unit
}

/** Bytes of one character that is not ASCII; 0 if it is not valid UTF-8 (Unicode, table 3-7). */
function utf8Width(at: usize): i32 {
  const lead = load<u8>(at)
  const second = load<u8>(at, 1)
  if (lead < 0xc2 || lead > 0xf4) return 0
  if (lead < 0xe0) return (second & 0xc0) == 0x80 ? 2 : 0
  let least: u8 = 0x80
  let most: u8 = 0xbf
  if (lead == 0xe0) least = 0xa0
  else if (lead == 0xed) most = 0x9f
  else if (lead == 0xf0) least = 0x90
  else if (lead == 0xf4) most = 0x8f
  if (second < least || second > most || (load<u8>(at, 2) & 0xc0) != 0x80) return 0
  if (lead < 0xf0) return 3
  return (load<u8>(at, 3) & 0xc0) == 0x80 ? 4 : 0
}

/** Reads the first key of an object, from past its brace. Returns the address of the key's value; at the end 0, with `closed` set. */
export function firstKey(at: usize): usize {
  at = afterSpace(at)
  closed = 0
  if (load<u8>(at) != 0x7d) return afterKey(at)
  closed = at + 1
  return 0
}

/** Reads the key after a value; returns as `firstKey` does. */
// @ts-ignore: decorator
@inline
export function nextKey(at: usize): usize {
  // Nearly every key is `,"`, one to eight characters and `":`. One load replaces several.
  const width = <u64>ctz(stopsIn(at + 2))
  if (load<u16>(at) == 0x222c && width - 1 < 8 && load<u16>(at + 2 + <usize>width) == 0x3a22) {
    keyLow = load<u64>(at, 2) & (u64.MAX_VALUE >> (64 - (width << 3)))
    keyHigh = 0
    return afterSpace(at + 4 + <usize>width)
  }
  return nextAnyKey(at)
}

function nextAnyKey(at: usize): usize {
  at = afterSpace(at)
  closed = 0
  const byte = load<u8>(at)
  if (byte == COMMA) return afterKey(afterSpace(at + 1))
  if (byte == 0x7d) closed = at + 1
  return 0
}

/** The address of the first item of an array, from past its bracket; at the end 0, with `closed` set. */
export function firstItem(at: usize): usize {
  at = afterSpace(at)
  closed = 0
  if (load<u8>(at) != 0x5d) return at
  closed = at + 1
  return 0
}

/** The address of the item after an item; returns as `firstItem` does. */
export function nextItem(at: usize): usize {
  at = afterSpace(at)
  closed = 0
  const byte = load<u8>(at)
  if (byte == COMMA) return afterSpace(at + 1)
  if (byte == 0x5d) closed = at + 1
  return 0
}

function afterKey(at: usize): usize {
  at = afterText(at)
  if (at == 0) return 0
  keyLow = upToEight(textAt, textBytes)
  keyHigh = upToEight(textAt + 8, textBytes - 8)
  if (textEscapes != 0) {
    if (textEscapes & 2) return 0
    // The other escapes represent characters that no known name contains.
    keyLow = 0
    keyHigh = 0
  } else if (keyHigh != 0 && pollutesPrototype()) return 0
  at = afterSpace(at)
  return load<u8>(at) == 0x3a ? afterSpace(at + 1) : 0
}

/** A longer key with the same beginning has bytes other than zero after it, so it does not match. */
function pollutesPrototype(): bool {
  return (
    (keyLow == PROTO && keyHigh == PROTO_END) ||
    (keyLow == PROTOTYPE && keyHigh == PROTOTYPE_END) ||
    (keyLow == CONSTRUCTOR && keyHigh == CONSTRUCTOR_END)
  )
}

/** Any value; `level` is its own level if it is an object or array. */
export function afterValue(at: usize, level: i32): usize {
  const byte = load<u8>(at)
  if (byte == QUOTE) return afterText(at)
  if (byte == OPEN_BRACE || byte == OPEN_BRACKET) return level > NESTING_MAX ? 0 : afterMembers(at + 1, byte, level + 1)
  if (byte == 0x74 || byte == 0x66) return afterBoolean(at)
  return isNull(at) ? afterNull(at) : afterNumber(at)
}

function afterMembers(at: usize, open: u8, level: i32): usize {
  if (open == OPEN_BRACE) {
    for (at = firstKey(at); at != 0; at = nextKey(at)) {
      at = afterValue(at, level)
      if (at == 0) return 0
    }
  } else {
    for (at = firstItem(at); at != 0; at = nextItem(at)) {
      at = afterValue(at, level)
      if (at == 0) return 0
    }
  }
  return closed
}
