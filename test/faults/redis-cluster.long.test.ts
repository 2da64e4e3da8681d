import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { indexKey } from '../../src/storage/redis/session.js'
import { deployment } from '../harness/deployment.js'
import { stranger } from '../harness/enrolled.js'
import { countBy, injectFault, type Victim, wellBehaved } from '../harness/fault.js'
import { LONG } from '../harness/figure.js'
import { type Answer, type Ask, client, newPerson } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { clusterIsPossible, type RedisCluster, startRedisCluster } from '../servers/redis-cluster.js'

const BUDGET = 3

describe.skipIf(!clusterIsPossible())('a service on a Redis Cluster of six nodes', () => {
  let fresh: FreshDatabase
  let cluster: RedisCluster
  let victim: Victim
  let organizationId: string
  let ask: Ask & { end(): void }
  /** A second process, which refuses nothing because a reply is late on a loaded machine. */
  let patient: ServiceProcess
  let calm: Ask & { end(): void }

  beforeAll(async () => {
    ;[fresh, cluster] = await Promise.all([freshDatabase(), startRedisCluster()])
    const made = await deployment(fresh.url)
    organizationId = made.organizationId
    const service = await startProcess({ ...made.env, REDIS_URL: cluster.url, STORE_PATIENCE: '1' })
    victim = { name: 'Redis Cluster', service, apikey: made.apikey, databaseUrl: () => fresh.url }
    ask = client(service.core, made.apikey)
    patient = await startProcess({ ...made.env, REDIS_URL: cluster.url, STORE_PATIENCE: '10' })
    calm = client(patient.core, made.apikey)
  })
  afterAll(async () => {
    for (const one of [ask, calm]) one?.end()
    await patient?.stop()
    await victim?.service.stop()
    await cluster?.close()
    await fresh?.drop()
  })

  const masterOf = async (userRef: string) => (await cluster.ofKey(indexKey(organizationId, userRef))).master
  const session = async (userRef: string) => (await calm('bootstrap', 'GET', `/users/${userRef}`)).session
  const verify = (of: Ask, userRef: string, held: string, body: unknown) =>
    of('verify', 'POST', `/users/${userRef}/verify`, { session: held, body })
  const well = () =>
    until(async () => {
      const found = await Promise.all([ask, calm].map((one) => one('status', 'GET', '/status')))
      return found.every(({ json }) => json.status === 'OK')
    })
  const newcomer = async () => {
    const who = newPerson()
    await who.enroll(calm)
    return who
  }

  const securityCode = '749205'
  let locked = ''

  it('enrolls, verifies typing and codes, and locks', async () => {
    const { userRef, ...who } = await newcomer()
    let held = await session(userRef)
    expect((await verify(calm, userRef, held, who.next())).json.authentication.authMethod).toBe('biometric')
    held = await session(userRef)
    const set = await calm('code', 'PUT', `/users/${userRef}/security-code`, { session: held, body: { securityCode } })
    expect(set.status).toBe(200)
    expect((await verify(calm, userRef, held, { securityCode })).json).toMatchObject({
      action: 'verified',
      authentication: { authMethod: 'security_code' },
    })
    const actions: string[] = []
    for (let n = 0; n < 6; n++) {
      if (n % BUDGET === 0) held = await session(userRef)
      actions.push((await verify(calm, userRef, held, stranger())).json.action)
    }
    held = await session(userRef)
    for (let n = 0; n < BUDGET; n++)
      actions.push((await verify(calm, userRef, held, { securityCode: '830174' })).json.action)
    const rejected = (count: number) => Array.from({ length: count }, () => 'rejected')
    expect(actions).toEqual([...rejected(5), 'refused', ...rejected(3)])
    await staysLocked(userRef)
    locked = userRef
  })

  async function staysLocked(userRef: string): Promise<void> {
    const { json } = await verify(calm, userRef, await session(userRef), { securityCode })
    expect(json).toMatchObject({ action: 'refused', nextAttempt: { mode: 'locked' } })
  }

  it('refuses after a master is killed under load until its replica is promoted, and loses nothing', async () => {
    const lost = await masterOf(locked)
    const fault = { name: 'master kill -9', hurt: () => lost.kill(), heal: () => cluster.replaced(lost) }
    console.log(await injectFault([victim], fault))
    await well()
    await staysLocked(locked)
    await lost.restart()
    await cluster.whole()
  })

  it('judges at most three attempts of a session, however many are sent while its master dies', async () => {
    const people: { userRef: string; held: string }[] = []
    for (let n = 0; n < (LONG ? 60 : 12); n++) {
      const { userRef } = await newcomer()
      people.push({ userRef, held: await session(userRef) })
    }
    // The session of one of them at least is on it: the slots depend on a random id.
    const lost = await masterOf(people[0]?.userRef ?? '')
    const answers: (Answer & { userRef: string })[] = []
    /** Four concurrent attempts in every session. */
    const round = () =>
      Promise.all(
        people.flatMap(({ userRef, held }) =>
          Array.from({ length: 4 }, async () => {
            const one = client(victim.service.core, victim.apikey)
            answers.push({ ...(await verify(one, userRef, held, stranger())), userRef })
            one.end()
          }),
        ),
      )
    const first = round()
    await until(async () => answers.length > people.length)
    await lost.kill()
    await Promise.all([first, round()])
    await cluster.replaced(lost)
    await well()
    await round()
    const judged = countBy(
      answers.filter(({ status, json }) => status === 200 && json.action === 'rejected'),
      ({ userRef }) => userRef,
    )
    expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(0)
    wellBehaved(victim, answers)
    expect(Object.values(judged).filter((count) => count > BUDGET)).toEqual([])
    // Every session still exists: the promoted replicas have their used attempts.
    for (const { userRef, held } of people)
      expect((await calm('bootstrap', 'GET', `/users/${userRef}`, { session: held })).session).toBe(held)
    await lost.restart()
    await cluster.whole()
  })
})
