import { type PressEvidence, TIMES, type Time, type TimeEvidence } from './explained-press.js'
import { pairWords } from './explanation-words.js'
import { type ComparedPress, nameOf, pressByPress, round } from './press-by-press.js'
import type { Sample } from './sample.js'
import { type WholeSign, wholeSigns } from './whole-signs.js'

/** The contribution of one key pair of the probe, over all occurrences of the pair. */
export interface PairEvidence {
  /** `th`, `e + Space`; the key alone at the first press; `keys 3 and 4` if keys are masked. */
  readonly pair: string
  /** Occurrences in the probe. */
  readonly times: number
  /** Occurrences in all references; null if keys are masked. */
  readonly seen: number | null
  /** Sum over occurrences and kinds of time; above 0 it favours the person. */
  readonly spokeFor: number
  /** Mean press-press time over the occurrences; the hold at the first press. */
  readonly expectedMs: number
  readonly observedMs: number
  /** Mean times and summed log likelihood ratios; a first press has only a hold. */
  readonly byTime: Readonly<Partial<Record<Time, TimeEvidence>>>
  /** One sentence for people. */
  readonly words: string
}

/**
 * The evidence for and against the person, by key pair and over the whole pattern. A pair is one of many inputs that the model
 * weighs, and the four times of a pair depend on one another, so the sum is not the confidence.
 */
export interface Explanation {
  /** True if the pattern does not contain its keys. No key is named then. */
  readonly masked: boolean
  /** From the strongest evidence for the person to the strongest against. */
  readonly pairs: readonly PairEvidence[]
  /** Every press in the order of typing, with the range of the references. */
  readonly presses: readonly ComparedPress[]
  readonly whole: readonly WholeSign[]
}

/**
 * Turns the kernel's numbers (`Kernel.explain`) into sentences. `references` are the enrolled references of that score, at least one.
 * If the probe's keys are masked, presses are named by position and not grouped.
 */
export function explanationOf(explained: Float32Array, probe: Sample, references: readonly Sample[]): Explanation {
  const presses = pressesOf(explained, probe)
  const masked = probe.mode === 'sensitive'
  const seen = masked ? null : countPairs(references)
  const groups = new Map<string, { presses: PressEvidence[]; pair: string }>()
  for (const [i, press] of presses.entries()) {
    const id = masked ? String(i) : pairId(press.first, press.second)
    const group = groups.get(id) ?? { presses: [], pair: masked ? placeName(i) : pairName(press) }
    group.presses.push(press)
    groups.set(id, group)
  }
  const pairs = [...groups].map(([id, group]) => pairEvidence(group.pair, group.presses, seen && (seen.get(id) ?? 0)))
  return {
    masked,
    pairs: pairs.sort((a, b) => b.spokeFor - a.spokeFor),
    presses: pressByPress(presses, masked, references),
    whole: wholeSigns(presses, probe, references),
  }
}

function pressesOf(explained: Float32Array, { presses }: Sample): PressEvidence[] {
  return Array.from({ length: explained.length / 16 }, (_, i) => {
    const at = (row: number, kind: number) => explained[16 * i + 4 * row + kind] ?? 0
    const kinds = i === 0 ? TIMES.slice(0, 1) : TIMES
    const evidence = kinds.map((time, kind) => [
      time,
      { spokeFor: at(0, kind), expectedMs: at(1, kind), observedMs: at(2, kind) },
    ])
    return {
      // Sound: the keys are TIMES, the values as above.
      evidence: Object.fromEntries(evidence) as PressEvidence['evidence'],
      first: i === 0 ? null : (presses[i - 1]?.key ?? 0),
      second: presses[i]?.key ?? 0,
    }
  })
}

const pairId = (first: number | null, second: number): string => `${first ?? ''}>${second}`

/** Occurrences of each pair in the references, and of each key at their beginning. */
function countPairs(references: readonly Sample[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { presses } of references)
    for (const [i, { key }] of presses.entries()) {
      const id = pairId(presses[i - 1]?.key ?? null, key)
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  return counts
}

function pairName({ first, second }: PressEvidence): string {
  const [a, b] = [first === null ? '' : nameOf(first), nameOf(second)]
  if (first === null) return b
  return a.length === 1 && b.length === 1 ? a + b : `${a} + ${b}`
}
const placeName = (press: number): string => (press === 0 ? 'key 1' : `keys ${press} and ${press + 1}`)

function pairEvidence(pair: string, presses: readonly PressEvidence[], seen: number | null): PairEvidence {
  const byTime = Object.fromEntries(
    TIMES.flatMap((time) => {
      const of = presses.flatMap(({ evidence }) => evidence[time] ?? [])
      return of.length === 0 ? [] : [[time, summed(of)]]
    }),
  ) as PairEvidence['byTime'] // Sound: the keys are TIMES.
  const spokeFor = Object.values(byTime).reduce((sum, evidence) => sum + evidence.spokeFor, 0)
  const shown = byTime.pressPress ?? byTime.hold
  const key = seen === null ? null : nameOf(presses[0]?.second ?? 0)
  return {
    pair,
    times: presses.length,
    seen,
    spokeFor: round(spokeFor, 3),
    expectedMs: shown?.expectedMs ?? 0,
    observedMs: shown?.observedMs ?? 0,
    byTime,
    words: pairWords({ pair, key, seen, spokeFor, presses }),
  }
}

function summed(evidence: readonly TimeEvidence[]): TimeEvidence {
  const sum = (of: (one: TimeEvidence) => number) => evidence.reduce((all, one) => all + of(one), 0)
  return {
    spokeFor: round(
      sum((one) => one.spokeFor),
      3,
    ),
    expectedMs: round(sum((one) => one.expectedMs) / evidence.length, 1),
    observedMs: round(sum((one) => one.observedMs) / evidence.length, 1),
  }
}
