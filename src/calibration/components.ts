import { FEATURE_KINDS, KEY_KINDS, type ModelParts } from './model-file.js'
import type { RawSession } from './population.js'

/** People for the estimate of the variances: more people change only the third digit (no measurement behind it). */
const PEOPLE_MAX = 250

/** Sum of products of pairs of events of one person that share the same properties. */
interface Products {
  sum: number
  n: number
}
const none = (): Products => ({ sum: 0, n: 0 })
const meanOf = ({ sum, n }: Products): number => (n === 0 ? 0 : sum / n)

/**
 * Variance components of the per-user model by moments. The mean product of two events of one person in different
 * sessions is the variance of everything that the events share (user; and first key, second key, pair if these are equal). In
 * one session the mean product includes the variance of the session's offset. `people` hold normalised rows. Source: Henderson's method,
 * as in Searle, Casella and McCulloch (1992), chapter 5.
 */
export function fitComponents(people: readonly (readonly RawSession[])[]): ModelParts['components'] {
  const out = new Float32Array(FEATURE_KINDS * 8)
  for (let kind = 0; kind < FEATURE_KINDS; kind++) {
    const [apart, sameFirst, sameSecond, samePair, sameSession, self] = [none(), none(), none(), none(), none(), none()]
    for (const sessions of people.slice(0, PEOPLE_MAX)) {
      const events = sessions.flatMap(({ keys, rows }, session) =>
        Array.from(rows[kind] ?? [], (z, i) => {
          const second = keys[kind === 0 ? i : i + 1] ?? 0
          const first = kind === 0 ? (i === 0 ? KEY_KINDS : (keys[i - 1] ?? 0)) : (keys[i] ?? 0)
          return { z, i, session, first, second }
        }),
      )
      for (let a = 0; a < events.length; a++) {
        const x = events[a]
        if (x === undefined) continue
        add(self, x.z * x.z)
        for (let b = a + 1; b < events.length; b++) {
          const y = events[b]
          if (y === undefined) continue
          const product = x.z * y.z
          const first = x.first === y.first
          const second = x.second === y.second
          if (x.session === y.session) {
            if (!first && !second && y.i - x.i > 2) add(sameSession, product)
          } else if (first && second) add(samePair, product)
          else if (second) add(sameSecond, product)
          else if (first) add(sameFirst, product)
          else add(apart, product)
        }
      }
    }
    const total = meanOf(self)
    const user = Math.max(meanOf(apart), 0.01)
    const first = Math.max(meanOf(sameFirst) - user, 0.001)
    const second = Math.max(meanOf(sameSecond) - user, 0.001)
    const pair = Math.max(meanOf(samePair) - user - first - second, 0.001)
    const session = Math.max(meanOf(sameSession) - user, 0.001)
    const residual = Math.max(total - user - first - second - pair - session, 0.05)
    out.set([user, first, second, pair, session, residual, total, 0], kind * 8)
  }
  return out
}

function add(products: Products, value: number): void {
  products.sum += value
  products.n++
}
