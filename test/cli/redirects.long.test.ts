import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { organization } from '../storage/fixtures.js'
import { type Keystride, keystrideWith } from './command.js'

let fresh: FreshDatabase
let keystride: Keystride
let org: string
beforeAll(async () => {
  fresh = await freshDatabase()
  const database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  keystride = keystrideWith({ DATABASE_URL: fresh.url, ENCRYPTION_KEY: Buffer.alloc(32, 3).toString('base64') })
  org = await organization(database)
  await database.close()
})
afterAll(async () => fresh.drop())

/** Each command is a process that takes a second, or longer on a busy machine. */
describe('keystride organization redirects', { timeout: 120_000 }, () => {
  const redirects = (...given: string[]) => keystride('organization', 'redirects', ...given)

  it('shows the list, replaces it, and removes it', async () => {
    expect((await redirects(org)).stdout).toBe('any https address\n')
    const set = await redirects(org, 'https://App.example.com', 'http://localhost:3000')
    expect(set.stdout).toBe('https://app.example.com\nhttp://localhost:3000\n')
    expect((await redirects(org)).stdout).toBe(set.stdout)
    expect((await redirects(org, '--any')).stdout).toBe('any https address\n')
  })

  it('takes only origins, of a known organization', async () => {
    for (const given of [
      [org, 'https://app.example.com/path'],
      [org, 'http://app.example.com'],
      [org, '*'],
      [org, '--any', 'https://a.example'],
    ])
      expect([given, (await redirects(...given)).status]).toEqual([given, 2])
    const unknown = await redirects('0198c0de-0000-7000-8000-000000000000', 'https://a.example')
    expect([unknown.status, unknown.stderr]).toEqual([1, 'keystride: there is no organization of that id\n'])
  })
})
