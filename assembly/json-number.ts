/**
 * JSON numbers as the exact doubles of JSON.parse. Mantissa and power of ten are read as integers. If both are exact
 * doubles, one division rounds once (Clinger, "How to read floating point numbers accurately", PLDI 1990). Up to 19
 * digits over at most 10^27 are divided as integers and rounded by the remainder. Other numbers are declined: recorders do not
 * write them.
 */
import { afterNull, isNull } from './json-literal'

/** Mantissa and powers of ten up to these are exact doubles. */
const EXACT_MAX: u64 = 1 << 53
const EXACT_POWER_MAX: i32 = 22
const POWERS_OF_TEN = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
  1e22,
])
/** 19 digits are below 2^64. */
const DIGITS_MAX: i32 = 19
/** 5^27 is the last power below 2^64. */
const POWER_MAX: i32 = 27
const SAFE_INTEGER_MAX: f64 = 9007199254740991
/** Fifteen digits and a point, or sixteen digits: an integer is rounded only once. */
const PLAIN_BYTES: usize = 16
/** A number without exponent and with fewer digits is finite. */
const FINITE_DIGITS: i32 = 300

/** State of the number read last. `digits` does not count a lone zero before the point. */
let negative: bool = false
let mantissa: u64 = 0
let digits: i32 = 0
let exponent: i32 = 0
let hasExponent: bool = false

/** Any number of the grammar. */
export function afterNumber(at: usize): usize {
  negative = load<u8>(at) == 0x2d
  if (negative) at++
  const start = at
  let digit = load<u8>(at) - 0x30
  if (digit > 9) return 0
  let w: u64 = 0
  let count = 0
  if (digit == 0) digit = load<u8>(++at) - 0x30
  else {
    do {
      w = w * 10 + <u64>digit
      digit = load<u8>(++at) - 0x30
    } while (digit <= 9)
    count = <i32>(at - start)
  }
  if (digit <= 9) return 0
  let fraction = 0
  if (load<u8>(at) == 0x2e) {
    const point = ++at
    digit = load<u8>(at) - 0x30
    if (digit > 9) return 0
    do {
      w = w * 10 + <u64>digit
      digit = load<u8>(++at) - 0x30
    } while (digit <= 9)
    fraction = <i32>(at - point)
  }
  mantissa = w
  digits = count + fraction
  exponent = -fraction
  hasExponent = (load<u8>(at) | 0x20) == 0x65
  return hasExponent ? afterExponent(at + 1) : at
}

function afterExponent(at: usize): usize {
  const sign = load<u8>(at)
  if (sign == 0x2b || sign == 0x2d) at++
  let digit = load<u8>(at) - 0x30
  if (digit > 9) return 0
  let power = 0
  do {
    power = min(power * 10 + <i32>digit, 100000)
    digit = load<u8>(++at) - 0x30
  } while (digit <= 9)
  exponent += sign == 0x2d ? -power : power
  return at
}

/** A finite number whose value is not needed. */
export function afterFinite(at: usize): usize {
  at = afterNumber(at)
  return at == 0 || (!hasExponent && digits < FINITE_DIGITS) || !isNaN(double()) ? at : 0
}

/** Value of the last number that `afterDouble` or `afterInteger` read. */
export let value: f64 = 0

/** A number whose value is needed. */
export function afterDouble(at: usize): usize {
  const end = afterPlainNumber(at)
  if (end != 0) return end
  at = afterNumber(at)
  value = double()
  return isNaN(value) ? 0 : at
}

/** `afterDouble` for an optional field: null gives NaN. */
export function afterDoubleOrNull(at: usize): usize {
  if (!isNull(at)) return afterDouble(at)
  value = NaN
  return afterNull(at)
}

export function afterFiniteOrNull(at: usize): usize {
  return isNull(at) ? afterNull(at) : afterFinite(at)
}

export function afterIntegerOrNull(at: usize): usize {
  if (!isNull(at)) return afterInteger(at)
  value = NaN
  return afterNull(at)
}

/** A number for an integer field: whole, and a safe integer. */
export function afterInteger(at: usize): usize {
  const end = afterPlainNumber(at)
  if (end != 0 && trunc(value) == value && value <= SAFE_INTEGER_MAX) return end
  at = afterNumber(at)
  value = double()
  return trunc(value) == value && abs(value) <= SAFE_INTEGER_MAX ? at : 0
}

/**
 * Fast path for recorders: at most `PLAIN_BYTES` bytes, without sign or exponent, so the value is rounded only once. Returns 0
 * for any other number, which `afterNumber` reads.
 */
// @ts-ignore: decorator
@inline
function afterPlainNumber(at: usize): usize {
  const start = at
  let digit = load<u8>(at) - 0x30
  if (digit > 9) return 0
  let w: u64 = 0
  do {
    w = w * 10 + <u64>digit
    digit = load<u8>(++at) - 0x30
  } while (digit <= 9)
  if (load<u8>(start) == 0x30 && at != start + 1) return 0
  const point = at
  if (load<u8>(at) == 0x2e) {
    digit = load<u8>(++at) - 0x30
    if (digit > 9) return 0
    do {
      w = w * 10 + <u64>digit
      digit = load<u8>(++at) - 0x30
    } while (digit <= 9)
  }
  if (at - start > PLAIN_BYTES || (load<u8>(at) | 0x20) == 0x65) return 0
  const wanted = <f64>w
  value = at == point ? wanted : wanted / load<f64>(POWERS_OF_TEN + ((at - point - 1) << 3))
  return at
}

/** The double of the number read last; NaN if it is declined. */
function double(): f64 {
  if (digits > DIGITS_MAX) return NaN
  let wanted = <f64>mantissa
  if (mantissa != 0 && exponent != 0) {
    const power = abs(exponent)
    if (mantissa <= EXACT_MAX && power <= EXACT_POWER_MAX) {
      const scale = load<f64>(POWERS_OF_TEN + (<usize>power << 3))
      wanted = exponent > 0 ? wanted * scale : wanted / scale
    } else {
      if (exponent > 0 || power > POWER_MAX) return NaN
      wanted = quotient(mantissa, power)
    }
  }
  return negative ? -wanted : wanted
}

/** w / 10^power, rounded once: w / 5^power to 64 bits and a remainder, then powers of two, which are exact. */
function quotient(w: u64, power: i32): f64 {
  let five: u64 = 1
  for (let i = 0; i < power; i++) five *= 5
  const wZeros = clz(w)
  const fiveZeros = clz(five)
  const divisor = five << fiveZeros
  let high = w << wZeros
  let low: u64 = 0
  let scale = <i32>fiveZeros - <i32>wZeros - 64 - power
  if (high >= divisor) {
    low = high << 63
    high >>= 1
    scale++
  }
  let bits = divide(high, low, divisor)
  const zeros = clz(bits)
  bits <<= zeros
  scale -= <i32>zeros
  // Keeps 53 bits; half a unit of the rest is 1 << 10.
  const rest = (bits & 0x7ff) | (remainder == 0 ? 0 : 1)
  let kept = bits >> 11
  if (rest > 0x400 || (rest == 0x400 && (kept & 1) == 1)) kept++
  // A double with exponent scale + 11, far from both ends of the range.
  return <f64>kept * reinterpret<f64>(<u64>(scale + 11 + 1023) << 52)
}

let remainder: u64 = 0

/** 128 bits by 64, high < divisor, the divisor's top bit set: two digits of 32 bits (Knuth, TAOCP 2, 4.3.1 D). */
function divide(high: u64, low: u64, divisor: u64): u64 {
  const divisorHigh = divisor >> 32
  const divisorLow = divisor & 0xffffffff
  const q1 = digitOf(high, low >> 32, divisor, divisorHigh, divisorLow)
  const middle = ((high << 32) | (low >> 32)) - q1 * divisor
  const q0 = digitOf(middle, low & 0xffffffff, divisor, divisorHigh, divisorLow)
  remainder = ((middle << 32) | (low & 0xffffffff)) - q0 * divisor
  return (q1 << 32) + q0
}

/** One digit of the quotient: the first estimate is at most two too large. */
// @ts-ignore: decorator
@inline
function digitOf(high: u64, next: u64, divisor: u64, divisorHigh: u64, divisorLow: u64): u64 {
  let q = high / divisorHigh
  let rest = high - q * divisorHigh
  while (q > 0xffffffff || q * divisorLow > ((rest << 32) | next)) {
    q--
    rest += divisorHigh
    if (rest > 0xffffffff) break
  }
  return q
}
