import { KINDS, type Model, RESIDUAL, varianceOf } from './model.js'
import { COMPARED_MAX, type Pattern } from './pattern.js'
import type { Template } from './template.js'
import { NONE, numberPairs } from './threads.js'

const { fround } = Math

const FROM = 17
/** Row of two shares of the probe's presses: those that a reference also has, and those that two references have. */
export const SHARED = FROM + 7
const PRIOR_PRESSES = 2
const FAR = fround(1.8)
const REFERENCES_MAX = 16

/** Set by the last `align`: each probe pair's number among the references' pairs, 0 if none has it. */
export const probePairs = new Uint16Array(COMPARED_MAX)
/** The reference's press aligned with each press of the probe, a row a reference. */
const matches = new Int16Array(REFERENCES_MAX * COMPARED_MAX)
/** How many references have each press's pair. */
const held = new Uint8Array(COMPARED_MAX)

/**
 * Fills rows 17 to 24 of `stats`: each press of the probe against the press of the same key after the same key that is nearest
 * in position, in each reference and in all.
 */
export function align(model: Model, probe: Pattern, template: Template, stats: Float32Array): void {
  numberPairs(template.threads, probe, probePairs)
  match(probe, template)
  for (let kind = 0; kind < KINDS; kind++) {
    matchEach(probe, template, kind, stats)
    matchAll(model, probe, template, kind, stats)
  }
  let once = 0
  let twice = 0
  for (let i = 0; i < probe.n; i++) {
    const times = held[i] ?? 0
    if (times > 0) once++
    if (times > 1) twice++
  }
  stats[SHARED * KINDS] = once / probe.n
  stats[SHARED * KINDS + 1] = twice / probe.n
  stats[SHARED * KINDS + 2] = 0
  stats[SHARED * KINDS + 3] = 0
}

function match({ n }: Pattern, { references, threads }: Template): void {
  const { codes, firsts, nexts } = threads
  const width = codes.length + 1
  for (let i = 0; i < n; i++) held[i] = 0
  for (let r = 0; r < references.length; r++) {
    const at = references[r]?.at ?? 0
    for (let i = 0; i < n; i++) {
      let best = NONE
      let away = COMPARED_MAX
      const pair = probePairs[i] ?? 0
      // The presses of a pair are in order, so distances fall and then rise.
      for (let e = pair === 0 ? NONE : (firsts[r * width + pair] ?? NONE); e !== NONE; e = nexts[e] ?? NONE) {
        const distance = Math.abs(e - at - i)
        if (distance >= away) break
        away = distance
        best = e
      }
      matches[r * COMPARED_MAX + i] = best
      if (best !== NONE) held[i] = (held[i] ?? 0) + 1
    }
  }
}

function matchEach({ n, stride, z }: Pattern, { references }: Template, kind: number, stats: Float32Array): void {
  const row = kind * stride
  const from = kind === 0 ? 0 : 1
  let meanPlain = 0
  let leastPlain = 9
  let meanCentred = 0
  let leastCentred = 9
  for (let r = 0; r < references.length; r++) {
    const reference = references[r]
    if (reference === undefined) break
    const others = reference.z
    const otherRow = kind * reference.stride
    let distance = 0
    let sum = 0
    let squares = 0
    let weight = 0
    for (let i = from; i < n; i++) {
      const matched = matches[r * COMPARED_MAX + i] ?? NONE
      // A first press has only a hold.
      if (matched < reference.at + from) continue
      const difference = fround((z[row + i] ?? 0) - (others[otherRow + matched] ?? 0))
      const d = difference > 3 ? 3 : difference < -3 ? -3 : difference
      distance = fround(distance + Math.abs(d))
      sum = fround(sum + d)
      squares = fround(squares + fround(d * d))
      weight++
    }
    const total = weight + PRIOR_PRESSES
    const plain = fround(fround(distance + PRIOR_PRESSES) / total)
    const shift = fround(sum / total)
    const square = fround(fround(fround(squares + PRIOR_PRESSES) / total) - fround(shift * shift))
    const centred = fround(Math.sqrt(Math.max(0, square)))
    meanPlain = fround(meanPlain + plain)
    leastPlain = Math.min(leastPlain, plain)
    meanCentred = fround(meanCentred + centred)
    leastCentred = Math.min(leastCentred, centred)
  }
  const share = fround(1 / references.length)
  stats[FROM * KINDS + kind] = meanPlain * share
  stats[(FROM + 1) * KINDS + kind] = leastPlain
  stats[(FROM + 2) * KINDS + kind] = meanCentred * share
  stats[(FROM + 3) * KINDS + kind] = leastCentred
}

/** Each press against the mean and the shrunken spread of the references' presses aligned with it, two or more. */
function matchAll(model: Model, probe: Pattern, template: Template, kind: number, stats: Float32Array): void {
  const { n, stride, z } = probe
  const { references } = template
  const row = kind * stride
  const from = kind === 0 ? 0 : 1
  const prior = fround(varianceOf(model, kind, RESIDUAL) * 2)
  let weight = PRIOR_PRESSES
  let distance = PRIOR_PRESSES
  let inside = 1
  let far = 0
  for (let i = from; i < n; i++) {
    if ((held[i] ?? 0) < 2) continue
    let count = 0
    let sum = 0
    let squares = 0
    let low = 9
    let high = -9
    for (let r = 0; r < references.length; r++) {
      const matched = matches[r * COMPARED_MAX + i] ?? NONE
      const reference = references[r]
      if (matched === NONE || reference === undefined) continue
      // 0 at a first press, which counts only for the range.
      const y = reference.z[kind * reference.stride + matched] ?? 0
      if (matched >= reference.at + from) count++
      sum = fround(sum + y)
      squares = fround(squares + fround(y * y))
      low = Math.min(low, y)
      high = Math.max(high, y)
    }
    if (count < 2) continue
    const mean = fround(sum / count)
    const spread = Math.max(0, fround(squares - fround(sum * mean)))
    const variance = fround(fround(spread + prior) / (count + 1))
    const value = z[row + i] ?? 0
    const scale = fround(Math.sqrt(fround(variance + fround(variance / count))))
    const t = Math.min(3, fround(Math.abs(fround(value - mean)) / scale))
    weight++
    distance = fround(distance + t)
    if (t > FAR) far++
    if (value <= high && value >= low) inside++
  }
  stats[(FROM + 4) * KINDS + kind] = distance / weight
  stats[(FROM + 5) * KINDS + kind] = inside / weight
  stats[(FROM + 6) * KINDS + kind] = far / weight
}
