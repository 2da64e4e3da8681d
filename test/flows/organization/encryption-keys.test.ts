import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { v7 as uuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createEncryptionKeyFlows } from '../../../src/flows/organization/encryption-keys.js'
import { createOrganizationFlows } from '../../../src/flows/organization/organizations.js'
import { keyFile } from '../../../src/storage/crypto/key-file.js'
import { createKeyWrap } from '../../../src/storage/crypto/key-wrap-aes.js'
import { createVault } from '../../../src/storage/crypto/vault-aes.js'
import { givenKeys, type KeyRing } from '../../../src/storage/key-ring.js'
import { connectPostgres, type Database } from '../../../src/storage/postgres/connection/client.js'
import { postgresApiKeys } from '../../../src/storage/postgres/organization/api-key.js'
import { postgresOrganizations } from '../../../src/storage/postgres/organization/organization.js'
import { postgresWrappedKeys } from '../../../src/storage/postgres/organization/wrapped-key.js'
import { until } from '../../harness/patience.js'
import { type FreshDatabase, freshDatabase } from '../../servers/database.js'

let fresh: FreshDatabase
let database: Database
let folder: string
beforeEach(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 6, patience: 10 })
  folder = mkdtempSync(join(tmpdir(), 'keystride-rotate-'))
})
afterEach(async () => {
  await database.close()
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

/** The flows of a process that is started with these keys. */
function processWith(keyRing: KeyRing) {
  const keyWrap = createKeyWrap(keyRing)
  const wrappedKeys = postgresWrappedKeys(database)
  const needs = { keyRing, keyWrap, wrappedKeys }
  const organizations = createOrganizationFlows({
    ...needs,
    organizations: postgresOrganizations(database),
    apiKeys: postgresApiKeys(database),
    newId: () => uuid(),
    now: () => Date.now(),
  })
  const keys = createEncryptionKeyFlows(needs)
  return {
    ...needs,
    keys,
    create: async () => (await organizations.create('acme')).id,
    rotate: () => keys.rotate(() => {}),
    vault: () => createVault({ keyWrap, wrappedKeyOf: (id) => wrappedKeys.find(id) }),
  }
}
type Process = ReturnType<typeof processWith>

const binding = { accountId: 'a', memberId: 'm', patternId: 'p', generation: 0 }
const plain = randomBytes(100)

/** Organizations with a sample each; `unreadable` counts those that a process cannot open. */
async function sealedIn(one: Process, count: number) {
  const ids = await Promise.all(Array.from({ length: count }, () => one.create()))
  const vault = one.vault()
  const samples = await Promise.all(ids.map(async (id) => ({ id, sealed: await vault.seal(id, binding, plain) })))
  const unreadable = async (reader: Process) => {
    const fresh = reader.vault()
    const opened = await Promise.allSettled(samples.map(({ id, sealed }) => fresh.open(id, binding, sealed)))
    return opened.filter((one) => one.status === 'rejected' || !Buffer.from(one.value).equals(plain)).length
  }
  return { ids, unreadable }
}

const [keyA, keyB, keyC] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const idOf = (key: Uint8Array) => givenKeys(key).present().id

describe('a rotation of given keys', () => {
  it('wraps every data key under the present key, over several pages, and no data key twice', async () => {
    const { unreadable } = await sealedIn(processWith(givenKeys(keyA)), 105)
    const both = processWith(givenKeys(keyB, [keyA]))
    await both.create()
    const progress: number[] = []
    const rotation = await both.keys.rotate((n) => progress.push(n))
    const wrapped = { keyId: idOf(keyB), rewrapped: 105, alreadyCurrent: 1 }
    expect(rotation).toEqual({ ...wrapped, left: 0, unreadable: [], dropped: [] })
    expect(progress).toEqual([100, 105])
    expect(await unreadable(processWith(givenKeys(keyB)))).toBe(0)
    expect(await unreadable(processWith(givenKeys(keyA)))).toBe(105)
    expect(await both.rotate()).toMatchObject({ rewrapped: 0, alreadyCurrent: 106, left: 0 })
  })

  it('does not begin without a needed key, and names it', async () => {
    await sealedIn(processWith(givenKeys(keyA)), 2)
    const wrong = processWith(givenKeys(keyB, [keyC]))
    const sentence = `encryption key missing: ${idOf(keyA)} (data keys of 2 of 2 organizations); held: ${idOf(keyB)}, ${idOf(keyC)}`
    await expect(wrong.rotate()).rejects.toThrow(sentence)
    expect(await wrong.keys.status()).toEqual([
      { id: idOf(keyB), organizations: 0, state: 'present' },
      { id: idOf(keyC), organizations: 0, state: 'previous' },
      { id: idOf(keyA), organizations: 2, state: 'missing' },
    ])
  })

  it('skips an organization whose data key was altered, and reports it', async () => {
    const { ids } = await sealedIn(processWith(givenKeys(keyA)), 3)
    const [broken = ''] = ids
    await database.asSystem(
      (sql) => sql`
        update keystride.organization set wrapped_key = substring(wrapped_key from 1 for 68)
        where organization_id = ${broken}`,
    )
    const rotation = await processWith(givenKeys(keyB, [keyA])).rotate()
    expect(rotation).toMatchObject({ rewrapped: 2, left: 1, unreadable: [broken] })
  })

  it('loses nothing during a concurrent rotation in the same or the opposite direction', async () => {
    const { unreadable } = await sealedIn(processWith(givenKeys(keyA)), 60)
    const [there, alsoThere, back] = [
      processWith(givenKeys(keyB, [keyA])),
      processWith(givenKeys(keyB, [keyA])),
      processWith(givenKeys(keyA, [keyB])),
    ]
    const same = await Promise.all([there.rotate(), alsoThere.rotate()])
    expect(same.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(60)
    expect(same.map(({ left }) => left)).toEqual([0, 0])
    await Promise.all([there.rotate(), back.rotate(), back.rotate(), there.rotate()])
    expect(await unreadable(there)).toBe(0)
    expect((await there.rotate()).left).toBe(0)
    expect(await unreadable(processWith(givenKeys(keyB)))).toBe(0)
  })
})

it('an organization is not created by a process that lacks a key of another one', async () => {
  await processWith(givenKeys(keyA)).create()
  await expect(processWith(givenKeys(keyB)).create()).rejects.toThrow(`encryption key missing: ${idOf(keyA)}`)
  await processWith(givenKeys(keyB, [keyA])).create()
})

describe('a rotation of the key file', () => {
  it('creates a key, wraps every data key under it and drops the old one', async () => {
    const service = processWith(keyFile(folder))
    const { unreadable } = await sealedIn(service, 5)
    const old = service.keyRing.present().id
    const command = processWith(keyFile(folder))
    expect(await command.rotate()).toMatchObject({ rewrapped: 5, left: 0, dropped: [old] })
    expect(command.keyRing.held()).toHaveLength(1)
    for (const one of [service, processWith(keyFile(folder))]) expect(await unreadable(one)).toBe(0)
    // An interrupted one is completed by the next one, without a further key.
    keyFile(folder).change?.begin()
    const begun = keyFile(folder).present().id
    expect(await unreadable(processWith(keyFile(folder)))).toBe(0)
    expect(await processWith(keyFile(folder)).rotate()).toMatchObject({ keyId: begun, rewrapped: 5, left: 0 })
    expect(await unreadable(processWith(keyFile(folder)))).toBe(0)
  })

  it('changes nothing if the file lacks the key of the organizations', async () => {
    await sealedIn(processWith(keyFile(folder)), 1)
    const file = join(folder, 'encryption.key')
    writeFileSync(file, `${randomBytes(32).toString('base64')}\n`)
    const before = readFileSync(file, 'utf8')
    await expect(processWith(keyFile(folder)).rotate()).rejects.toThrow(`Add the missing keys to ${file}`)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('loses nothing in five concurrent runs, while an older process creates organizations', async () => {
    const before = processWith(keyFile(folder))
    const first = await sealedIn(before, 40)
    const during = Promise.all(Array.from({ length: 4 }, () => sealedIn(before, 5)))
    const rotations = await Promise.all(Array.from({ length: 5 }, () => processWith(keyFile(folder)).rotate()))
    const made = await during
    expect(rotations.map(({ unreadable }) => unreadable)).toEqual(Array(5).fill([]))
    for (const { unreadable } of [first, ...made]) {
      expect(await unreadable(before)).toBe(0)
      expect(await unreadable(processWith(keyFile(folder)))).toBe(0)
    }
    await processWith(keyFile(folder)).rotate()
    expect(keyFile(folder).held()).toHaveLength(1)
  })

  it('waits for an organization that is being created, and wraps it too', async () => {
    const one = processWith(keyFile(folder))
    const id = uuid()
    let commit = () => {}
    let wrapped = false
    const creating = database.asSystem(async (sql) => {
      await sql`select pg_advisory_xact_lock_shared(7241865325823966)`
      const key = one.keyWrap.wrapNew(id)
      wrapped = true
      await new Promise<void>((resolve) => {
        commit = resolve
      })
      await sql`
        insert into keystride.organization (organization_id, name, wrapped_key, created_at)
        values (${id}, 'late', ${key}, now())`
    })
    await until(async () => wrapped)
    const rotating = processWith(keyFile(folder)).rotate()
    await until(async () => {
      const rows = await database.asSystem(
        (sql) => sql`
          select 1 from pg_catalog.pg_locks join pg_catalog.pg_database d on d.oid = database
          where datname = current_database() and locktype = 'advisory' and not granted`,
      )
      return rows.length === 1
    })
    expect(keyFile(folder).held()).toHaveLength(1)
    commit()
    await creating
    expect(await rotating).toMatchObject({ rewrapped: 1, left: 0 })
    expect(await processWith(keyFile(folder)).vault().replayKey(id)).toHaveLength(32)
  })
})
