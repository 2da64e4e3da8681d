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
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { type EmbeddedPostgres, startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { postgresWrappedKeys } from '../../src/storage/postgres/organization/wrapped-key.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { startChild } from '../servers/child.js'
import { LONG } from '../trust/figure.js'

const ROUNDS = Number(process.env.KILL_ROUNDS ?? (LONG ? 20 : 8))
/** Enough that re-wrapping takes about half of a rotation's time. */
const ORGANIZATIONS = 200

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

/** Runs `keystride key rotate` and kills it after `killAfterMs`; null: lets it finish. */
async function rotate(killAfterMs: number | null): Promise<{ finished: boolean; tookMs: number }> {
  const begun = performance.now()
  const child = startChild(process.execPath, [command, 'key', 'rotate'], {
    env: { ...process.env, KEYSTRIDE_DATA: folder },
    stdio: 'ignore',
  })
  const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  await once(child, 'exit')
  if (timer !== null) clearTimeout(timer)
  return { finished: child.exitCode === 0, tookMs: performance.now() - begun }
}

describe('a rotation with the embedded default that is killed repeatedly', () => {
  it(
    `leaves every organization readable after each of ${ROUNDS} kills, and completes without a kill`,
    async () => {
      const samples = await sealedSamples()
      const service = keyFile(folder)
      const unreadable = async (ring: KeyRing) => {
        const vault = await vaultOf(ring)
        const opened = await Promise.allSettled(samples.map(({ id, sealed }) => vault.open(id, binding, sealed)))
        return opened.filter((one) => one.status === 'rejected' || !Buffer.from(one.value).equals(plain)).length
      }
      let { tookMs } = await rotate(null)
      const seen = { 'nothing changed': 0, 'on the way': 0, 'all re-wrapped': 0 }
      let lost = 0
      for (let kills = 0; kills < ROUNDS; ) {
        const before = keyFile(folder).held().length
        // Kills between the opening of the stores and shortly after the end. A finished run makes the next rotation
        // start anew.
        const run = await rotate(tookMs * (0.3 + (0.8 * randomInt(1000)) / 1000))
        // Follows the speed of the machine, so that about one run in three finishes.
        tookMs *= run.finished ? 0.9 : 1.05
        lost += (await unreadable(keyFile(folder))) + (await unreadable(service))
        if (run.finished) continue
        kills++
        const after = keyFile(folder)
        const current = (await postgresWrappedKeys(database).counts()).get(after.present().id) ?? 0
        const same = before === 1 && after.held().length === 1
        seen[same ? 'nothing changed' : current === ORGANIZATIONS ? 'all re-wrapped' : 'on the way']++
      }
      console.log(`${ROUNDS} kills: ${JSON.stringify(seen)}, ${lost} unreadable`)
      expect(lost).toBe(0)
      expect(seen['on the way']).toBeGreaterThan(0)
      expect((await rotate(null)).finished).toBe(true)
      expect(keyFile(folder).held()).toHaveLength(1)
      expect([await unreadable(keyFile(folder)), await unreadable(service)]).toEqual([0, 0])
      expect(statSync(join(folder, 'encryption.key')).mode & 0o777).toBe(0o600)
    },
    60_000 + ROUNDS * 20_000,
  )
})
