import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_POLICY } from '../../../../src/domain/policy.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresApiKeys } from '../../../../src/storage/postgres/organization/api-key.js'
import { postgresOrganizations } from '../../../../src/storage/postgres/organization/organization.js'
import { postgresPolicies } from '../../../../src/storage/postgres/organization/policies.js'
import { postgresWrappedKeys } from '../../../../src/storage/postgres/organization/wrapped-key.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { NOW, organization } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})

describe('organizations', () => {
  it('are read as stored', async () => {
    const [store, wrappedKeys] = [postgresOrganizations(database), postgresWrappedKeys(database)]
    const [id, policyId, wrapped] = [uuid(), uuid(), randomBytes(69)]
    const policy = { ...DEFAULT_POLICY, decision_threshold: 0.75 }
    await store.create({ id, name: 'Ünï', wrapKey: () => wrapped, policyId, policy, createdAt: NOW })
    const stored = {
      id,
      name: 'Ünï',
      defaultLanguage: 'en',
      languageMode: 'auto',
      wordsVersion: 0,
      redirectOrigins: [],
      keyRate: null,
      createdAt: NOW,
    }
    expect(await store.find(id)).toEqual(stored)
    expect(await store.list()).toContainEqual(stored)
    expect(Buffer.from((await wrappedKeys.find(id)) ?? []).equals(wrapped)).toBe(true)
    const [first] = await postgresPolicies(database).list(id, false)
    expect(first).toMatchObject({ id: policyId, policy, isDefault: true })
    expect(await store.find(uuid())).toBeNull()
    expect(await wrappedKeys.find(uuid())).toBeNull()
  })
})

describe('the language setting', () => {
  it('changes in part or as a whole, for one organization only', async () => {
    const store = postgresOrganizations(database)
    const [org, other] = [await organization(database), await organization(database)]
    const steps = [
      [null, null, 'en', 'auto'],
      ['fr', null, 'fr', 'auto'],
      [null, 'forced', 'fr', 'forced'],
      ['de', 'auto', 'de', 'auto'],
    ] as const
    for (const [language, mode, wantedLanguage, wantedMode] of steps) {
      const after = await store.setLanguage(org, { defaultLanguage: language, languageMode: mode })
      expect(after).toMatchObject({ id: org, defaultLanguage: wantedLanguage, languageMode: wantedMode })
      expect(await store.find(org)).toEqual(after)
    }
    expect(await store.find(other)).toMatchObject({ defaultLanguage: 'en', languageMode: 'auto' })
    expect(await store.setLanguage(uuid(), { defaultLanguage: 'fr', languageMode: null })).toBeNull()
  })
})

describe('an API key', () => {
  it('resolves to its organization until it is revoked', async () => {
    const store = postgresApiKeys(database)
    const org = await organization(database)
    const other = await organization(database)
    const [id, sha256] = [uuid(), randomBytes(32)]
    const record = { id, organizationId: org, label: 'shop', scopes: ['core', 'links'] as const, createdAt: NOW }
    await store.add(record, sha256)
    expect(await store.resolve(sha256)).toEqual({
      organizationId: org,
      keyId: id,
      scopes: ['core', 'links'],
      rate: null,
    })
    expect(await store.resolve(randomBytes(32))).toBeNull()
    expect(await store.revoke(other, id, NOW)).toBe(false)
    expect(await store.revoke(org, id, NOW + 1)).toBe(true)
    expect(await store.revoke(org, id, NOW + 2)).toBe(false)
    expect(await store.resolve(sha256)).toBeNull()
    expect(await store.list(org)).toEqual([{ ...record, expiresAt: null, revokedAt: NOW + 1 }])
    expect(await store.list(other)).toEqual([])
  })
})
