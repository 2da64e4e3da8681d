/**
 * Single precision in JavaScript. The trees were fitted on the kernel's numbers and compare them with thresholds: a sum with
 * other rounding is now and then on the other side of one. So every input of a tree is rounded exactly where the kernel rounds
 * it.
 */
const { fround } = Math

const float = new Float32Array(1)
const bits = new Int32Array(float.buffer)

/** Reciprocals near the middle of each sixteenth of 0.7 to 1.4, chosen for a precise logarithm. */
const RECIPROCALS = Float64Array.of(
  1.398907162146528,
  1.3403141896637998,
  1.286432210124115,
  1.2367150214269895,
  1.1906977166711752,
  1.1479821020556429,
  1.1082251448272158,
  1.0711297413057381,
  1.036437278977283,
  1,
  0.9492859795739057,
  0.8951049428609004,
  0.8476821620351103,
  0.8050314851692001,
  0.7664671008843108,
  0.731428603316328,
)
const LOGARITHMS = RECIPROCALS.map((reciprocal) => -Math.log(reciprocal))

/**
 * Natural logarithm of a positive, normal number to single precision. A rounded Math.log differs in one of some 2,500 cases, and
 * a score takes a hundred or more logarithms. Source of the numbers: Arm's optimized routines, which the kernel's compiler uses.
 */
export function log32(x: number): number {
  float[0] = x
  const word = bits[0] ?? 0
  const offset = word - 0x3f330000
  const part = (offset >> 19) & 15
  bits[0] = word - (offset & ~0x7fffff)
  const r = (float[0] ?? 0) * (RECIPROCALS[part] ?? 0) - 1
  const r2 = r * r
  const series = 0.333456765744066 * r - 0.4999997485802103 - 0.25089342214237154 * r2
  return fround(series * r2 + ((LOGARITHMS[part] ?? 0) + (offset >> 23) * Math.LN2 + r))
}

const STEPS = 32
const POWERS = Float64Array.from({ length: STEPS }, (_, i) => 2 ** (i / STEPS))
/** Adding and subtracting it rounds to the nearest integer, to even on a tie. */
export const ROUNDER = 1.5 * 2 ** 52

/** Exponential, to single precision, of 0 to 20: the range of the logarithms of times in ms. Source: as for `log32`. */
export function exp32(x: number): number {
  const steps = (STEPS / Math.LN2) * x
  const whole = steps + ROUNDER - ROUNDER
  const r = steps - whole
  const line = (0.6931471806916203 / STEPS) * r + 1
  const curve = (0.05550361559341535 / STEPS ** 3) * r + 0.2402284522445722 / STEPS ** 2
  return fround((line + curve * (r * r)) * ((POWERS[whole & 31] ?? 0) * (1 << (whole >> 5))))
}

const LN2 = fround(Math.LN2)
const NINTH = fround(1 / 9)
const SEVENTH = fround(1 / 7)
const FIFTH = fround(1 / 5)
const THIRD = fround(1 / 3)

/** Natural logarithm of a positive, normal number as the kernel computes it for four lanes: the series of 2 artanh. */
export function logSeries(x: number): number {
  float[0] = x
  const word = bits[0] ?? 0
  const exponent = (word - 0x3f3504f3) >> 23
  bits[0] = word - (exponent << 23)
  const mantissa = float[0] ?? 0
  const s = fround(fround(mantissa - 1) / fround(mantissa + 1))
  const s2 = fround(s * s)
  let series = fround(fround(NINTH * s2) + SEVENTH)
  series = fround(fround(series * s2) + FIFTH)
  series = fround(fround(series * s2) + THIRD)
  series = fround(fround(series * s2) + 1)
  return fround(fround(exponent * LN2) + fround(fround(s * series) * 2))
}
