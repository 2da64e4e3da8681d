/**
 * Signs of a pattern's times against the known patterns' means (`known-patterns.ts`), and signs of its rests, the times less these
 * means: their spread, tails, and memory from press to press. The signs are appended to SYNTHESIS.
 */
import { zero } from './departures'
import { CLIP, LEAST, PAIR_MEANS_AT, PAIR_PRIOR, TEMPO_CLIP, clipped, idAt, knownRoot, shrunkKey, sumsOfKey, sumsOfPair } from './known-patterns'
import { LEFT, SYNTHESIS, SYNTHESIS_MAX, countOf, f32At, keyAt, lanesAt, setF32 } from './layout'
import { naturalLogs } from './natural-log'

/** Square of the scale of the rests. */
const SCALE: f32 = 0.55
/** Lags of the slow drift. */
const DRIFT_FROM: i32 = 2
const DRIFT_TO: i32 = 7
const SCALED: usize = memory.data(16, 16)
const KEY_LEFT: usize = memory.data(2048, 16)

let at: i32 = 0

/** Makes `signs` the number of the next sign. */
export function startSigns(signs: i32): void {
  at = signs
}

/** The number of signs in SYNTHESIS. */
export function signsPut(): i32 {
  return at
}

export function put(value: f32): void {
  assert(at < SYNTHESIS_MAX)
  setF32(SYNTHESIS, at, value)
  at++
}

// @ts-ignore: decorator
@inline
export function putBoth(values: v128): void {
  put(f32x4.extract_lane(values, 0))
  put(f32x4.extract_lane(values, 1))
}

// @ts-ignore: decorator
@inline
export function leftAt(press: i32): usize {
  return LEFT + (<usize>press << 3)
}

/** Puts the signs of the slot's times against the means. Fills LEFT with its rests, centred, in their own standard deviations. */
export function compareWithMeans(slot: i32): void {
  const n = countOf(slot)
  const m = <f32>(n - 1)
  let tempo = f32x4.splat(0)
  for (let i = 1; i < n; i++) tempo = f32x4.add(tempo, clipped(v128.load64_zero(lanesAt(slot, i)), TEMPO_CLIP))
  tempo = f32x4.div(tempo, f32x4.splat(m))
  let products = f32x4.splat(0), means = products, owns = products, far = products, ratios = products, sum = products
  let known: f32 = 0
  for (let i = 1; i < n; i++) {
    const key = keyAt(slot, i)
    const time = f32x4.sub(v128.load64_zero(lanesAt(slot, i)), tempo)
    const id = <i32>load<u16>(idAt(keyAt(slot, i - 1), key))
    if (id == 0) {
      const left = clipped(f32x4.sub(time, shrunkKey(key)), CLIP)
      v128.store64_lane(leftAt(i), left, 0)
      sum = f32x4.add(sum, left)
      continue
    }
    const keySums = v128.load(sumsOfKey(key)), sums = v128.load(sumsOfPair(id))
    const count = f32x4.extract_lane(sums, 2)
    const ofKey = f32x4.div(keySums, f32x4.splat(f32x4.extract_lane(keySums, 2)))
    const plain = f32x4.div(sums, f32x4.splat(count))
    const own = clipped(f32x4.sub(time, ofKey), CLIP), mean = clipped(f32x4.sub(plain, ofKey), CLIP)
    products = f32x4.add(products, f32x4.mul(own, mean))
    means = f32x4.add(means, f32x4.mul(mean, mean))
    owns = f32x4.add(owns, f32x4.mul(own, own))
    known += 1
    const share = count / (count + 1)
    const fromPlain = f32x4.sub(time, plain)
    far = f32x4.add(far, f32x4.sqrt(f32x4.min(f32x4.splat(3), f32x4.mul(f32x4.abs(fromPlain), f32x4.splat(sqrt<f32>(share))))))
    const left = clipped(f32x4.sub(time, v128.load64_zero(sumsOfPair(id) + PAIR_MEANS_AT)), CLIP)
    const fromLess = f32x4.sub(time, f32x4.add(ofKey, f32x4.mul(f32x4.splat(share), f32x4.sub(plain, ofKey))))
    ratios = f32x4.add(ratios, likelihoods(left, i32x4.shuffle(fromPlain, fromLess, 0, 1, 4, 5), count))
    v128.store64_lane(leftAt(i), left, 0)
    sum = f32x4.add(sum, left)
  }
  const one = f32x4.splat(1)
  putBoth(f32x4.div(products, f32x4.add(means, one)))
  putBoth(f32x4.div(products, f32x4.sqrt(f32x4.add(f32x4.mul(means, owns), one))))
  putBoth(f32x4.div(f32x4.add(far, f32x4.splat(2)), f32x4.splat(known + 3)))
  const scaled = f32x4.div(ratios, f32x4.splat(sqrt<f32>(m)))
  for (let lane = 0; lane < 4; lane += 2) {
    v128.store(SCALED, scaled)
    const hold = f32At(SCALED, lane), interval = f32At(SCALED, lane + 1)
    put(hold)
    put(interval)
    put(hold + interval)
  }
  shape(n, f32x4.div(sum, f32x4.splat(m)))
}

/** Logarithms of the ratio of two densities of Cauchy's kind: about each of two other means (`others`), and about the member's (`left`). */
// @ts-ignore: decorator
@inline
function likelihoods(left: v128, others: v128, count: f32): v128 {
  const wider: f32 = 1 + <f32>1 / (count + PAIR_PRIOR)
  const one = f32x4.splat(1), both = i32x4.shuffle(left, left, 0, 1, 0, 1)
  const own = f32x4.add(one, f32x4.mul(f32x4.mul(both, both), f32x4.splat(<f32>1 / (SCALE * wider))))
  const other = f32x4.add(one, f32x4.mul(f32x4.mul(others, others), f32x4.splat(<f32>1 / SCALE)))
  return naturalLogs(f32x4.mul(f32x4.splat(sqrt<f32>(wider)), f32x4.div(own, other)))
}

/** Puts the signs of the spread and tails of LEFT. Centres and scales LEFT. */
function shape(n: i32, mean: v128): void {
  const per = f32x4.splat(<f32>1 / <f32>(n - 1))
  let roots = f32x4.splat(0), squares = roots, cubes = roots, fourths = roots
  for (let i = 1; i < n; i++) {
    const left = f32x4.sub(v128.load64_zero(leftAt(i)), mean)
    v128.store64_lane(leftAt(i), left, 0)
    const square = f32x4.mul(left, left)
    roots = f32x4.add(roots, f32x4.sqrt(f32x4.abs(left)))
    squares = f32x4.add(squares, square)
    cubes = f32x4.add(cubes, f32x4.mul(square, left))
    fourths = f32x4.add(fourths, f32x4.mul(square, square))
  }
  const variance = f32x4.add(f32x4.mul(squares, per), f32x4.splat(LEAST))
  const deviation = f32x4.sqrt(variance)
  const root = f32x4.mul(roots, per)
  putBoth(root)
  putBoth(f32x4.sub(root, knownRoot))
  putBoth(f32x4.div(f32x4.mul(cubes, per), f32x4.mul(variance, deviation)))
  putBoth(f32x4.div(f32x4.mul(fourths, per), f32x4.mul(variance, variance)))
  for (let i = 1; i < n; i++) v128.store64_lane(leftAt(i), f32x4.div(v128.load64_zero(leftAt(i)), deviation), 0)
}

/** Puts the signs of the memory of LEFT, in standard errors: within a press, to the next press, of a drift, and of the same key. */
export function rememberPresses(slot: i32): void {
  const n = countOf(slot)
  let within: f32 = 0
  for (let i = 1; i < n; i++) within += load<f32>(leftAt(i)) * load<f32>(leftAt(i), 4)
  put(within / sqrt<f32>(<f32>(n - 1)))
  const next = lagged(n, 1), crossed = laggedCrosswise(n)
  putBoth(next)
  putBoth(crossed)
  let drift = f32x4.splat(0)
  for (let lag = DRIFT_FROM; lag <= DRIFT_TO; lag++) drift = f32x4.add(drift, lagged(n, lag))
  putBoth(drift)
  zero(KEY_LEFT, 2048)
  let same = f32x4.splat(0)
  let count: f32 = 1
  for (let i = 1; i < n; i++) {
    const sums = KEY_LEFT + (<usize>keyAt(slot, i) << 4)
    const left = v128.load64_zero(leftAt(i)), before = v128.load(sums)
    same = f32x4.add(same, f32x4.mul(left, before))
    count += f32x4.extract_lane(before, 2)
    v128.store(sums, f32x4.add(before, f32x4.replace_lane(left, 2, 1)))
  }
  putBoth(f32x4.div(same, f32x4.splat(sqrt<f32>(count))))
}

function lagged(n: i32, lag: i32): v128 {
  let sum = f32x4.splat(0)
  for (let i = 1 + lag; i < n; i++) sum = f32x4.add(sum, f32x4.mul(v128.load64_zero(leftAt(i)), v128.load64_zero(leftAt(i - lag))))
  return f32x4.div(sum, f32x4.splat(sqrt<f32>(<f32>max(n - 1 - lag, 1))))
}

/** The products of a hold and the interval before it, and of an interval and the hold before it. */
function laggedCrosswise(n: i32): v128 {
  let sum = f32x4.splat(0)
  for (let i = 2; i < n; i++) {
    const left = v128.load64_zero(leftAt(i))
    sum = f32x4.add(sum, f32x4.mul(i32x4.shuffle(left, left, 1, 0, 2, 3), v128.load64_zero(leftAt(i - 1))))
  }
  return f32x4.div(sum, f32x4.splat(sqrt<f32>(<f32>max(n - 2, 1))))
}
