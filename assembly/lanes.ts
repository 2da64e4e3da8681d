/** Operations on four lanes that WebAssembly has no instruction for. Basic arithmetic only, so the bits are the same on every machine. */

// @ts-ignore: decorator
@inline
export function clampLanes(value: v128, low: f32, high: f32): v128 {
  return f32x4.max(f32x4.splat(low), f32x4.min(f32x4.splat(high), value))
}

// @ts-ignore: decorator
@inline
export function scaled(value: v128, by: f32): v128 {
  return f32x4.mul(value, f32x4.splat(by))
}

/** 1 in lanes with a above b, else 0. */
// @ts-ignore: decorator
@inline
export function above(a: v128, b: v128): v128 {
  return v128.and(f32x4.gt(a, b), f32x4.splat(1))
}

// @ts-ignore: decorator
@inline
export function sumLanes(value: v128): f32 {
  return f32x4.extract_lane(value, 0) + f32x4.extract_lane(value, 1) + f32x4.extract_lane(value, 2) + f32x4.extract_lane(value, 3)
}

/**
 * Natural logarithm of positive, normal numbers: splits exponent and mantissa, then sums the series of 2 artanh to the ninth
 * power. On mantissas from 0.707 to 1.414 the error is less than a unit in the second-last place.
 */
// @ts-ignore: decorator
@inline
export function logLanes(x: v128): v128 {
  // 0x3f3504f3 is the square root of a half: it leaves a mantissa between that and the square root of two.
  const exponent = i32x4.shr_s(i32x4.sub(x, i32x4.splat(0x3f3504f3)), 23)
  const mantissa = i32x4.sub(x, i32x4.shl(exponent, 23))
  const one = f32x4.splat(1)
  const s = f32x4.div(f32x4.sub(mantissa, one), f32x4.add(mantissa, one))
  const s2 = f32x4.mul(s, s)
  let series = f32x4.splat(<f32>(1.0 / 9.0))
  series = f32x4.add(f32x4.mul(series, s2), f32x4.splat(<f32>(1.0 / 7.0)))
  series = f32x4.add(f32x4.mul(series, s2), f32x4.splat(<f32>(1.0 / 5.0)))
  series = f32x4.add(f32x4.mul(series, s2), f32x4.splat(<f32>(1.0 / 3.0)))
  series = f32x4.add(f32x4.mul(series, s2), one)
  const logMantissa = f32x4.mul(f32x4.mul(s, series), f32x4.splat(2))
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(exponent), f32x4.splat(<f32>0.6931471805599453)), logMantissa)
}
