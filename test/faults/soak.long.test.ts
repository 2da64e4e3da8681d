import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../src/typist/made-up-person.js'
import { type Fault, injectFault, metric, type Victim } from '../harness/fault.js'
import { figure, LONG } from '../harness/figure.js'
import { redisIsHere } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type OwnStores, postgresFaults, redisFaults, startOwnStores } from './store-faults.js'

/** Two hours in the long form. The soak is skipped without a length. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? (LONG ? 120 : 0))
const SEED = Number(process.env.SOAK_SEED ?? 24)
/** The load runs for this time before each fault, which then takes a few seconds. */
const CALM_MS = 55_000
/** Files and sockets of a process may vary by this number. */
const FILES_MAX = 5
/** Connections of a process to PostgreSQL at most, by its configuration. */
const POOL = 10

describe.runIf(MINUTES > 0 && redisIsHere())('two services under load, with a fault a minute', () => {
  let stores: OwnStores
  let lasting: Victim
  let mortal: Victim
  const start = () => startProcess({ ...stores.env, PROFILE_CACHE_MB: '4', DATABASE_POOL: String(POOL) })
  beforeAll(async () => {
    stores = await startOwnStores()
    const [one, two] = (await Promise.all([start(), start()])) as [ServiceProcess, ServiceProcess]
    const of = { apikey: stores.apikey, databaseUrl: () => stores.postgres.url }
    lasting = { ...of, name: 'lasting', service: one }
    mortal = { ...of, name: 'mortal', service: two }
  })
  afterAll(async () => {
    await Promise.all([lasting, mortal].map((one) => one?.service.kill()))
    await stores?.close()
  })

  const files = () => readdirSync(`/proc/${lasting.service.process.pid}/fd`).length
  const rssMiB = async () => Math.round((await metric(lasting.service, 'process_resident_memory_bytes')) / 2 ** 20)

  it('keep every promise, and no file', { timeout: (MINUTES + 30) * 60_000 }, async () => {
    const serviceKilled: Fault = {
      name: 'the other process: kill -9',
      noticed: 'perhaps',
      hurt: () => mortal.service.kill(),
      heal: async () => {
        mortal = { ...mortal, service: await start() }
      },
    }
    // Left out, because Redis would load files that an earlier fault has left.
    const { killedWithData, ...ofRedis } = redisFaults(stores)
    const kinds = [serviceKilled, ...Object.values(postgresFaults(stores)), ...Object.values(ofRedis)]
    const order = inSeededOrder(kinds, randomFrom(SEED))
    let before = Number.POSITIVE_INFINITY
    const rss: number[] = []
    for (let n = 0; n < MINUTES; n++) {
      const fault = order.next().value
      const found = await injectFault(fault === serviceKilled ? [lasting] : [lasting, mortal], fault, CALM_MS)
      if (n === 0) before = files()
      rss.push(await rssMiB())
      console.log(`${n + 1}/${MINUTES} ${found}; ${rss.at(-1)} MiB`)
    }
    await until(() => files() <= before + FILES_MAX + POOL)
    expect(await metric(lasting.service, 'keystride_scoring_memory_bytes')).toBeGreaterThan(0)
    const memory = `memory ${Math.min(...rss)} to ${Math.max(...rss)} MiB`
    figure('F24', `${MINUTES} faults, seed ${SEED}: every promise kept, ${memory}`, 'all kept', true)
  })
})

/** Endless rounds of the same items, each round in another order. */
function* inSeededOrder<T>(things: readonly T[], random: () => number): Generator<T, never> {
  for (;;) {
    const round = [...things]
    while (round.length > 0) {
      const [next] = round.splice(Math.floor(random() * round.length), 1)
      if (next !== undefined) yield next
    }
  }
}
