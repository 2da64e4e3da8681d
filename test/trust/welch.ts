import { randomInt } from 'node:crypto'

/** Welch's t of two classes of times. */
interface WelchResult {
  readonly t: number
  /** Samples of each class without the slowest. */
  readonly samples: number
  readonly meansUs: readonly [number, number]
}

type Call = () => Promise<unknown> | unknown

/** Below this |t| no difference is shown. By chance alone |t| exceeds it once in 150,000 times. */
export const T_MOST = 4.5
/** Share of the pairs that is left out: those with the slowest call of either class, which other processes delayed. */
const LEFT_OUT = 0.1

/** Times two calls, `samples` times each, in pairs of random order, after samples / 10 pairs of warm-up. */
export async function welch(calls: readonly [Call, Call], samples: number): Promise<WelchResult> {
  const pairs: (readonly [number, number])[] = []
  const timed = async (call: Call) => {
    const begun = process.hrtime.bigint()
    await call()
    return Number(process.hrtime.bigint() - begun) / 1000
  }
  for (let i = -samples / 10; i < samples; i++) {
    const swapped = randomInt(2) === 1
    const first = await timed(calls[swapped ? 1 : 0])
    const second = await timed(calls[swapped ? 0 : 1])
    if (i >= 0) pairs.push(swapped ? [second, first] : [first, second])
  }
  const kept = pairs.sort((a, b) => Math.max(...a) - Math.max(...b)).slice(0, Math.ceil(samples * (1 - LEFT_OUT)))
  const [a, b] = [moments(kept.map(([one]) => one)), moments(kept.map(([, other]) => other))]
  const t = (a.mean - b.mean) / Math.sqrt((a.variance + b.variance) / kept.length)
  return { t, samples: kept.length, meansUs: [a.mean, b.mean] }
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1) }
}

export const welchText = (what: string, { t, samples, meansUs: [a, b] }: WelchResult): string =>
  `${what}: t ${t.toFixed(2)} over 2 x ${samples.toLocaleString('en')} (${a.toFixed(1)} and ${b.toFixed(1)} us)`
