import { releasedInTime } from './attack-models.js'
import { PAUSE_MS, type Subject, type TypingSession } from './dataset.js'
import { meanOf } from './metrics.js'
import { type Drawing, normal, type Random } from './random.js'

/**
 * Forgers whose noise has a memory: each time is the mean of the victim's times of the same key pair, in logarithms, plus a
 * residual that depends on the residuals before it. `S6pair...` forgers draw each residual anew; no person types like that.
 * Every forger has the victim's five references (a stolen store).
 */
export const MEMORY_MODELS = {
  S7drift: { family: 'autoregressive', drift: 0.7, lag1: 0, cross: 0 },
  S7slow: { family: 'autoregressive', drift: 0, lag1: 0.6, cross: 0 },
  S7joint: { family: 'autoregressive', drift: 0.4, lag1: 0.3, cross: 0.3 },
  S7ownBlocks4: { family: 'own blocks', of: 'victim', length: 4 },
  S7ownBlocks12: { family: 'own blocks', of: 'victim', length: 12 },
  S7ownSession: { family: 'own blocks', of: 'victim', length: 1000 },
  S7strangerBlocks8: { family: 'stranger blocks', of: 'stranger', length: 8 },
  S7strangerSession: { family: 'stranger blocks', of: 'stranger', length: 1000 },
  S7bursts: { family: 'bursts', share: 0.15 },
  S7shrunk: { family: 'shrunk means', drift: 0.3, lag1: 0.3, cross: 0.2, shrunk: true },
} as const satisfies Record<string, Memory>

/**
 * Forgers who know more of the victim than five references, such as eight captured sign-ins. They use residuals of the captures:
 * in blocks, as a whole on shrunk means, half of them drawn anew, or drawn from their kernel density. `synthesis.ts` fits signs on them.
 */
const CAPTURE_MODELS = {
  S8blocks6: { family: 'captured blocks', of: 'victim', length: 6 },
  S8shrunkSession: { family: 'captured blocks', of: 'victim', length: 1000, shrunk: true },
  S8halfRedrawn: { family: 'captured blocks', of: 'victim', length: 1000, redrawn: 0.5 },
  S8kernelDensity: { family: 'kernel density' },
  S8kernelDensityShrunk: { family: 'kernel density', shrunk: true },
} as const satisfies Record<string, Memory>

type Memory = Noise & {
  /** The mean of a key pair is shrunk to that of its key. */
  readonly shrunk?: true
}

type Noise =
  /** Shares of the variance: of a random walk over the session, of the residual before, of the residual of the press's other time. */
  | {
      readonly family: 'autoregressive' | 'shrunk means'
      readonly drift: number
      readonly lag1: number
      readonly cross: number
    }
  /** Residuals of consecutive presses of one session, in blocks of this many presses. */
  | {
      readonly family: 'own blocks' | 'stranger blocks' | 'captured blocks'
      readonly of: 'victim' | 'stranger'
      readonly length: number
      /** Share of the residuals that are drawn anew, one at a time. */
      readonly redrawn?: number
    }
  /** The density of the victim's residuals, with the rank correlations of hold, interval and the press before (a Gaussian copula). */
  | { readonly family: 'kernel density' }
  /** Runs of fast presses between slow ones: the share of presses that begin a run. */
  | { readonly family: 'bursts'; readonly share: number }

export type MemoryModel = keyof typeof MEMORY_MODELS
export type CaptureModel = keyof typeof CAPTURE_MODELS
export type Family = Memory['family']
const MODELS: Readonly<Record<MemoryModel | CaptureModel, Memory>> = { ...MEMORY_MODELS, ...CAPTURE_MODELS }
export const CAPTURE_MODEL_NAMES = Object.keys(CAPTURE_MODELS) as readonly CaptureModel[]
export const MEMORY_MODEL_NAMES = Object.keys(MEMORY_MODELS) as readonly MemoryModel[]

/** Mean logarithms of a person's holds and press-press intervals by key pair, with the spread of the residuals. */
export interface Means {
  readonly of: (first: number | undefined, key: number, shrunk?: boolean) => readonly [hold: number, interval: number]
  readonly spread: readonly [hold: number, interval: number]
  /** Residuals of each session, press by press, in units of the spread. */
  readonly residuals: readonly (readonly (readonly [hold: number, interval: number])[])[]
}

const log = (ms: number): number => Math.log(Math.max(5, Math.min(ms, PAUSE_MS)))

/** Logarithms of the hold of press `i` and of the interval before it. */
function timesOf(session: TypingSession, i: number): [hold: number, interval: number] {
  const [press, before] = [session[i], session[i - 1]]
  if (press === undefined) throw new RangeError(`no press ${i}`)
  return [log(press.releaseMs - press.pressMs), log(before === undefined ? PAUSE_MS : press.pressMs - before.pressMs)]
}

export function meansOf(sessions: readonly TypingSession[]): Means {
  const pairs = new Map<number, [number, number][]>()
  const keys = new Map<number, [number, number][]>()
  const all: [number, number][] = []
  const put = (into: Map<number, [number, number][]>, at: number, times: [number, number]): void => {
    const held = into.get(at)
    if (held === undefined) into.set(at, [times])
    else held.push(times)
  }
  const pairOf = (first: number | undefined, key: number): number => 128 * (first ?? 0) + key
  for (const session of sessions)
    for (let i = 1; i < session.length; i++) {
      const times = timesOf(session, i)
      const key = session[i]?.key ?? 0
      all.push(times)
      put(keys, key, times)
      put(pairs, pairOf(session[i - 1]?.key, key), times)
    }
  const knownOf = (first: number | undefined, key: number): readonly [number, number][] =>
    pairs.get(pairOf(first, key)) ?? keys.get(key) ?? all
  const meansOfAll = (known: readonly [number, number][]) =>
    [meanOf(known.map(([hold]) => hold)), meanOf(known.map(([, interval]) => interval))] as const
  const of: Means['of'] = (first, key, shrunk = false) => {
    const known = knownOf(first, key)
    const own = meansOfAll(known)
    if (!shrunk) return own
    const wide = meansOfAll(keys.get(key) ?? all)
    const share = known.length / (known.length + 1)
    return [wide[0] + share * (own[0] - wide[0]), wide[1] + share * (own[1] - wide[1])]
  }
  const raw = sessions.map((session) =>
    session.slice(1).map(({ key }, at) => {
      const [hold, interval] = timesOf(session, at + 1)
      // A time is nearer to a mean of n times that contains it; a pair that occurs once is compared with its key.
      const pair = knownOf(session[at]?.key, key)
      const known = pair.length > 1 ? pair : (keys.get(key) ?? all)
      const unbiased = Math.sqrt(known.length / Math.max(1, known.length - 1))
      return [
        unbiased * (hold - meanOf(known.map(([one]) => one))),
        unbiased * (interval - meanOf(known.map(([, one]) => one))),
      ] as const
    }),
  )
  const flat = raw.flat()
  const deviation = (which: 0 | 1): number => Math.max(0.02, Math.sqrt(meanOf(flat.map((one) => one[which] ** 2))))
  const spread = [deviation(0), deviation(1)] as const
  return {
    of,
    spread,
    residuals: raw.map((one) => one.map(([hold, interval]) => [hold / spread[0], interval / spread[1]] as const)),
  }
}

/** Residuals of a session from somebody's means, press by press, in units of the spread. */
export const residualsOf = (session: TypingSession, { of, spread }: Means): Means['residuals'][number] =>
  session.slice(1).map((_, at) => {
    const [hold, interval] = timesOf(session, at + 1)
    const [holdMean, intervalMean] = of(session[at]?.key, session[at + 1]?.key ?? 0)
    return [(hold - holdMean) / spread[0], (interval - intervalMean) / spread[1]] as const
  })

/** Residuals of sessions of other people. */
export const strangersOf = (people: readonly Subject[]): Means['residuals'] =>
  people
    .slice(0, 200)
    .flatMap(({ sessions }) => meansOf([...sessions.values()].slice(0, 5).map((one) => one.slice(0, 50))).residuals)

type Residual = readonly [hold: number, interval: number]

/** One forgery over the keys of `text`. `strangers` are the residuals of other people's sessions. Times are rounded to `gridMs`. */
export function forgeWithMemory(
  model: MemoryModel | CaptureModel,
  text: TypingSession,
  { victim, strangers }: { readonly victim: Means; readonly strangers: Means['residuals'] },
  { gridMs, random }: Drawing,
): TypingSession {
  const { shrunk = false } = MODELS[model]
  const noise = noiseOf(MODELS[model], victim, strangers, random)
  const grid = (logMs: number): number => Math.max(5, Math.round(Math.exp(logMs) / gridMs) * gridMs)
  let now = 0
  const session = text.map(({ key }, i) => {
    const [holdMean, intervalMean] = victim.of(text[i - 1]?.key, key, shrunk)
    const [hold, interval] = noise()
    if (i > 0) now += grid(intervalMean + victim.spread[1] * interval)
    return { key, pressMs: now, releaseMs: now + grid(holdMean + victim.spread[0] * hold) }
  })
  return releasedInTime(session, random)
}

/** Residuals press by press, in units of the spread. */
function noiseOf(memory: Memory, victim: Means, strangers: Means['residuals'], random: Random): () => Residual {
  if ('drift' in memory) return autoregressive(memory, random)
  if ('share' in memory) return bursts(memory.share, random)
  if (!('of' in memory)) return kernelDensity(victim.residuals, random)
  return blocks(memory.of === 'victim' ? victim.residuals : strangers, memory, random)
}

function autoregressive(
  { drift, lag1, cross }: { readonly drift: number; readonly lag1: number; readonly cross: number },
  random: Random,
): () => Residual {
  // The walk returns to 0 with a half-life of 14 presses.
  const RETURN = 0.95
  let [walk, hold, interval] = [normal(random), normal(random), normal(random)]
  const own = Math.sqrt(Math.max(0, 1 - drift - lag1 ** 2))
  return () => {
    walk = RETURN * walk + Math.sqrt(1 - RETURN ** 2) * normal(random)
    interval = lag1 * interval + own * normal(random)
    hold =
      lag1 * hold + own * (cross * normal(random) + Math.sqrt(1 - cross ** 2) * normal(random)) + cross * 0.3 * interval
    return [hold + 0.5 * Math.sqrt(drift) * walk, interval + Math.sqrt(drift) * walk]
  }
}

function bursts(share: number, random: Random): () => Residual {
  let left = 0
  return () => {
    if (left > 0) left--
    else if (random() < share) left = 3 + Math.floor(5 * random())
    const fast = left > 0 ? -0.7 : 0.4
    return [0.9 * normal(random) + 0.3 * fast, 0.75 * normal(random) + fast]
  }
}

function blocks(
  sessions: Means['residuals'],
  { length, redrawn = 0 }: { readonly length: number; readonly redrawn?: number },
  random: Random,
): () => Residual {
  const all = sessions.flat()
  const drawn = (which: 0 | 1): number => all[Math.floor(random() * all.length)]?.[which] ?? normal(random)
  let [session, at, left]: [readonly Residual[], number, number] = [[], 0, 0]
  return () => {
    if (left === 0 || at >= session.length) {
      session = sessions[Math.floor(random() * sessions.length)] ?? []
      at = Math.floor(random() * Math.max(1, session.length - length))
      left = length
    }
    left--
    const [hold, interval] = session[at++] ?? [normal(random), normal(random)]
    if (redrawn === 0) return [hold, interval]
    return [random() < redrawn ? drawn(0) : hold, random() < redrawn ? drawn(1) : interval]
  }
}

/** How residuals spread, and how they depend on one another. */
interface Density {
  readonly holdAt: Quantiles
  readonly intervalAt: Quantiles
  /** Correlations of normal numbers: with the press before, and between the new shares of hold and interval. */
  readonly holdLag: number
  readonly intervalLag: number
  readonly joint: number
}

function densityOf(sessions: Means['residuals']): Density {
  const all = sessions.flat()
  const before = sessions.flatMap((session) => session.slice(1).map((one, i) => [one, session[i] ?? one] as const))
  const holdLag = rankCorrelation(before.map(([[now], [then]]) => [now, then]))
  const intervalLag = rankCorrelation(before.map(([[, now], [, then]]) => [now, then]))
  const joint =
    (rankCorrelation(all) * (1 - holdLag * intervalLag)) / Math.sqrt((1 - holdLag ** 2) * (1 - intervalLag ** 2))
  return {
    holdAt: quantiles(all.map(([hold]) => hold)),
    intervalAt: quantiles(all.map(([, interval]) => interval)),
    ...{ holdLag, intervalLag, joint: Math.max(-1, Math.min(1, joint)) },
  }
}

/** A density takes longer than a forgery, and a forger makes many forgeries from one density. */
const densities = new WeakMap<Means['residuals'], Density>()

/** Two normal numbers a press, correlated with each other and with those of the press before, as quantiles of the residuals. */
function kernelDensity(sessions: Means['residuals'], random: Random): () => Residual {
  const density = densities.get(sessions) ?? densityOf(sessions)
  densities.set(sessions, density)
  const { holdAt, intervalAt, holdLag, intervalLag, joint } = density
  const [holdNew, intervalNew] = [Math.sqrt(1 - holdLag ** 2), Math.sqrt(1 - intervalLag ** 2)]
  let [hold, interval] = [normal(random), normal(random)]
  return () => {
    const shared = normal(random)
    interval = intervalLag * interval + intervalNew * shared
    hold = holdLag * hold + holdNew * (joint * shared + Math.sqrt(1 - joint ** 2) * normal(random))
    return [holdAt(hold, random), intervalAt(interval, random)]
  }
}

type Quantiles = (standard: number, random: Random) => number

/** Silverman's rule of thumb for the width of a kernel. */
const SILVERMAN = 0.9
/** The logistic curve nearest to the normal distribution function: within 0.01. */
const LOGISTIC = 1.702

/** Maps a normal number to a draw from the kernel density of `values` at the same quantile. */
function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((a, b) => a - b)
  const spread = Math.sqrt(meanOf(sorted.map((value) => value ** 2)) - meanOf(sorted) ** 2)
  const width = SILVERMAN * spread * sorted.length ** -0.2
  return (standard, random) => {
    const share = 1 / (1 + Math.exp(-LOGISTIC * standard))
    return (sorted[Math.floor(share * sorted.length)] ?? standard) + width * normal(random)
  }
}

/** The correlation of the normal numbers whose ranks correlate like these pairs' (Pearson 1907, from Spearman's). */
function rankCorrelation(pairs: readonly Residual[]): number {
  const ranks = ([0, 1] as const).map((which) => {
    const order = pairs.map((_, i) => i).sort((a, b) => (pairs[a]?.[which] ?? 0) - (pairs[b]?.[which] ?? 0))
    const rankOf = new Float64Array(pairs.length)
    order.forEach((at, rank) => {
      rankOf[at] = rank - (pairs.length - 1) / 2
    })
    return rankOf
  })
  const [first = new Float64Array(), second = new Float64Array()] = ranks
  const sum = first.reduce((all, rank, i) => all + rank * (second[i] ?? 0), 0)
  const whole = first.reduce((all, rank) => all + rank * rank, 0)
  return whole === 0 ? 0 : Math.max(-0.95, Math.min(0.95, 2 * Math.sin((Math.PI / 6) * (sum / whole))))
}
