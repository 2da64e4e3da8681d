/**
 * People generated from a seed, for trying the API, for tests and for benches that have no recordings. Each has a pace, a
 * hold time per key and a habit per key pair, and types with lognormal noise and a drift between sessions. Only one property is
 * realistic: patterns of one person are more similar to each other than to a stranger's.
 */
export interface MadeUpPerson {
  /** One session's typing of a text, in the recorder's format. */
  types(text: string, session: number, options?: TypingOptions): WirePattern
  /** The same typing as plain times: `[letter, pressMs, releaseMs]`, in press order. */
  keys(text: string, session: number, tempo?: number): TypedKey[]
}

export type TypedKey = readonly [letter: string, pressMs: number, releaseMs: number]

interface TypingOptions {
  readonly mode?: 'visible' | 'sensitive'
  /** Multiplies every time; default 1. */
  readonly tempo?: number
}

export type WirePattern = Record<string, unknown> & { kevt: Record<string, unknown>[]; k: Record<string, unknown>[] }

type Random = () => number

/** Uniform numbers in (0, 1): a linear congruential generator is random enough to distinguish people. */
export function randomFrom(seed: number): Random {
  let state = (seed * 2654435761 + 12345) >>> 0
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 4294967296
  }
  for (let i = 0; i < 8; i++) next()
  return next
}

const normal = (random: Random) => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())

/** A fixed standard normal number per name and person. */
function habit(seed: number, name: string): number {
  let hash = seed >>> 0
  for (const letter of name) hash = (Math.imul(hash ^ letter.charCodeAt(0), 16777619) + 97) >>> 0
  return normal(randomFrom(hash))
}

/** Even at half the pace a pause stays within the bounds of a typing pattern. */
const FLIGHT_MAX_MS = 4500

/**
 * Spreads are standard deviations of log times. Between key pairs it is that of people on open data (0.32); within a session
 * they are small, so that the liveness check accepts the typing.
 */
export function person(seed: number): MadeUpPerson {
  const holdMs = 100 * Math.exp(0.2 * habit(seed, 'hold'))
  const paceMs = 130 * Math.exp(0.25 * habit(seed, 'pace'))
  const habits = new Map<string, number>()
  const habitOf = (name: string): number => {
    const known = habits.get(name) ?? habit(seed, name)
    habits.set(name, known)
    return known
  }
  const self: MadeUpPerson = {
    types: (text, session, { tempo = 1, mode = 'visible' } = {}) => wirePattern(self.keys(text, session, tempo), mode),
    keys(text, session, tempo = 1) {
      const random = randomFrom(seed * 1000 + session)
      const keys: [string, number, number][] = []
      const releasedMs = new Map<string, number>()
      let pace = 0.05 * normal(random)
      let press = 0
      for (const [i, letter] of [...text].entries()) {
        // The pace drifts within a session, and people pause to read the next word.
        pace = 0.85 * pace + 0.05 * normal(random)
        if (i > 0) {
          const pair = 0.32 * habitOf(`${text[i - 1]}${letter}`)
          const stops = text[i - 1] === ' ' && random() < 0.3
          const hesitates = random() < 0.05 ? 0.5 + 0.8 * random() : 0
          const flightMs = paceMs * Math.exp(pace + pair + (stops ? 1.5 : 0) + hesitates + 0.12 * normal(random))
          press += Math.min(FLIGHT_MAX_MS, Math.max(25, flightMs))
        }
        // A key can go down again only after its release.
        press = Math.max(press, (releasedMs.get(letter) ?? -40) + 40 + 20 * random())
        const hold = Math.max(25, holdMs * Math.exp(0.1 * pace + 0.15 * habitOf(letter) + 0.05 * normal(random)))
        releasedMs.set(letter, press + hold)
        keys.push([letter, press, press + hold])
      }
      return keys.map(([letter, p, r]) => [letter, round(p * tempo), round(r * tempo)] as const)
    },
  }
  return self
}

/** Tenths of a millisecond, the resolution of browsers. */
const round = (ms: number) => Math.round(ms * 10) / 10

/** Keys as `[letter, pressMs, releaseMs]`, each letter a to z or a space, in the format of the recorder. */
export function wirePattern(keys: readonly TypedKey[], mode: 'visible' | 'sensitive' = 'visible'): WirePattern {
  const begun = 1_790_000_000_000
  const record = (letter: string) =>
    letter === ' '
      ? { k: ' ', c: 'Space', kc: 32 }
      : { k: letter, c: `Key${letter.toUpperCase()}`, kc: letter.toUpperCase().charCodeAt(0) }
  const kevt = keys
    .flatMap(([letter, press, release]) => [
      { type: 'keydown', et: press, ...record(letter) },
      { type: 'keyup', et: release, ...record(letter) },
    ])
    .sort((a, b) => a.et - b.et || (a.type < b.type ? -1 : 1))
    .map((event, seqn) => ({
      ...event,
      t: begun + event.et,
      eId: 'words',
      r: false,
      l: 0,
      ctrlKey: false,
      altKey: false,
      shiftKey: false,
      metaKey: false,
      seqn,
    }))
  const k = keys.map(([letter, press, release], i) => ({
    ...record(letter),
    et: press,
    s: i === 0 ? 0 : press - (keys[i - 1]?.[1] ?? 0),
    h: release - press,
  }))
  return {
    agent: { type: 'browser', version: '1.0.0', mode },
    version: '1.0.0',
    ip: '203.0.113.7',
    tags: [{ k: 'app', v: 'test' }],
    kevt,
    k,
  }
}
