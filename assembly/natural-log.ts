/**
 * The natural logarithm of four numbers at once, with the bits of `Mathf.log`: the same operations in the same order, in double
 * precision. Source of the method and the table: Arm Optimized Routines, logf (MIT license), which the standard library uses, too.
 */

/** Bits of the start of the range to which a mantissa is reduced, about 0.7. */
const RANGE: i32 = 0x3f330000
const LN2 = reinterpret<f64>(0x3fe62e42fefa39ef)
const A0 = reinterpret<f64>(0xbfd00ea348b88334)
const A1 = reinterpret<f64>(0x3fd5575b0be00b6a)
const A2 = reinterpret<f64>(0xbfdffffef20a4123)

/** For each sixteenth of the range: f64 1 / c and f64 log(c), with c near its middle. */
const TABLE: usize = memory.data<u64>([
  0x3ff661ec79f8f3be, 0xbfd57bf7808caade,
  0x3ff571ed4aaf883d, 0xbfd2bef0a7c06ddb,
  0x3ff49539f0f010b0, 0xbfd01eae7f513a67,
  0x3ff3c995b0b80385, 0xbfcb31d8a68224e9,
  0x3ff30d190c8864a5, 0xbfc6574f0ac07758,
  0x3ff25e227b0b8ea0, 0xbfc1aa2bc79c8100,
  0x3ff1bb4a4a1a343f, 0xbfba4e76ce8c0e5e,
  0x3ff12358f08ae5ba, 0xbfb1973c5a611ccc,
  0x3ff0953f419900a7, 0xbfa252f438e10c1e,
  0x3ff0000000000000, 0,
  0x3fee608cfd9a47ac, 0x3faaa5aa5df25984,
  0x3feca4b31f026aa0, 0x3fbc5e53aa362eb4,
  0x3feb2036576afce6, 0x3fc526e57720db08,
  0x3fe9c2d163a1aa2d, 0x3fcbc2860d224770,
  0x3fe886e6037841ed, 0x3fd1058bc8a07ee1,
  0x3fe767dcf5534862, 0x3fd4043057b6ee09,
], 16)

/** Natural logarithms of four positive, normal numbers. */
// @ts-ignore: decorator
@inline
export function naturalLogs(x: v128): v128 {
  const reduced = i32x4.sub(x, i32x4.splat(RANGE))
  const exponent = i32x4.shr_s(reduced, 23)
  const mantissa = i32x4.sub(x, v128.and(reduced, i32x4.splat(0xff800000)))
  const place = v128.and(i32x4.shr_u(reduced, 15), i32x4.splat(0xf0))
  const low = twoLogs(mantissa, exponent, i32x4.extract_lane(place, 0), i32x4.extract_lane(place, 1))
  const highMantissa = i64x2.shuffle(mantissa, mantissa, 1, 1)
  const highExponent = i64x2.shuffle(exponent, exponent, 1, 1)
  const high = twoLogs(highMantissa, highExponent, i32x4.extract_lane(place, 2), i32x4.extract_lane(place, 3))
  return i64x2.shuffle(low, high, 0, 2)
}

/** Natural logarithms of the two lower lanes; `first` and `second` are bytes from TABLE. */
// @ts-ignore: decorator
@inline
function twoLogs(mantissa: v128, exponent: v128, first: i32, second: i32): v128 {
  const a = v128.load(TABLE + <usize>first)
  const b = v128.load(TABLE + <usize>second)
  const r = f64x2.sub(f64x2.mul(f64x2.promote_low_f32x4(mantissa), i64x2.shuffle(a, b, 0, 2)), f64x2.splat(1))
  const whole = f64x2.add(i64x2.shuffle(a, b, 1, 3), f64x2.mul(f64x2.convert_low_i32x4_s(exponent), f64x2.splat(LN2)))
  const r2 = f64x2.mul(r, r)
  const series = f64x2.add(f64x2.add(f64x2.mul(f64x2.splat(A1), r), f64x2.splat(A2)), f64x2.mul(f64x2.splat(A0), r2))
  return f32x4.demote_f64x2_zero(f64x2.add(f64x2.mul(series, r2), f64x2.add(whole, r)))
}
