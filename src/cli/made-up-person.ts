/**
 * People made up from a seed, for trying the API, for tests and for benches that have no recordings. Each has a pace, a
 * hold time per key and a habit per key pair, and types with lognormal noise and a drift from session to session. They
 * are no more real than that: their owner's patterns resemble each other more than a stranger's.
 */
export interface MadeUpPerson {
  /** One session's typing of a text, as the recorder would send it. */
  types(text: string, session: number, options?: { readonly mode?: 'visible' | 'sensitive' }): WirePattern
}

export type WirePattern = Record<string, unknown> & { kevt: Record<string, unknown>[]; k: Record<string, unknown>[] }

type Random = () => number

/** Uniform numbers in (0, 1): a linear congruential generator is random enough to tell people apart. */
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

/** A fixed number per name and person, standard normal. */
function habit(seed: number, name: string): number {
  let hash = seed >>> 0
  for (const letter of name) hash = (Math.imul(hash ^ letter.charCodeAt(0), 16777619) + 97) >>> 0
  return normal(randomFrom(hash))
}

export function person(seed: number): MadeUpPerson {
  const holdMs = 95 * Math.exp(0.22 * habit(seed, 'hold'))
  const paceMs = 185 * Math.exp(0.3 * habit(seed, 'pace'))
  return {
    types(text, session, options = {}) {
      const random = randomFrom(seed * 1000 + session)
      const drift = Math.exp(0.05 * normal(random))
      const keys: [string, number, number][] = []
      let press = 0
      for (const [i, letter] of [...text].entries()) {
        if (i > 0) {
          const pair = `${text[i - 1]}${letter}`
          const pause = random() < 0.04 ? 1.5 : 0
          press += paceMs * drift * Math.exp(0.28 * habit(seed, pair) + 0.16 * normal(random) + pause)
        }
        const hold = holdMs * Math.exp(0.15 * habit(seed, letter) + 0.12 * normal(random))
        keys.push([letter, press, press + hold])
      }
      return wirePattern(
        keys.map(([letter, p, r]) => [letter, round(p), round(r)] as const),
        options.mode ?? 'visible',
      )
    },
  }
}

/** Tenths of a millisecond, as browsers give them. */
const round = (ms: number) => Math.round(ms * 10) / 10

/** Keys as `[letter, pressMs, releaseMs]`, each letter a to z or a space, in the format of the recorder. */
export function wirePattern(
  keys: readonly (readonly [string, number, number])[],
  mode: 'visible' | 'sensitive' = 'visible',
): WirePattern {
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
