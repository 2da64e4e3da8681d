import type { Person, Session } from './dataset.js'
import { normal, type Random } from './random.js'

/**
 * Forgers whose noise has a memory: each time is the mean of the victim's times of the same key pair, in logarithms, plus a
 * residual that depends on the residuals before it. `S6pair...` forgers draw each residual anew; no person types like that.
 * Every forger has the victim's five references (a stolen store). A family is all models of one `family`.
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
  S7shrunk: { family: 'shrunk means', drift: 0.3, lag1: 0.3, cross: 0.2 },
} as const satisfies Record<string, Memory>

type Memory =
  /** Shares of the variance: a random walk over the session, the residual before, the residual of the same press's other time. */
  | {
      readonly family: 'autoregressive' | 'shrunk means'
      readonly drift: number
      readonly lag1: number
      readonly cross: number
    }
  /** Residuals of consecutive presses of one session, in blocks of this many presses. */
  | { readonly family: 'own blocks' | 'stranger blocks'; readonly of: 'victim' | 'stranger'; readonly length: number }
  /** Runs of fast presses between slow ones: the share of presses that begin a run. */
  | { readonly family: 'bursts'; readonly share: number }

export type MemoryModel = keyof typeof MEMORY_MODELS
export type Family = Memory['family']
export const MEMORY_MODEL_NAMES = Object.keys(MEMORY_MODELS) as readonly MemoryModel[]

/** Mean logarithms of a person's holds and press-press intervals by key pair, with the spread of the residuals. */
export interface Means {
  readonly of: (first: number | undefined, key: number, shrunk?: boolean) => readonly [hold: number, interval: number]
  readonly spread: readonly [hold: number, interval: number]
  /** Residuals of each session, press by press, in units of the spread. */
  readonly residuals: readonly (readonly (readonly [hold: number, interval: number])[])[]
}

const PAUSE_MS = 2000
const log = (ms: number): number => Math.log(Math.max(5, Math.min(ms, PAUSE_MS)))
const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Logarithms of the hold of press `i` and of the interval before it. */
function timesOf(session: Session, i: number): [hold: number, interval: number] {
  const [press, before] = [session[i], session[i - 1]]
  if (press === undefined) throw new RangeError(`no press ${i}`)
  return [log(press.releaseMs - press.pressMs), log(before === undefined ? PAUSE_MS : press.pressMs - before.pressMs)]
}

export function meansOf(sessions: readonly Session[]): Means {
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
export const residualsOf = (session: Session, { of, spread }: Means): Means['residuals'][number] =>
  session.slice(1).map((_, at) => {
    const [hold, interval] = timesOf(session, at + 1)
    const [holdMean, intervalMean] = of(session[at]?.key, session[at + 1]?.key ?? 0)
    return [(hold - holdMean) / spread[0], (interval - intervalMean) / spread[1]] as const
  })

/** Residuals of sessions of other people. */
export const strangersOf = (people: readonly Person[]): Means['residuals'] =>
  people
    .slice(0, 200)
    .flatMap(({ sessions }) => meansOf([...sessions.values()].slice(0, 5).map((one) => one.slice(0, 50))).residuals)

type Residual = readonly [hold: number, interval: number]

/** One forgery over the keys of `text`. `strangers` are the residuals of other people's sessions. Times are rounded to `gridMs`. */
export function forgeWithMemory(
  model: MemoryModel,
  text: Session,
  victim: Means,
  strangers: Means['residuals'],
  gridMs: number,
  random: Random,
): Session {
  const noise = noiseOf(MEMORY_MODELS[model], victim, strangers, random)
  const grid = (logMs: number): number => Math.max(5, Math.round(Math.exp(logMs) / gridMs) * gridMs)
  let now = 0
  const session = text.map(({ key }, i) => {
    const [holdMean, intervalMean] = victim.of(text[i - 1]?.key, key, MEMORY_MODELS[model].family === 'shrunk means')
    const [hold, interval] = noise()
    if (i > 0) now += grid(intervalMean + victim.spread[1] * interval)
    return { key, pressMs: now, releaseMs: now + grid(holdMean + victim.spread[0] * hold) }
  })
  return session.map((press, i) => {
    const next = session[i + 1]
    return next?.key === press.key && next.pressMs <= press.releaseMs
      ? { ...press, releaseMs: Math.max(press.pressMs + 5, next.pressMs - 20 - Math.floor(40 * random())) }
      : press
  })
}

/** Residuals press by press, in units of the spread. */
function noiseOf(memory: Memory, victim: Means, strangers: Means['residuals'], random: Random): () => Residual {
  if ('drift' in memory) return autoregressive(memory, random)
  if ('share' in memory) return bursts(memory.share, random)
  return blocks(memory.of === 'victim' ? victim.residuals : strangers, memory.length, random)
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

function blocks(sessions: Means['residuals'], length: number, random: Random): () => Residual {
  let [session, at, left]: [readonly Residual[], number, number] = [[], 0, 0]
  return () => {
    if (left === 0 || at >= session.length) {
      session = sessions[Math.floor(random() * sessions.length)] ?? []
      at = Math.floor(random() * Math.max(1, session.length - length))
      left = length
    }
    left--
    return session[at++] ?? [normal(random), normal(random)]
  }
}
