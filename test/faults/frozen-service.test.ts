import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LONG } from '../trust/figure.js'
import { type On, startTwo, type TwoServices } from './two-services.js'

/** More than there are connections to the database: some transaction is always under way. */
const CALLERS = 16
const FREEZES = LONG ? 20 : 3
const FROZEN_MS = 6000
/** Short: while connections and their statements are new, a freeze may fall between a statement's description and its execution. */
const WARM_MS = 100
/**
 * Found: 1.2 s, after which the server ends a transaction that says nothing; without that two of three freezes never came free.
 * Of a statement described and not executed 2.0 s: a call is refused each second, and the second has its connection ended.
 */
const FREE_WITHIN_MS = 3500

let two: TwoServices
let names = 0
beforeAll(async () => {
  two = await startTwo(null)
}, 60_000)
afterAll(() => two.close(), 60_000)

/** Somebody comes, and goes again: both wait for the organization's headcount. */
async function comeAndGo(on: On, over: () => boolean): Promise<void> {
  while (!over()) {
    const userRef = `passing-${names++}`
    for (const method of ['POST', 'DELETE']) await two.call(on, method, `/users/${userRef}`).catch(() => {})
  }
}

describe('a process that freezes in the middle of transactions', () => {
  it(
    `holds up the others for a moment, ${FREEZES} times`,
    async () => {
      const heldMs: number[] = []
      let held = 0
      let [served, refusedLater] = [0, 0]
      for (let n = 0; n < FREEZES; n++) {
        let over = false
        const callers = Array.from({ length: CALLERS }, () => comeAndGo(0, () => over))
        await delay(WARM_MS)
        two.services[0].process.kill('SIGSTOP')
        const from = performance.now()
        let freeAt = 0
        while (performance.now() - from < FROZEN_MS) {
          const { status } = await two.call(1, 'POST', `/users/stays-${names++}`)
          if (status === 201) {
            served += 1
            if (freeAt === 0) freeAt = performance.now()
          } else if (freeAt === 0) held += 1
          else refusedLater += 1
        }
        heldMs.push(freeAt === 0 ? Number.POSITIVE_INFINITY : freeAt - from)
        over = true
        two.services[0].process.kill('SIGCONT')
        await Promise.all(callers)
        expect((await two.sure(0, 'POST', `/users/after-${n}`)).status).toBe(201)
      }
      const worst = Math.max(...heldMs)
      console.log(
        `${held} creations refused meanwhile; free after ${heldMs.map((ms) => `${Math.round(ms)} ms`).join(', ')}`,
      )
      // A crowded machine says 503 now and then.
      expect(refusedLater).toBeLessThanOrEqual(served / 100)
      expect(worst).toBeLessThan(FREE_WITHIN_MS)
    },
    FREEZES * (WARM_MS + FROZEN_MS + 20_000),
  )
})
