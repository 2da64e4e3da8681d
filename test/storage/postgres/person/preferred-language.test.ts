import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresAccounts } from '../../../../src/storage/postgres/person/account.js'
import { postgresPreferredLanguages } from '../../../../src/storage/postgres/person/preferred-language.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization, person } from '../../fixtures.js'

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

describe('a preferred language', () => {
  it('is of one member, until it is cleared, and changes no other organization', async () => {
    const store = postgresPreferredLanguages(database)
    const [org, foreign] = [await organization(database), await organization(database)]
    const [ada, bob] = [await person(database, org, 'ada'), await person(database, org, 'bob')]
    const preferred = async (userRef: string) =>
      (await postgresAccounts(database).find(org, userRef, null))?.member?.preferredLanguage
    expect(await store.set(org, ada.memberId, 'fr')).toBe(true)
    expect([await preferred('ada'), await preferred('bob')]).toEqual(['fr', null])
    expect(await store.set(foreign, ada.memberId, 'de')).toBe(false)
    expect(await preferred('ada')).toBe('fr')
    expect(await store.set(org, ada.memberId, null)).toBe(true)
    expect(await preferred('ada')).toBeNull()
    expect(await store.set(org, bob.accountId, 'fr')).toBe(false)
  })
})
