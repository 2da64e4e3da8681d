import type { Person, Session } from '../../src/calibration/dataset.js'
import { seededRandom } from '../../src/calibration/random.js'
import { REPLAY_BANDS_SHARED, REPLAY_NEAR_MS, type ReplayMark } from '../../src/domain/replay.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { pressTimes } from '../../src/scoring/read-pattern.js'
import { REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'
import { sampleOf, within } from './forgeries.js'

const SEED = 11
const KEY = new Uint8Array(32).fill(1)

/** Counts of `samples` replays that are not stopped: the original is a reference of the member, or any other seen pattern. */
interface ReplayCount {
  readonly samples: number
  readonly ofReference: number
  readonly ofAnything: number
}

/** How a captured pattern is replayed: `shiftMs` added to each time, then `scale`, then a jitter of up to `jitterMs`. */
interface Replaying {
  readonly shiftMs: number
  readonly scale: readonly [number, number]
  readonly jitterMs: number
}

/** Replays with their bars, in percent not stopped (T05 in docs/trust.md). */
export const REPLAYS: Readonly<Record<string, Replaying & { readonly bar: number }>> = {
  exact: { shiftMs: 0, scale: [1, 1], jitterMs: 0, bar: 0 },
  'constant shift': { shiftMs: 1_700_000_000_123.4, scale: [1, 1], jitterMs: 0, bar: 1 },
  'scaled 0.97 to 1.03': { shiftMs: 0, scale: [0.97, 1.03], jitterMs: 0, bar: 1 },
  'jitter 1 ms': { shiftMs: 0, scale: [1, 1], jitterMs: 1, bar: 0.1 },
  'jitter 2 ms': { shiftMs: 0, scale: [1, 1], jitterMs: 2, bar: 0.5 },
  'jitter 5 ms': { shiftMs: 0, scale: [1, 1], jitterMs: 5, bar: 5 },
}

export const patternsOf = (people: readonly Person[], pressesMax: number): Session[][] =>
  people.map(({ sessions }) =>
    [...sessions.values()].map((session) => session.slice(0, pressesMax)).filter((session) => within(session)),
  )

const same = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i])
/** Like the index: enough bands are equal. */
const resemble = (a: ReplayMark, b: ReplayMark): boolean =>
  a.bands.filter((band, i) => band === b.bands[i]).length >= REPLAY_BANDS_SHARED
/** Like the decision of a verify: the same times exactly, or resembling marks and a small distance. */
const known = (a: ReplayMark, b: ReplayMark, distanceMs: number): boolean =>
  same(a.exact, b.exact) || (resemble(a, b) && (distanceMs < REPLAY_NEAR_MS || !Number.isFinite(distanceMs)))

/** `samples` replays of the patterns in rotation. */
export function countReplays(kernel: Kernel, all: readonly Session[], how: Replaying, samples: number): ReplayCount {
  const random = seededRandom(SEED)
  const { shiftMs, scale, jitterMs } = how
  let [ofReference, ofAnything] = [0, 0]
  for (let i = 0; i < samples; i++) {
    const session = all[i % all.length] ?? []
    const factor = scale[0] + (scale[1] - scale[0]) * random()
    const moved = (ms: number): number => shiftMs + factor * ms + jitterMs * (2 * random() - 1)
    const replay = session.map(({ key, pressMs, releaseMs }) => ({
      key,
      pressMs: moved(pressMs),
      releaseMs: moved(releaseMs),
    }))
    const { botLikelihood, replayDistanceMs } = kernel.score(sampleOf(replay), [sampleOf(session)])
    const [mark, again] = [session, replay].map((one) => kernel.mark(pressTimes(one), KEY))
    if (mark === undefined || again === undefined) continue
    if (botLikelihood > 0.5 || known(mark, again, replayDistanceMs)) continue
    ofAnything++
    if (replayDistanceMs >= REPLAY_DISTANCE_MS) ofReference++
  }
  return { samples, ofReference, ofAnything }
}

/** Pairs of one person's sincere patterns: how many have resembling marks, and how many count as a replay. */
export function countPairs(kernel: Kernel, people: readonly (readonly Session[])[], pairsMax: number) {
  let [pairs, resembling, called] = [0, 0, 0]
  for (const sessions of people) {
    const marks = sessions.map((session) => kernel.mark(pressTimes(session), KEY))
    sessions.forEach((session, i) => {
      for (let j = i + 1; j < sessions.length && pairs < pairsMax; j++) {
        const [a, b] = [marks[i], marks[j]]
        if (a === undefined || b === undefined) continue
        kernel.read(0, sampleOf(session))
        kernel.read(1, sampleOf(sessions[j] ?? session))
        const { replayDistanceMs } = kernel.scoreRead(1)
        pairs++
        if (resemble(a, b)) resembling++
        if (known(a, b, replayDistanceMs) || replayDistanceMs < REPLAY_DISTANCE_MS) called++
      }
    })
  }
  return { pairs, resembling, called }
}
