import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { keyFile } from '../../src/storage/crypto/key-file.js'
import { createKeyWrap } from '../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../src/storage/crypto/vault-aes.js'
import type { KeyRing } from '../../src/storage/key-ring.js'
import { connectPostgres, type Database, type Transaction } from '../../src/storage/postgres/connection/client.js'
import { type EmbeddedPostgres, startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { lockKeyChanges, postgresWrappedKeys } from '../../src/storage/postgres/organization/wrapped-key.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { startChild } from '../servers/child.js'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? (LONG ? 20 : 2))
/** More than a page of a rotation. */
const ORGANIZATIONS = 120

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const binding = { accountId: 'a', memberId: 'm', patternId: 'p', generation: 0 }
const plain = randomBytes(100)

let folder: string
let embedded: EmbeddedPostgres
let database: Database
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keystride-kill-rotation-'))
  embedded = await startEmbedded({ dataFolder: folder })
  await migrate(embedded.url)
  database = connectPostgres({ url: embedded.url, max: 4, patience: 10 })
})
afterAll(async () => {
  await database.close()
  await embedded.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A vault with all wrapped keys as they are stored now. */
async function vaultOf(ring: KeyRing) {
  const stored = await postgresWrappedKeys(database).wrappedByOthers('', null, ORGANIZATIONS)
  const keys = new Map(stored.map(({ organizationId, wrapped }) => [organizationId, wrapped]))
  return createVault({ keyWrap: createKeyWrap(ring), wrappedKeyOf: async (id) => keys.get(id) ?? null })
}

async function sealedSamples() {
  const keyWrap = createKeyWrap(keyFile(folder))
  const ids = Array.from({ length: ORGANIZATIONS }, () => uuid())
  for (const id of ids) {
    const wrapKey = () => keyWrap.wrapNew(id)
    const [policyId, createdAt] = [uuid(), Date.now()]
    const store = postgresOrganizations(database)
    await store.create({ id, name: 'acme', wrapKey, policyId, policy: DEFAULT_POLICY, createdAt })
  }
  const vault = await vaultOf(keyFile(folder))
  return Promise.all(ids.map(async (id) => ({ id, sealed: await vault.seal(id, binding, plain) })))
}

function startRotation() {
  const env = { ...process.env, KEYSTRIDE_DATA: folder }
  const child = startChild(process.execPath, [command, 'key', 'rotate'], { env, stdio: 'ignore' })
  return { child, ended: once(child, 'exit') }
}

/** Kills a rotation while it waits for a lock that this transaction takes. */
const killWaiting = (lock: (sql: Transaction) => PromiseLike<unknown>) =>
  database.asSystem(async (sql) => {
    await lock(sql)
    const { child, ended } = startRotation()
    await until(async () => (await sql`select from pg_locks where not granted`).length > 0, 'start')
    child.kill('SIGKILL')
    await ended
  })

/** Kills a rotation after `afterMs`, or lets it finish if null. */
async function rotate(afterMs: number | null): Promise<{ finished: boolean; tookMs: number }> {
  const begun = performance.now()
  const { child, ended } = startRotation()
  const timer = afterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), afterMs)
  await ended
  if (timer !== null) clearTimeout(timer)
  return { finished: child.exitCode === 0, tookMs: performance.now() - begun }
}

describe('a rotation with the embedded default that is killed repeatedly', () => {
  it(
    'leaves every organization readable after each kill, and completes without a kill',
    async () => {
      const samples = await sealedSamples()
      const service = keyFile(folder)
      const unreadable = async (ring: KeyRing) => {
        const vault = await vaultOf(ring)
        const opened = await Promise.allSettled(samples.map(({ id, sealed }) => vault.open(id, binding, sealed)))
        return opened.filter((one) => one.status === 'rejected' || !Buffer.from(one.value).equals(plain)).length
      }
      const holds = async () => expect([await unreadable(keyFile(folder)), await unreadable(service)]).toEqual([0, 0])
      // Kills it before the first change, and before the key of the first, of a middle and of the last organization.
      await killWaiting(lockKeyChanges)
      expect(keyFile(folder).held()).toHaveLength(1)
      await holds()
      for (const n of [0, ORGANIZATIONS / 2, ORGANIZATIONS - 1]) {
        const { id = '' } = samples[n] ?? {}
        await killWaiting((sql) => sql`select from keystride.organization where organization_id = ${id} for update`)
        expect(keyFile(folder).held().length).toBeGreaterThan(1)
        await holds()
      }
      // Kills it at random moments.
      const { tookMs } = await rotate(null)
      for (let n = 0; n < ROUNDS; n++) {
        await rotate(tookMs * (0.3 + (0.8 * randomInt(1000)) / 1000))
        await holds()
      }
      expect((await rotate(null)).finished).toBe(true)
      expect(keyFile(folder).held()).toHaveLength(1)
      await holds()
      expect(statSync(join(folder, 'encryption.key')).mode & 0o777).toBe(0o600)
    },
    300_000 + ROUNDS * 20_000,
  )
})
