import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../src/flows/process/tokens.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { administration, openStores } from '../../src/wiring/open-stores.js'
import type { Stores } from '../../src/wiring/stores.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

describe('organizations on two databases', () => {
  let fresh: readonly [FreshDatabase, FreshDatabase]
  let stores: Stores
  beforeAll(async () => {
    fresh = [await freshDatabase(), await freshDatabase()]
    const env = {
      DATABASE_URL: fresh[0].url,
      DATABASE_URLS: `two=${fresh[1].url}`,
      ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      STORE_PATIENCE: '10',
    }
    stores = await openStores(readConfig(env), jsonLog('silent'), { redis: false })
  })
  afterAll(async () => {
    await stores?.close()
    for (const { drop } of fresh) await drop()
  })

  it('creates an organization in the named database, and finds it and its key from there', async () => {
    const flows = administration(stores)
    const one = await flows.create('One', 'main')
    const two = await flows.create('Two', 'two')
    await expect(flows.create('Three', 'three')).rejects.toThrow('there is no database three: there are main, two')
    const { apikey } = await flows.issueKey(two.id, 'test')
    expect((await flows.list()).map(({ name }) => name)).toEqual(['One', 'Two'])
    expect(stores.databaseOf(one.id)).toBe(0)
    expect(stores.databaseOf(two.id)).toBe(1)
    expect((await stores.apiKeys.resolve(sha256(apikey)))?.organizationId).toBe(two.id)
    expect(await stores.apiKeys.resolve(sha256('ks_unknown'))).toBeNull()
    expect((await stores.databases[1]?.stores.organizations.list())?.map(({ name }) => name)).toEqual(['Two'])
  })

  // The types of the rules cannot tell an organization's id from another string.
  it('routes by the first argument, which is an organization wherever it is a string', () => {
    const folder = fileURLToPath(new URL('../../src/storage/', import.meta.url))
    const texts = readdirSync(folder).flatMap((file) =>
      file.endsWith('.ts') ? readFileSync(join(folder, file), 'utf8') : [],
    )
    const methods = texts.flatMap((text) => [...text.matchAll(/^ {2}(\w+)(?:<[^>]*>)?\(\s*(\w+): string\b/gm)])
    const [organization, other] = ['organizationId', 'another'].map((kind) =>
      methods.filter(([, , first]) => (first === 'organizationId') === (kind === 'organizationId')),
    )
    expect(organization?.length).toBeGreaterThan(80)
    // Parts that are no store of data, and a method with a rule.
    expect(other?.map(([, name, first]) => `${name}(${first})`).sort()).toEqual([
      'find(id)',
      'locate(address)',
      'wrappedByOthers(keyId)',
    ])
  })
})
