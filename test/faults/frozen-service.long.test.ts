import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { administration } from '../../src/wiring/open-stores.js'
import { LONG } from '../trust/figure.js'
import { type On, patiently, startTwo, type TwoServices } from './two-services.js'

/** More callers than connections to the database, so that a transaction is always running. */
const CALLERS = 16
const FREEZES = LONG ? 20 : 3
const FROZEN_MS = 9000
/**
 * Short, so that connections and their statements are new: a freeze may then fall between the description and the
 * execution of a statement.
 */
const WARM_MS = 100
/**
 * Measured: 1.2 s, after which the server ends an idle transaction; without that timeout two of three freezes never
 * ended. 2.0 s if a statement was described and not executed: one call is refused each second, and the second refusal
 * ends its connection. The rest is for a loaded machine.
 */
const FREE_WITHIN_MS = 8000
const REFUSED_PAUSE_MS = 100
/** Statements that the database has received end within this. */
const RUNNING_MS = 100

let two: TwoServices
let names = 0
beforeAll(async () => {
  two = await startTwo(null, { STORE_PATIENCE: '1' })
  // Only under a strict quota does a creation wait for the headcount.
  const strict = { mode: 'strict', accounts: 1_000_000 } as const
  await patiently(() => administration(two.stores).setQuotas(two.organizationId, strict))
}, 60_000)
afterAll(() => two.close(), 60_000)

/** Creates and deletes accounts: both wait for the organization's headcount. */
async function comeAndGo(on: On, over: () => boolean): Promise<void> {
  while (!over()) {
    const userRef = `passing-${names++}`
    for (const method of ['POST', 'DELETE']) await two.call(on, method, `/users/${userRef}`).catch(() => {})
  }
}

/** Freezes the first process while it holds the lock of the headcount: about one freeze in four finds it so. Returns the time. */
async function freezeWithLock(): Promise<number> {
  for (;;) {
    await delay(WARM_MS)
    two.services[0].process.kill('SIGSTOP')
    const from = performance.now()
    await delay(RUNNING_MS)
    const locks = await two.query(
      `select from pg_locks where locktype = 'advisory' and granted
        and classid::bigint << 32 | objid::bigint = keystride.headcount_line($1)`,
      [two.organizationId],
    )
    if (locks.length > 0) return from
    two.services[0].process.kill('SIGCONT')
  }
}

describe('a process that freezes during transactions', () => {
  it(
    `delays other processes for at most ${FREE_WITHIN_MS} ms, ${FREEZES} times`,
    async () => {
      const heldMs: number[] = []
      let held = 0
      let [served, refusedLater] = [0, 0]
      for (let n = 0; n < FREEZES; n++) {
        let over = false
        const callers = Array.from({ length: CALLERS }, () => comeAndGo(0, () => over))
        const from = await freezeWithLock()
        let freeAt = 0
        while (performance.now() - from < FROZEN_MS) {
          const { status } = await two.call(1, 'POST', `/users/stays-${names++}`)
          if (status === 201) {
            served += 1
            if (freeAt === 0) freeAt = performance.now()
          } else {
            if (freeAt === 0) held += 1
            else refusedLater += 1
            // While the circuit is open, refusals are immediate: one opening would be dozens of them.
            await delay(REFUSED_PAUSE_MS)
          }
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
      // A loaded machine answers 503 now and then.
      expect(refusedLater).toBeLessThanOrEqual(served / 10)
      expect(worst).toBeLessThan(FREE_WITHIN_MS)
    },
    FREEZES * (WARM_MS + FROZEN_MS + 20_000),
  )
})
