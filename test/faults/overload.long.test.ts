import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { request } from '../../bench/shared/drive.js'
import { keystrideHere } from '../harness/command.js'
import { deployment } from '../harness/deployment.js'
import { countBy, metric } from '../harness/fault.js'
import { figure } from '../harness/figure.js'
import { keepAlive, type WireAnswer } from '../harness/keep-alive.js'
import { until } from '../harness/patience.js'
import { startProcess } from '../harness/service-process.js'
import { enrolled, startTwo, type TwoServices, withCode } from '../harness/two-services.js'
import { freshDatabase } from '../servers/database.js'

/** More requests than a process serves and queues, together 320. */
const CROWD = 600
/** More codes than a process compares and queues, together 80. */
const CODES = 200
const VERIFIES = 40

describe('a service with more requests than it can serve', () => {
  let two: TwoServices
  let types: () => unknown
  beforeAll(async () => {
    two = await startTwo(null)
    types = (await enrolled(two, 'ann')).types
    await withCode(two, 'ben', '749205')
  })
  afterAll(() => two?.close())

  /** Sends all requests at once to the first process, each on its own connection. */
  async function atOnce(requests: readonly Buffer[], heard: (answer: WireAnswer) => void = () => {}) {
    const connections = await Promise.all(requests.map(() => two.connect(0)))
    const answers = requests.map(async (bytes, n) => {
      const answer = await connections[n]?.send(bytes)
      if (answer === undefined) throw new Error('no answer')
      heard(answer)
      return answer
    })
    return Promise.all(answers).finally(() => {
      for (const connection of connections) connection.close()
    })
  }
  const verify = (session: string) => two.bytes('POST', '/users/ann/verify', session, types())
  const count = (answers: readonly WireAnswer[]) => countBy(answers, ({ status }) => String(status))

  it('refuses those beyond its queue while the others wait, loses none, and serves again', async () => {
    const session = await two.bootstrap('ann')
    const requests = Array.from({ length: CROWD }, () => verify(session))
    let refused = 0
    let answers: Promise<WireAnswer[]> = Promise.resolve([])
    // No call is served meanwhile, so that all requests of the crowd are present at once on any machine.
    await two.holding('lock table keystride.session in access exclusive mode', async () => {
      answers = atOnce(requests, ({ status, body }) => {
        if (status !== 503) return
        expect(JSON.parse(body)).toMatchObject({ success: false, reason: 'api-failed' })
        refused += 1
      })
      await until(() => refused > 0)
    })
    const { 200: served = 0, 503: shed = 0, ...others } = count(await answers)
    expect(others).toEqual({})
    expect(await metric(two.services[0], 'keystride_http_requests_shed_total\\{lane="verify"\\}')).toBeGreaterThan(0)
    await until(async () => (await metric(two.services[0], 'keystride_http_requests_waiting')) === 0)
    expect((await two.sure(0, 'POST', '/users/ann/verify', await two.bootstrap('ann'), types())).status).toBe(200)
    const found = `${served} served, ${shed} refused, ${CROWD - served - shed} lost`
    figure('F18', found, '0 lost', served > 0 && served + shed === CROWD)
  })

  it('serves every verify of typing during a flood of security codes, and codes after it', async () => {
    const [session, codes] = [await two.bootstrap('ann'), await two.bootstrap('ben')]
    const wrong = two.bytes('POST', '/users/ben/verify', codes, { securityCode: '111999' })
    const flood = atOnce(Array.from({ length: CODES }, () => wrong))
    const typed = await atOnce(Array.from({ length: VERIFIES }, () => verify(session)))
    const { 200: compared = 0, 429: refused = 0, ...others } = count(await flood)
    expect([others, compared > 0, refused > 0]).toEqual([{}, true, true])
    const failed = typed.filter(({ status }) => status !== 200).length
    figure('F19', `${failed} of ${VERIFIES} verifies failed`, '0', failed === 0)
    expect((await two.sure(0, 'POST', '/users/ben/verify', codes, { securityCode: '749205' })).status).toBe(200)
  })
})

describe('the rate of a key', () => {
  const BURST = 200
  const CONNECTIONS = 10

  /** Sends requests over connections to all services until each is refused. Returns the number of admitted ones. */
  async function spent(env: Record<string, string>, apikey: string, processes: number): Promise<number> {
    const services = await Promise.all(Array.from({ length: processes }, () => startProcess(env)))
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, n) =>
        keepAlive(Number(new URL(services[n % processes]?.core ?? '').port)),
      ),
    )
    const bytes = request('GET', '/core/organization', { apikey }, '')
    let admitted = 0
    // A process reports its requests to the others at intervals, so they must not come all at once.
    await until(async () => {
      const answers = await Promise.all(connections.map((one) => one.send(bytes)))
      for (const { status, body } of answers)
        if (status !== 200) expect([status, JSON.parse(body).reason]).toEqual([429, 'quota-exceeded'])
      const served = answers.filter(({ status }) => status === 200).length
      admitted += served
      return served === 0
    })
    for (const connection of connections) connection.close()
    await Promise.all(services.map((one) => one.stop()))
    return admitted
  }

  it.each([
    { name: 'all processes of a machine', more: { PROCESSES: '2' }, processes: 1, skip: false },
    {
      name: 'all processes that share a Redis',
      more: { REDIS_URL: inject('redisUrl') ?? '' },
      processes: 2,
      skip: inject('redisUrl') === null,
    },
  ])('holds over $name', async ({ more, processes, skip }) => {
    if (skip) return
    const fresh = await freshDatabase()
    const { env, apikey, organizationId } = await deployment(fresh.url)
    await keystrideHere(env)('organization', 'limits', organizationId, '--rate', '1', '--burst', String(BURST))
    const admitted = await spent({ ...env, ...more }, apikey, processes)
    // Two processes that counted alone would admit twice the burst.
    expect(admitted).toBeGreaterThanOrEqual(BURST)
    expect(admitted).toBeLessThan(2 * BURST)
    await fresh.drop()
  })
})
