import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoStandby } from '../../bench/shared/debian-postgres.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import { keystrideHere, keystrideWith } from '../harness/command.js'
import { NOW } from '../harness/fixtures.js'
import { client } from '../harness/load.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type OwnRedis, startOwnRedis } from '../harness/stores.js'
import { startTwoDatabases, type TwoDatabases } from '../harness/two-databases.js'
import { type Pgbouncer, startPgbouncer, whyNoPgbouncer } from '../servers/pgbouncer.js'
import { clusterIsPossible } from '../servers/redis-cluster.js'

const whyNot = whyNoStandby() ?? whyNoPgbouncer() ?? (clusterIsPossible() ? null : 'NO REDIS: put redis-server on PATH')
if (whyNot !== null) console.warn(`\n*** ${whyNot} ***\n`)

const DATABASES = ['main', 'two'] as const
/** STORE_PATIENCE of the service, and so of a move. */
const PATIENCE = '3'

describe.skipIf(whyNot !== null)(
  'two databases, each with its Redis, the second behind a PgBouncer',
  {
    timeout: 240_000,
  },
  () => {
    let two: TwoDatabases
    let pooler: Pgbouncer
    let redises: readonly [OwnRedis, OwnRedis]
    let env: Record<string, string>
    let service: ServiceProcess
    /** An organization in each database. */
    let organizations: { readonly id: string; readonly apikey: string }[]
    beforeAll(async () => {
      two = await startTwoDatabases()
      const second = two.urls[1].replace('service@', 'service:secret@')
      pooler = await startPgbouncer(second)
      redises = [await startOwnRedis(), await startOwnRedis()]
      env = {
        ...two.env,
        DATABASE_URLS: `two=${pooler.through(second)}`,
        REDIS_URL: `redis://127.0.0.1:${redises[0].port}`,
        REDIS_URLS: `two=redis://127.0.0.1:${redises[1].port}`,
      }
      const stores = await openStores(readConfig({ ...env, STORE_PATIENCE: '10' }), jsonLog('silent'), { redis: false })
      const flows = administration(stores)
      organizations = []
      for (const database of DATABASES) {
        const { id } = await flows.create(`In ${database}`, database)
        organizations.push({ id, apikey: (await flows.issueKey(id, 'test')).apikey })
      }
      await stores.close()
      service = await startProcess({ ...env, STORE_PATIENCE: PATIENCE })
    })
    afterAll(async () => {
      await service?.stop()
      await pooler?.close()
      await Promise.all(redises?.map((redis) => redis.close()) ?? [])
      await two?.remove()
    })

    const keys = () => Promise.all(redises.map(async (redis) => Number(await redis.cli('dbsize'))))
    const callers = () => organizations.map(({ apikey }) => client(service.core, apikey))

    it('serve the whole interface to an organization in each', async () => {
      for (const { apikey } of organizations) {
        const walk = keystrideWith({ KEYSTRIDE_APIKEY: apikey })
        const { status, stdout, stderr } = await walk('walk', '--url', service.core.replace('/core', ''))
        expect(status, stdout + stderr).toBe(0)
      }
    })

    it('keep sessions apart, and a lost Redis refuses the organizations of its database alone', async () => {
      const [one, other] = callers()
      if (one === undefined || other === undefined) throw new Error('there are two callers')
      const before = await keys()
      for (const ask of [one, other]) expect((await ask('create', 'POST', '/users/anna')).status).toBe(201)
      for (let n = 0; n < 5; n++) expect((await other('bootstrap', 'GET', '/users/anna')).status).toBe(200)
      const after = await keys()
      expect(after[0]).toBe(before[0])
      expect(after[1]).toBeGreaterThan(before[1] ?? 0)

      await redises[1].kill()
      await until(async () => (await other('bootstrap', 'GET', '/users/anna')).status === 503)
      for (let n = 0; n < 20; n++) expect((await one('bootstrap', 'GET', '/users/anna')).status).toBe(200)
      expect((await one('status', 'GET', '/status')).json.status).toBe('OK')
      await redises[1].restart()
      await until(async () => (await other('bootstrap', 'GET', '/users/anna')).status === 200)
    })

    it('end the sessions of an organization that moves, and serve it from the other database', async () => {
      const [ask] = callers()
      const id = organizations[0]?.id ?? ''
      if (ask === undefined) throw new Error('there are two callers')
      const { session } = await ask('bootstrap', 'GET', '/users/anna')
      const held = await keys()
      const keystride = keystrideHere({ ...env, STORE_PATIENCE: PATIENCE })
      for (const to of ['two', 'main']) {
        expect(await keystride('organization', 'move', id, '--to', to)).toMatchObject({ status: 0 })
        await until(async () => (await ask('bootstrap', 'GET', '/users/anna')).status === 200)
        const answer = await ask('verify', 'POST', '/users/anna/verify', { session, body: { securityCode: '749205' } })
        expect(answer.status).toBe(400)
      }
      expect((await keys())[0]).toBeLessThanOrEqual(held[0] ?? 0)
      expect(await keystride('organization', 'move', id, '--delete-source')).toEqual({
        status: 0,
        stdout: 'deleted the copy in two\n',
        stderr: '',
      })
    })

    it('rotate the encryption key over both', async () => {
      const rotated = {
        ...env,
        ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        ENCRYPTION_KEY_PREVIOUS: env.ENCRYPTION_KEY ?? '',
      }
      const keystride = keystrideHere(rotated)
      expect(await keystride('key', 'rotate')).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^2 re-wrapped under \S+, 0 already current\n/),
      })
      const uses = JSON.parse((await keystride('key', 'status', '--json')).stdout)
      expect(uses.map(({ organizations, state }: Record<string, unknown>) => [organizations, state])).toEqual(
        expect.arrayContaining([
          [2, 'present'],
          [0, 'previous'],
        ]),
      )
      env = rotated
      await service.stop()
      service = await startProcess({ ...env, STORE_PATIENCE: PATIENCE })
    })

    it('erase people again in both after a restore', async () => {
      const stores = await openStores(readConfig({ ...env, STORE_PATIENCE: '10' }), jsonLog('silent'), { redis: false })
      const folder = mkdtempSync(join(tmpdir(), 'keystride-erasures-'))
      const account = {
        id: v7(),
        userRef: 'gone',
        type: 'nominative' as const,
        displayName: null,
        member: { id: v7(), memberRef: 'gone', displayName: null, createdAt: NOW },
        createdAt: NOW,
      }
      const everywhere = async (work: (id: string) => Promise<unknown>) => {
        for (const { id } of organizations) await work(id)
      }
      await everywhere((id) => stores.accounts.create(id, account))
      await everywhere((id) => stores.accounts.remove(id, 'gone'))
      const list = join(folder, 'erasures.jsonl')
      const keystride = keystrideHere(env)
      writeFileSync(list, (await keystride('erasures', 'export')).stdout)
      // As after a restore of a backup that was made before.
      for (const server of two.servers) await server.run('delete from keystride.erasure', 'service')
      await everywhere((id) => stores.accounts.create(id, account))
      const { stdout } = await keystride('erasures', 'apply', list)
      expect(stdout).toMatch(/^2 erased again$/m)
      await everywhere(async (id) => expect(await stores.accounts.find(id, 'gone', null)).toBeNull())
      await stores.close()
      rmSync(folder, { recursive: true })
    })

    it('are served while one has a newer schema, as during an upgrade', async () => {
      const history = 'keystride_history.migration'
      await two.servers[1].run(`insert into ${history} (name, run_on) values ('9999999999999_newer', now())`, 'service')
      await service.stop()
      service = await startProcess({ ...env, MIGRATE: 'off', STORE_PATIENCE: PATIENCE })
      for (const ask of callers()) expect((await ask('bootstrap', 'GET', '/users/anna')).status).toBe(200)
      const [id] = organizations.map((one) => one.id)
      expect(await keystrideHere(env)('organization', 'move', id ?? '', '--to', 'two')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('newer than the wanted'),
      })
    })
  },
)
