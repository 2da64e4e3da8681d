import { PAUSE_MS, type TypingSession } from './dataset.js'
import { meanOf } from './metrics.js'
import { type Drawing, normal, type Random, shuffled } from './random.js'

/**
 * How one time is generated from a set of recorded times: their mean, their mean with uniform jitter, a uniform draw between
 * their outer twentieths, a draw from a normal or log-normal distribution with their mean and spread, one of them, or one of
 * them with the other time of its press.
 */
type Law = 'mean' | 'jitter' | 'uniform' | 'normal' | 'lognormal' | 'histogram' | 'pieces'

/** Times of the set: all, those of the same key, or those of the same key after the same key. */
type TimesOf = 'all' | 'key' | 'pair'

/** Origin of the times: the population, the victim's enrolled references (a stolen store), other captures of the victim (a key logger). */
type Stolen = 'population' | 'references' | 'captures'

interface Forgery {
  readonly law: Law
  readonly scope: TimesOf
  readonly of: Stolen
  /** Each copied time is moved by up to this, ms. */
  readonly jitterMs?: number
}

/**
 * Synthetic typists. S1 to S4 know one mean and spread, S5 the typing of people, S6 that of the victim. The methods of the
 * KSDSLD data set (Gonzalez and others, 2021: AVERAGE, UNIFORM, GAUSSIAN, HISTOGRAM, NSHISTOGRAM) draw each time from the
 * victim's times in the context of the previous keys; here they are `S6pair...`, and `S6...` without a context. A splice copies the
 * hold and the flight of one recorded press together. `Other` uses patterns that nobody enrolled.
 * S2, all zero, is outside the bounds of a pattern.
 */
export const ATTACK_MODELS = {
  S1: { law: 'mean', scope: 'all', of: 'population' },
  S3: { law: 'jitter', scope: 'all', of: 'population' },
  S4: { law: 'normal', scope: 'all', of: 'population' },
  S4log: { law: 'lognormal', scope: 'all', of: 'population' },
  S4key: { law: 'lognormal', scope: 'key', of: 'population' },
  S5histogram: { law: 'histogram', scope: 'all', of: 'population' },
  S5digraph: { law: 'normal', scope: 'pair', of: 'population' },
  S5digraphLog: { law: 'lognormal', scope: 'pair', of: 'population' },
  S5pieces: { law: 'pieces', scope: 'pair', of: 'population' },
  S6average: { law: 'mean', scope: 'key', of: 'references' },
  S6uniform: { law: 'uniform', scope: 'all', of: 'references' },
  S6gaussian: { law: 'normal', scope: 'all', of: 'references' },
  S6histogram: { law: 'histogram', scope: 'all', of: 'references' },
  S6keyHistogram: { law: 'histogram', scope: 'key', of: 'references' },
  S6pairAverage: { law: 'mean', scope: 'pair', of: 'references' },
  S6pairUniform: { law: 'uniform', scope: 'pair', of: 'references' },
  S6pairGaussian: { law: 'normal', scope: 'pair', of: 'references' },
  S6pairLognormal: { law: 'lognormal', scope: 'pair', of: 'references' },
  S6pairHistogram: { law: 'histogram', scope: 'pair', of: 'references' },
  S6splice: { law: 'pieces', scope: 'pair', of: 'references' },
  S6spliceJittered: { law: 'pieces', scope: 'pair', of: 'references', jitterMs: 4 },
  S6pairGaussianOther: { law: 'normal', scope: 'pair', of: 'captures' },
  S6spliceOther: { law: 'pieces', scope: 'pair', of: 'captures' },
} as const satisfies Record<string, Forgery>
export type AttackModel = keyof typeof ATTACK_MODELS
export const ATTACK_MODEL_NAMES = Object.keys(ATTACK_MODELS) as readonly AttackModel[]

/** A recorded press of a forger: its hold, and the time since the previous press, NaN if unknown. */
interface Piece {
  readonly holdMs: number
  readonly flightMs: number
}

/** A forger's presses of one context, with the moments that the laws use. */
interface Drawer {
  readonly pieces: readonly Piece[]
  readonly hold: Moments
  readonly flight: Moments
}

interface Moments {
  readonly sorted: readonly number[]
  readonly mean: number
  readonly deviation: number
  readonly logMean: number
  readonly logDeviation: number
}

/** A forger's stock, by context; null for contexts that were never captured. */
export interface Captured {
  readonly all: Drawer
  readonly byKey: (key: number) => Drawer | null
  readonly byPair: (first: number, second: number) => Drawer | null
}

function momentsOf(values: readonly number[]): Moments {
  const spread = (of: readonly number[], mean: number): number =>
    Math.sqrt(meanOf(of.map((value) => (value - mean) ** 2)))
  const logs = values.map((value) => Math.log(Math.max(value, 5)))
  const [mean, logMean] = [meanOf(values), meanOf(logs)]
  const sorted = [...values].sort((a, b) => a - b)
  return { sorted, mean, deviation: spread(values, mean), logMean, logDeviation: spread(logs, logMean) }
}

function drawerOf(pieces: readonly Piece[]): Drawer {
  const flights = pieces.map(({ flightMs }) => flightMs).filter((ms) => !Number.isNaN(ms))
  return { pieces, hold: momentsOf(pieces.map(({ holdMs }) => holdMs)), flight: momentsOf(flights) }
}

/** Builds a forger's stock from sessions. Flights over two seconds are pauses, so their presses have no flight. */
export function capturedFrom(sessions: readonly TypingSession[]): Captured {
  const all: Piece[] = []
  const keys = new Map<number, Piece[]>()
  const pairs = new Map<number, Piece[]>()
  const put = (into: Map<number, Piece[]>, at: number, piece: Piece): void => {
    const held = into.get(at)
    if (held === undefined) into.set(at, [piece])
    else held.push(piece)
  }
  for (const session of sessions) {
    session.forEach(({ key, pressMs, releaseMs }, i) => {
      const before = session[i - 1]
      const flightMs = before === undefined ? Number.NaN : pressMs - before.pressMs
      const piece = {
        holdMs: Math.min(releaseMs - pressMs, 1000),
        flightMs: flightMs < PAUSE_MS ? flightMs : Number.NaN,
      }
      all.push(piece)
      if (Number.isNaN(piece.flightMs)) return
      put(keys, key, piece)
      put(pairs, 128 * (before?.key ?? 0) + key, piece)
    })
  }
  const lookedUp = (from: Map<number, Piece[]>) => {
    const made = new Map<number, Drawer>()
    return (at: number): Drawer | null => {
      const pieces = from.get(at)
      if (pieces === undefined) return null
      const drawer = made.get(at) ?? drawerOf(pieces)
      made.set(at, drawer)
      return drawer
    }
  }
  const byPair = lookedUp(pairs)
  return { all: drawerOf(all), byKey: lookedUp(keys), byPair: (first, second) => byPair(128 * first + second) }
}

const oneOf = <T>(values: readonly T[], random: Random): T | undefined => values[Math.floor(random() * values.length)]

/** With fewer observations the spread is taken from the whole stock, as a share of the mean. */
const SPREAD_MIN = 3

function drawn(
  law: Exclude<Law, 'pieces'>,
  { own, all }: { readonly own: Moments; readonly all: Moments },
  jitter: number,
  random: Random,
): number {
  const known = own.sorted.length >= SPREAD_MIN
  const at = (share: number): number => own.sorted[Math.floor(own.sorted.length * share)] ?? own.mean
  switch (law) {
    case 'mean':
      return own.mean
    case 'jitter':
      return own.mean * (1 + jitter * (2 * random() - 1))
    case 'uniform':
      return at(0.05) + (at(0.95) - at(0.05)) * random()
    case 'normal':
      return own.mean + (known ? own.deviation : (own.mean * all.deviation) / all.mean / 2) * normal(random)
    case 'lognormal':
      return Math.exp(own.logMean + (known ? own.logDeviation : all.logDeviation / 2) * normal(random))
    case 'histogram':
      return oneOf(own.sorted, random) ?? own.mean
  }
}

/**
 * One synthetic session over the keys of `text`, with times rounded to `gridMs` and within a pattern's bounds. A context that
 * was never captured backs off: pair, key, all.
 */
export function synthesize(
  attackModel: AttackModel,
  text: TypingSession,
  stock: Captured,
  { gridMs, random }: Drawing,
): TypingSession {
  const { law, scope, jitterMs = 0 }: Forgery = ATTACK_MODELS[attackModel]
  const jitter = 0.05 + 0.6 * random()
  const grid = (ms: number): number => Math.round(ms / gridMs) * gridMs
  const moved = (ms: number): number => ms + jitterMs * (2 * random() - 1)
  let now = 0
  const session = text.map(({ key }, i) => {
    const first = text[i - 1]?.key
    const ofPair = scope === 'pair' && first !== undefined ? stock.byPair(first, key) : null
    const drawer = ofPair ?? (scope === 'all' ? null : stock.byKey(key)) ?? stock.all
    const piece = law === 'pieces' ? oneOf(drawer.pieces, random) : undefined
    const holdMs =
      piece?.holdMs ??
      drawn(law === 'pieces' ? 'histogram' : law, { own: drawer.hold, all: stock.all.hold }, jitter, random)
    const flightMs = Number.isNaN(piece?.flightMs ?? Number.NaN)
      ? drawn(law === 'pieces' ? 'histogram' : law, { own: drawer.flight, all: stock.all.flight }, jitter, random)
      : (piece?.flightMs ?? 0)
    if (i > 0) now += Math.max(grid(moved(flightMs)), 5)
    return { key, pressMs: now, releaseMs: now + Math.max(grid(moved(holdMs)), 5) }
  })
  return releasedInTime(session, random)
}

/** The session as typed on one keyboard: a key is released before it is pressed again. */
export function releasedInTime(session: TypingSession, random: Random): TypingSession {
  return session.map((press, i) => {
    const next = session[i + 1]
    return next?.key === press.key && next.pressMs <= press.releaseMs
      ? { ...press, releaseMs: Math.max(press.pressMs + 5, next.pressMs - 20 - Math.floor(40 * random())) }
      : press
  })
}

/**
 * A change that simulates another keyboard, timer or way of typing for sincere sessions: another speed, shorter holds, one key at
 * a time, a coarse timer, another key layout, no Shift. It preserves the properties of a hand (habits per key, tails) and
 * destroys those of the fitting data alone, so that the bot signs do not classify one-handed typing of an odd phrase as a machine's.
 * A person's references and probes get the same change.
 */
export function disturbance(random: Random): (session: TypingSession) => TypingSession {
  const scale = Math.exp(0.8 * random() - 0.1)
  const holdScale = scale * Math.exp(0.6 * random() - 0.5)
  const gridMs = [1, 1, 5, 8, 15.6][Math.floor(random() * 5)] ?? 1
  const places = Array.from({ length: 26 }, (_, i) => i + 1)
  const turned = random() < 0.5 ? places : shuffled(places, random)
  const keepAll = random() < 0.5
  const oneAtATime = random() < 0.4
  const grid = (ms: number): number => Math.round(ms / gridMs) * gridMs
  return (session) =>
    (keepAll ? session : session.filter(({ key }) => key === 0 || (key >= 1 && key <= 26))).map(
      ({ key, pressMs, releaseMs }, i, kept) => {
        const nextMs = oneAtATime ? (kept[i + 1]?.pressMs ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
        const holdMs = Math.min(releaseMs - pressMs, Math.max(0.8 * (nextMs - pressMs), 20))
        return {
          key: turned[key - 1] ?? key,
          pressMs: grid(scale * pressMs),
          releaseMs: grid(scale * pressMs + holdScale * holdMs),
        }
      },
    )
}
