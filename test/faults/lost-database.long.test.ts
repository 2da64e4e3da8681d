import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { audit } from '../harness/audit.js'
import { keystrideWith } from '../harness/command.js'
import { type Answer, startLoad } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { startTwoDatabases, type TwoDatabases } from '../harness/two-databases.js'

const whyNot = whyNoStandby()
if (whyNot !== null) console.warn(`\n*** ${whyNot} ***\n`)

describe.skipIf(whyNot !== null)('one of two databases that is lost', { timeout: 240_000 }, () => {
  let two: TwoDatabases
  let service: ServiceProcess
  /** An API key of an organization in each database. */
  let keys: string[]
  beforeAll(async () => {
    two = await startTwoDatabases()
    const stores = await openStores(readConfig({ ...two.env, STORE_PATIENCE: '10' }), jsonLog('silent'), {
      redis: false,
    })
    const flows = administration(stores)
    keys = []
    for (const database of ['main', 'two']) {
      const { id } = await flows.create(`In ${database}`, database)
      keys.push((await flows.issueKey(id, 'test')).apikey)
    }
    await stores.close()
    service = await startProcess({ ...two.env, STORE_PATIENCE: '3' })
  })
  afterAll(async () => {
    await service?.stop()
    await two?.remove()
  })

  const text = async (path: string) => (await fetch(service.core.replace('/core', path))).text()

  it('serves the whole interface to an organization in each, before', async () => {
    for (const key of keys) {
      const walk = keystrideWith({ KEYSTRIDE_APIKEY: key })
      const { status, stdout, stderr } = await walk('walk', '--url', service.core.replace('/core', ''))
      expect(status, stdout + stderr).toBe(0)
    }
  })

  it.each(['killed', 'stopped'] as const)(
    'refuses its organizations alone while it is %s, and keeps what was acknowledged',
    async (fault) => {
      const server = two.servers[1]
      const [begin, end] =
        fault === 'killed'
          ? [() => server.kill(), () => server.restart()]
          : [() => server.signalAll('SIGSTOP'), () => server.signalAll('SIGCONT')]
      const [kept, lost] = await Promise.all(
        keys.map((key) => startLoad(service.core, key, { enrolling: 1, signingIn: 1, leaving: 1 })),
      )
      if (kept === undefined || lost === undefined) throw new Error('there are two loads')
      const refused = () => lost.answers.filter(({ status }) => status === 503)
      await begin()
      await until(() => refused().length > 0)
      await until(async () => (await text('/metrics')).includes('keystride_store_reachable{store="PostgreSQL two"} 0'))
      expect(await text('/readyz')).toBe('ready, but PostgreSQL two out of reach\n')
      expect(JSON.parse(await text('/core/status')).status).toBe('OK')
      const before = kept.answers.length
      await until(() => kept.answers.length > before + 100)
      await end()
      const served = lost.answers.length
      await until(() => lost.answers.slice(served).filter(({ status }) => status === 200).length > 20)
      await until(async () => (await text('/readyz')) === 'ready\n')
      await Promise.all([kept.stop(), lost.stop()])
      const broken = ({ answers }: { answers: readonly Answer[] }) =>
        answers.filter(({ status }) => status >= 500 || status === 0)
      expect(broken(kept).map(({ what, status, json }) => ({ what, status, json }))).toEqual([])
      expect(broken(lost).filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([])
      await audit({ name: 'main', databaseUrl: () => two.urls[0] }, kept)
      await audit({ name: 'two', databaseUrl: () => two.urls[1] }, lost)
    },
  )

  it('is opened later if it is away at the start', async () => {
    await two.servers[1].kill()
    await service.stop()
    service = await startProcess({ ...two.env, STORE_PATIENCE: '3' })
    const status = async (key: string | undefined) =>
      (await fetch(`${service.core}/organization`, { headers: { apikey: key ?? '' } })).status
    expect(await status(keys[0])).toBe(200)
    expect(await status(keys[1])).toBe(503)
    await two.servers[1].restart()
    await until(async () => (await status(keys[1])) === 200)
  })
})
