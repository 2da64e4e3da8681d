import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeSample } from './sample.js'
import { stepOf } from './sketch.js'

/** Share of the times that repeat in a copy, and the most that repeat in two sincere patterns. Both determine the score of one time. */
const REPEATED_IN_COPY = 0.85
const REPEATED_BY_CHANCE = 0.4
const REPEATS = Math.log(REPEATED_IN_COPY / REPEATED_BY_CHANCE)
const DIFFERS = Math.log((1 - REPEATED_IN_COPY) / (1 - REPEATED_BY_CHANCE))
/** Penalty for a press that only one of the patterns has. */
const GAP = 4
/** Steps of 2.75 % by which two times may differ. */
const TOLERANCE = 2
/** Steps tried on each side of the ratio of the median holds: up to 32 % slower or faster. */
const REACH = 10
/**
 * Score above which a part of one pattern counts as a copy of a part of the other. A chance score above s has a probability
 * near e^-s (Karlin, Altschul, 1990). The highest score of 8,500 pairs of sincere patterns of one person, half of them of one
 * passphrase typed three times, was 12. Among copies with keys dropped, pauses moved, a warp of 4 % or a jitter of 4 ms, 99 of
 * 100 reach 24.
 */
const COPIED_PART = 16

/**
 * Whether a part of sample `a`, from about 15 presses, repeats the times of a part of sample `b`. Keys are not compared, and a
 * factor on all times is removed.
 */
export const sharesPart = (a: Uint8Array, b: Uint8Array): boolean => alignmentScore(a, b) > COPIED_PART

/** `sharesPart` in turns of the event loop: two patterns of 500 presses take 27 ms, which would delay all other requests. */
export async function sharesPartInTurns(a: Uint8Array, b: Uint8Array): Promise<boolean> {
  for (const score of scores(a, b)) {
    if (score > COPIED_PART) return true
    await nextTurn()
  }
  return false
}

/**
 * Score of the best local alignment of two samples by holds and press-press intervals (Smith, Waterman, 1981); 0 if one
 * cannot be read. About 0.2 ms for 50 presses each.
 */
export const alignmentScore = (a: Uint8Array, b: Uint8Array): number => Math.max(...scores(a, b))

/** The best score with each ratio of the holds. */
function* scores(a: Uint8Array, b: Uint8Array): Generator<number> {
  const { holds: holdsA, intervals: intervalsA } = stepsOf(a)
  const { holds: holdsB, intervals: intervalsB } = stepsOf(b)
  const centre = median(holdsA) - median(holdsB)
  let above = new Float64Array(holdsB.length + 1)
  let row = new Float64Array(holdsB.length + 1)
  for (let shift = centre - REACH; shift <= centre + REACH; shift += TOLERANCE) {
    let best = 0
    above.fill(0)
    for (let i = 0; i < holdsA.length; i++) {
      const [hold, interval] = [(holdsA[i] ?? 0) - shift, (intervalsA[i] ?? 0) - shift]
      for (let j = 0; j < holdsB.length; j++) {
        let diagonal = (above[j] ?? 0) + (Math.abs(hold - (holdsB[j] ?? 0)) <= TOLERANCE ? REPEATS : DIFFERS)
        if (i > 0 && j > 0) diagonal += Math.abs(interval - (intervalsB[j] ?? 0)) <= TOLERANCE ? REPEATS : DIFFERS
        const score = Math.max(0, diagonal, (above[j + 1] ?? 0) - GAP, (row[j] ?? 0) - GAP)
        row[j + 1] = score
        if (score > best) best = score
      }
      ;[above, row] = [row, above]
    }
    yield best
  }
}

function stepsOf(sample: Uint8Array): { holds: Uint8Array; intervals: Uint8Array } {
  const presses = decodeSample(sample)?.presses ?? []
  return {
    holds: Uint8Array.from(presses, ({ pressMs, releaseMs }) => stepOf(releaseMs - pressMs)),
    intervals: Uint8Array.from(presses, ({ pressMs }, i) => stepOf(pressMs - (presses[i - 1]?.pressMs ?? pressMs))),
  }
}

const median = (all: Uint8Array): number => all.slice().sort()[all.length >> 1] ?? 0
