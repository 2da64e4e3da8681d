import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TypingWord } from '../../../../src/domain/own-words.js'
import { connectPostgres, type Database } from '../../../../src/storage/postgres/connection/client.js'
import { postgresOrganizations } from '../../../../src/storage/postgres/organization/organization.js'
import { postgresTypingWords } from '../../../../src/storage/postgres/organization/typing-words.js'
import type { TypingWordStore } from '../../../../src/storage/typing-words.js'
import { type FreshDatabase, freshDatabase } from '../../../servers/database.js'
import { organization } from '../../fixtures.js'

let fresh: FreshDatabase
let database: Database
let store: TypingWordStore
let org: string
let other: string

beforeAll(async () => {
  fresh = await freshDatabase()
  database = connectPostgres({ url: fresh.url, max: 8, patience: 10 })
  store = postgresTypingWords(database)
})
afterAll(async () => {
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  org = await organization(database)
  other = await organization(database)
})

const own = (word: string, changes: Partial<TypingWord> = {}): TypingWord => ({
  id: uuid(),
  word,
  language: 'en',
  core: false,
  enabled: true,
  ...changes,
})
const put = (word: TypingWord, organizationId = org) =>
  store.change(organizationId, word.language, () => ({ put: word }))
const version = async () => (await postgresOrganizations(database).find(org))?.wordsVersion

describe('typing words', () => {
  it('are stored, replaced by id and deleted', async () => {
    const zephyr = own('zephyr')
    const house = own('house', { core: true, enabled: false })
    const ete = own('été', { language: 'fr' })
    for (const word of [zephyr, house, ete]) await put(word)
    expect(await store.list(org, null)).toEqual([zephyr, house, ete])
    expect(await store.list(org, 'fr')).toEqual([ete])
    expect(await store.list(org, 'nl')).toEqual([])
    expect(await store.find(org, ete.id)).toEqual(ete)
    const edited = { ...zephyr, word: 'quokka', enabled: false }
    await put(edited)
    expect(await store.list(org, 'en')).toEqual([edited, house])
    await store.change(org, 'en', () => ({ drop: house.id }))
    expect(await store.list(org, 'en')).toEqual([edited])
  })

  it('increment their organization’s version with every change, except refused ones', async () => {
    expect(await version()).toBe(0)
    const zephyr = own('zephyr')
    await put(zephyr)
    expect(await version()).toBe(1)
    const refused = store.change(org, 'en', () => {
      throw new Error('refused')
    })
    await expect(refused).rejects.toThrow('refused')
    expect(await version()).toBe(1)
    await store.change(org, 'en', () => ({ drop: zephyr.id }))
    expect(await version()).toBe(2)
  })

  it('are changed one after the other, with no change between read and write', async () => {
    const seen: number[] = []
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        store.change(org, 'en', (stored) => {
          seen.push(stored.length)
          return { put: own(`w${i}`) }
        }),
      ),
    )
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i))
    expect(await version()).toBe(30)
  })

  it('are invisible to another organization', async () => {
    const zephyr = own('zephyr')
    await put(zephyr)
    expect(await store.list(other, null)).toEqual([])
    expect(await store.find(other, zephyr.id)).toBeNull()
    await store.change(other, 'en', (stored) => {
      expect(stored).toEqual([])
      return { drop: zephyr.id }
    })
    expect(await store.list(org, null)).toEqual([zephyr])
    // The same id in both: a core word has the same id on every installation.
    await put({ ...zephyr, enabled: false }, other)
    expect(await store.find(org, zephyr.id)).toEqual(zephyr)
  })

  it('are unique in a language even without a check by the caller', async () => {
    await put(own('zephyr'))
    await expect(put(own('zephyr'))).rejects.toThrow('unique')
    await put(own('zephyr', { language: 'fr' }))
    await put(own('zephyr'), other)
    // An own word that a later version ships as a core word, disabled.
    await put(own('zephyr', { core: true, enabled: false }))
    expect(await store.list(org, 'en')).toHaveLength(2)
  })
})
