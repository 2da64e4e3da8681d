import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import { createEncryptionKeyFlows } from '../../src/flows/organization/encryption-keys.js'
import { keyFile } from '../../src/storage/crypto/key-file.js'
import { createKeyWrap } from '../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../src/storage/crypto/vault-aes.js'
import { givenKeys, type KeyRing } from '../../src/storage/key-ring.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { postgresOrganizations } from '../../src/storage/postgres/organization/organization.js'
import { postgresWrappedKeys } from '../../src/storage/postgres/organization/wrapped-key.js'
import { figure, LONG } from '../harness/figure.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const READS = Number(process.env.ROTATION_READS ?? (LONG ? 100_000 : 20_000))
const ORGANIZATIONS = 20
const READERS = 8
/** Reads after which a reader empties its cache of data keys, so that it unwraps most organizations again. */
const READS_A_CACHE = 500
const SAMPLE_BYTES = 2_000
/** One read in 10 also seals and opens a new sample. */
const SEAL_EVERY = 10

let fresh: FreshDatabase
let serving: Database
let rotating: Database
let folder: string
beforeEach(async () => {
  fresh = await freshDatabase()
  serving = connectPostgres({ url: fresh.url, max: 4, patience: 10 })
  rotating = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  folder = mkdtempSync(join(tmpdir(), 'keystride-load-'))
})
afterEach(async () => {
  await Promise.all([serving.close(), rotating.close()])
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

const [keyA, keyB] = [randomBytes(32), randomBytes(32)]
const nobody = { id: '', plain: randomBytes(1), sealed: randomBytes(1) }
const binding = { accountId: 'a', memberId: 'm', patternId: 'p', generation: 0 }

/** The keys of the serving process, and those of the nth rotation command. */
const ways: readonly { name: string; service: () => KeyRing; command: (n: number) => KeyRing }[] = [
  {
    name: 'given keys, back and forth',
    service: () => givenKeys(keyA, [keyB]),
    command: (n) => (n % 2 === 0 ? givenKeys(keyB, [keyA]) : givenKeys(keyA, [keyB])),
  },
  { name: 'the key file, a new key each time', service: () => keyFile(folder), command: () => keyFile(folder) },
]

describe.each(ways)('rotations of $name', ({ service, command }) => {
  it(`fail none of ${READS} concurrent reads`, async () => {
    const keyWrap = createKeyWrap(service())
    const wrappedKeys = postgresWrappedKeys(serving)
    let unwraps = 0
    const emptyVault = () =>
      createVault({
        keyWrap,
        wrappedKeyOf: (id) => {
          unwraps++
          return wrappedKeys.find(id)
        },
      })
    const samples = await Promise.all(
      Array.from({ length: ORGANIZATIONS }, async () => {
        const id = uuid()
        await postgresOrganizations(serving).create({
          id,
          name: 'acme',
          wrapKey: () => keyWrap.wrapNew(id),
          policyId: uuid(),
          policy: DEFAULT_POLICY,
          createdAt: Date.now(),
        })
        const plain = randomBytes(SAMPLE_BYTES)
        return { id, plain, sealed: await emptyVault().seal(id, binding, plain) }
      }),
    )

    const failures: unknown[] = []
    let reads = 0
    const read = async () => {
      let vault = emptyVault()
      for (let n = 1; reads < READS; n++) {
        if (n % READS_A_CACHE === 0) vault = emptyVault()
        const { id, plain, sealed } = samples[reads++ % samples.length] ?? nobody
        try {
          if (!Buffer.from(await vault.open(id, binding, sealed)).equals(plain)) failures.push('other bytes')
          if (n % SEAL_EVERY !== 0) continue
          const own = await vault.seal(id, binding, plain)
          if (!Buffer.from(await vault.open(id, binding, own)).equals(plain)) failures.push('other bytes')
        } catch (error) {
          failures.push(error)
        }
      }
    }
    let rotations = 0
    const rotate = async () => {
      while (reads < READS) {
        const keyRing = command(rotations++)
        const needs = { keyRing, keyWrap: createKeyWrap(keyRing), wrappedKeys: postgresWrappedKeys(rotating) }
        const { left } = await createEncryptionKeyFlows(needs).rotate(() => {})
        if (left > 0) failures.push(`${left} left`)
      }
    }
    await Promise.all([rotate(), ...Array.from({ length: READERS }, read)])
    expect(failures.slice(0, 3)).toEqual([])
    const found = `${failures.length} of ${reads.toLocaleString('en')} reads failed during rotations`
    figure('T31', found, '0', failures.length === 0)
    expect(rotations).toBeGreaterThan(5)
    expect(unwraps).toBeGreaterThan(READS / READS_A_CACHE)
  })
})
