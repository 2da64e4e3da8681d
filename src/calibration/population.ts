import type { TypingSession } from './dataset.js'
import { FEATURE_KINDS, KEY_KINDS, type ModelParts } from './model-file.js'

/** A session's log times from the kernel, a row for each feature kind, with their keys. */
export interface RawSession {
  readonly keys: Uint8Array
  readonly rows: readonly Float32Array[]
}

/** With fewer events a key pair uses its second key's statistics. No measurement behind it. */
const EVENTS_MIN = 30
/** Weight, in events, of the statistics of the back-off context. No measurement behind it. */
const PRIOR_EVENTS = 15

class Moments {
  n = 0
  sum = 0
  squares = 0
  add(value: number): void {
    this.n++
    this.sum += value
    this.squares += value * value
  }
  mean(): number {
    return this.n === 0 ? 0 : this.sum / this.n
  }
  variance(): number {
    return this.n === 0 ? 1 : Math.max(this.squares / this.n - this.mean() ** 2, 0)
  }
}

type Contexts = Pick<ModelParts, 'nContexts' | 'holdContexts' | 'pairContexts' | 'means' | 'inverseSds'>

/**
 * Mean and spread of every feature kind for each key and key pair that is frequent in the population, with the map
 * from key and pair to context after back-off: pair, second key, all.
 */
export function fitPopulation(sessions: readonly RawSession[]): Contexts {
  const pairs = Array.from({ length: KEY_KINDS * KEY_KINDS }, () => 0)
  const seconds = Array.from({ length: KEY_KINDS }, () => 0)
  const holds = Array.from({ length: KEY_KINDS }, () => 0)
  for (const { keys } of sessions) {
    keys.forEach((key, i) => {
      holds[key] = (holds[key] ?? 0) + 1
      if (i === 0) return
      const pair = (keys[i - 1] ?? 0) * KEY_KINDS + key
      pairs[pair] = (pairs[pair] ?? 0) + 1
      seconds[key] = (seconds[key] ?? 0) + 1
    })
  }
  let next = 1
  const holdContexts = Uint16Array.from(holds, (n) => (n >= EVENTS_MIN ? next++ : 0))
  const nHolds = next
  next = 1
  const secondContexts = seconds.map((n) => (n >= EVENTS_MIN ? next++ : 0))
  const ofPair = (pair: number): number => secondContexts[pair % KEY_KINDS] ?? 0
  const backOff = [0]
  const pairContexts = Uint16Array.from(pairs, (n, pair) => {
    if (n < EVENTS_MIN) return ofPair(pair)
    backOff[next] = ofPair(pair)
    return next++
  })
  const nContexts = Math.max(next, nHolds)
  return {
    nContexts,
    holdContexts,
    pairContexts,
    ...statistics(sessions, { nContexts, holdContexts, pairContexts, backOff }),
  }
}

interface Numbering {
  readonly nContexts: number
  readonly holdContexts: Uint16Array
  readonly pairContexts: Uint16Array
  /** Pair context to second-key context; undefined or 0 if there is no such context. */
  readonly backOff: readonly number[]
}

function statistics(sessions: readonly RawSession[], numbering: Numbering): Pick<ModelParts, 'means' | 'inverseSds'> {
  const { nContexts, holdContexts, pairContexts, backOff } = numbering
  const means = new Float32Array(FEATURE_KINDS * nContexts)
  const inverseSds = new Float32Array(FEATURE_KINDS * nContexts)
  for (let kind = 0; kind < FEATURE_KINDS; kind++) {
    const moments = Array.from({ length: nContexts }, () => new Moments())
    for (const { keys, rows } of sessions) {
      rows[kind]?.forEach((value, i) => {
        moments[0]?.add(value)
        const key = keys[kind === 0 ? i : i + 1] ?? 0
        const own = kind === 0 ? (holdContexts[key] ?? 0) : (pairContexts[(keys[i] ?? 0) * KEY_KINDS + key] ?? 0)
        if (own === 0) return
        moments[own]?.add(value)
        const behind = kind === 0 ? 0 : (backOff[own] ?? 0)
        if (behind !== 0) moments[behind]?.add(value)
      })
    }
    // Second keys have lower numbers than pairs, so a back-off context is final before its pairs.
    const mean = new Float64Array(nContexts)
    const variance = new Float64Array(nContexts)
    moments.forEach((of, context) => {
      const behind = kind === 0 ? 0 : (backOff[context] ?? 0)
      const prior = context === 0 ? 0 : PRIOR_EVENTS
      const weight = of.n + prior || 1
      mean[context] = (of.sum + prior * (mean[behind] ?? 0)) / weight
      const priorVariance = context === 0 ? of.variance() : (variance[behind] ?? 1)
      variance[context] = (of.n * of.variance() + prior * priorVariance) / weight
      means[kind * nContexts + context] = mean[context] ?? 0
      inverseSds[kind * nContexts + context] = 1 / Math.max(Math.sqrt(variance[context] ?? 1), 0.05)
    })
  }
  return { means, inverseSds }
}

/** The keys of the first presses of a session. */
export const keysOf = (session: TypingSession, pressesMax: number): Uint8Array =>
  Uint8Array.from(session.slice(0, pressesMax), ({ key }) => key)
