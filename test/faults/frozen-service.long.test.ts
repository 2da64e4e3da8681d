import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { administration } from '../../src/wiring/open-stores.js'
import { LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { type On, startTwo, type TwoServices } from '../harness/two-services.js'

/** More callers than connections to the database, so that a transaction is always running. */
const CALLERS = 16
const FREEZES = LONG ? 20 : 3
/**
 * Short, so that connections and their statements are new: a freeze may then fall between the description and the
 * execution of a statement.
 */
const WARM_MS = 100
/** Statements that the database has received end within this. */
const RUNNING_MS = 100

let two: TwoServices
let names = 0
beforeAll(async () => {
  two = await startTwo(null, { STORE_PATIENCE: '1' })
  // Only under a strict quota does a creation wait for the headcount.
  const strict = { mode: 'strict', accounts: 1_000_000 } as const
  await administration(two.stores).setQuotas(two.organizationId, strict)
})
afterAll(() => two?.close())

/** Creates and deletes accounts: both wait for the organization's headcount. */
async function comeAndGo(on: On, over: () => boolean): Promise<void> {
  while (!over()) {
    const userRef = `passing-${names++}`
    for (const method of ['POST', 'DELETE']) await two.call(on, method, `/users/${userRef}`).catch(() => {})
  }
}

/** Freezes the first process while it holds the lock of the headcount: about one freeze in four finds it so. */
async function freezeWithLock(): Promise<void> {
  await until(async () => {
    await delay(WARM_MS)
    two.services[0].process.kill('SIGSTOP')
    await delay(RUNNING_MS)
    const locks = await two.query(
      `select from pg_locks where locktype = 'advisory' and granted
        and classid::bigint << 32 | objid::bigint = keystride.headcount_lock($1)`,
      [two.organizationId],
    )
    if (locks.length === 0) two.services[0].process.kill('SIGCONT')
    return locks.length > 0
  })
}

describe('a process that freezes during transactions', () => {
  // Regression: without a timeout of idle transactions two of three freezes never ended.
  it(`delays other processes only until the database ends its transactions, ${FREEZES} times`, async () => {
    for (let n = 0; n < FREEZES; n++) {
      let over = false
      const callers = Array.from({ length: CALLERS }, () => comeAndGo(0, () => over))
      await freezeWithLock()
      await until(async () => (await two.call(1, 'POST', `/users/stays-${names++}`)).status === 201)
      over = true
      two.services[0].process.kill('SIGCONT')
      await Promise.all(callers)
      expect((await two.sure(0, 'POST', `/users/after-${n}`)).status).toBe(201)
    }
  })
})
