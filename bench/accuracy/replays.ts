import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { seededRandom } from '../../src/calibration/random.js'
import { REPLAY_NEAR_MS, type ReplayMark } from '../../src/domain/replay.js'
import { COMPARED_MAX } from '../../src/flows/attempt/replay-check.js'
import { sharesPart } from '../../src/scoring/alignment.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { pressTimes } from '../../src/scoring/read-pattern.js'
import { BOT_LIKELIHOOD, REPLAY_DISTANCE_MS } from '../../src/scoring/score.js'
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

export const patternsOf = (people: readonly Subject[], pressesMax: number): TypingSession[][] =>
  people.map(({ sessions }) =>
    [...sessions.values()].map((session) => session.slice(0, pressesMax)).filter((session) => within(session)),
  )

const same = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i])
/** Equal bands with which a mark resembles a known one, by its member (`resembles.sql`). */
const BANDS_SHARED = { 'the member': 1, another: 2 }
export type Sender = keyof typeof BANDS_SHARED
const resemble = (a: ReplayMark, b: ReplayMark, sender: Sender = 'the member'): boolean =>
  new Set(a.bands.filter((band) => b.bands.includes(band))).size >= BANDS_SHARED[sender]
interface Marked {
  readonly sample: Uint8Array
  readonly mark: ReplayMark
}
/** Decides as a verify does: a replay has exactly the same times, or a resembling mark and a small distance or a part in common. */
const known = (a: Marked, b: Marked, distanceMs: number, sender?: Sender): boolean =>
  same(a.mark.exact, b.mark.exact) ||
  (resemble(a.mark, b.mark, sender) && (distanceMs < REPLAY_NEAR_MS || sharesPart(a.sample, b.sample)))
const marked = (kernel: Kernel, session: TypingSession): Marked => ({
  sample: sampleOf(session),
  mark: kernel.mark(pressTimes(session), KEY),
})

/** Whether the replay index alone stops `sent` if it holds `seen` of a member. */
export function isReplay(kernel: Kernel, seen: TypingSession, sent: TypingSession, sender: Sender): boolean {
  const [first, again] = [marked(kernel, seen), marked(kernel, sent)]
  return known(first, again, kernel.score(again.sample, [first.sample]).replayDistanceMs, sender)
}

/** The replay index of one member: `add` compares a pattern with those added before whose marks resemble its own. */
export function createIndex(kernel: Kernel) {
  const patterns = new Map<bigint, Marked[]>()
  return {
    add(session: TypingSession): { readonly isReplay: boolean; readonly nResembling: number } {
      const own = marked(kernel, session)
      const bands = [...new Set(own.mark.bands)]
      const resembling = new Set(bands.flatMap((band) => patterns.get(band) ?? []))
      for (const band of bands) patterns.set(band, [...(patterns.get(band) ?? []), own])
      const distanceMs = (other: Marked) => kernel.score(own.sample, [other.sample]).replayDistanceMs
      const isReplay = [...resembling].some((other) => known(own, other, distanceMs(other)))
      return { isReplay: isReplay || resembling.size > COMPARED_MAX, nResembling: resembling.size }
    },
  }
}

/** `samples` replays of the patterns in rotation. */
export function countReplays(
  kernel: Kernel,
  all: readonly TypingSession[],
  how: Replaying,
  samples: number,
): ReplayCount {
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
    const [first, again] = [marked(kernel, session), marked(kernel, replay)]
    const { botLikelihood, replayDistanceMs } = kernel.score(again.sample, [first.sample])
    if (botLikelihood > BOT_LIKELIHOOD || known(first, again, replayDistanceMs)) continue
    ofAnything++
    if (replayDistanceMs >= REPLAY_DISTANCE_MS) ofReference++
  }
  return { samples, ofReference, ofAnything }
}

/** Pairs of one person's sincere patterns: how many have resembling marks, and how many count as a replay. */
export function countPairs(kernel: Kernel, people: readonly (readonly TypingSession[])[], pairsMax: number) {
  let [pairs, resembling, called] = [0, 0, 0]
  for (const sessions of people) {
    const all = sessions.map((session) => marked(kernel, session))
    all.forEach((a, i) => {
      for (const b of all.slice(i + 1, i + 1 + Math.max(0, pairsMax - pairs))) {
        kernel.read(0, a.sample)
        kernel.read(1, b.sample)
        const { replayDistanceMs } = kernel.scoreRead(1)
        pairs++
        if (resemble(a.mark, b.mark)) resembling++
        if (known(a, b, replayDistanceMs) || replayDistanceMs < REPLAY_DISTANCE_MS) called++
      }
    })
  }
  return { pairs, resembling, called }
}
