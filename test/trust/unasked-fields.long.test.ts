import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'
import { rowsAsText } from './stores-text.js'

const BODIES = LONG ? 5_000 : 160

/** Calls with a JSON body that each accepts; `{u}` stands for the user. */
const CALLS: readonly (readonly [method: string, path: string, body: Record<string, unknown>])[] = [
  ['POST', '/core/users/{u}', { user_display_name: 'Ann' }],
  ['PATCH', '/core/users/{u}', { groups: ['x'], tag: { room: '1' } }],
  ['PUT', '/core/users/{u}/preferred-language', { language: 'fr' }],
  ['POST', '/core/users/{u}/pending-action', { action: 'UPDATE_BIOMETRIC_PROFILE' }],
  ['PATCH', '/core/organization/language', { default_language: 'en' }],
  ['POST', '/auth/api/links/create-profile/{u}', { validity: 600 }],
  ['POST', '/dashboard/users/{u}/actions', { action: 'clear-pending-action' }],
  ['POST', '/dashboard/notifications/read', { all: true }],
]
/** Fields that some of these calls accept. */
const TAKEN = new Set(
  [
    'type',
    'memberRef',
    'userDisplayName',
    'rotateSecurityCode',
    'groups',
    'tag',
    'memberSelection',
    'language',
    'action',
  ]
    .concat(['validity', 'redirectUri', 'all', 'id', 'defaultLanguage', 'languageMode', 'mode', 'displayName'])
    .map((name) => name.toLowerCase()),
)

describe('unknown fields in a body', { timeout: 600_000 }, () => {
  let fresh: FreshDatabase
  let service: TestService
  let database: Database
  beforeAll(async () => {
    fresh = await freshDatabase()
    service = await startService(fresh.url)
    database = connectPostgres({ url: fresh.url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
    await fresh.drop()
  })

  const base = () => service.core.replace('/core', '')
  const ask = async ([method, path]: (typeof CALLS)[number], userRef: string, body: object) => {
    const answer = await fetch(base() + path.replace('{u}', userRef), {
      method,
      headers: { apikey: service.apikey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    return answer.status
  }

  /** Every column name, as rows and as bodies spell it. */
  async function columns(): Promise<string[]> {
    const rows = await database.asSystem(
      (sql) => sql<{ name: string }[]>`
        select distinct a.attname as name from pg_catalog.pg_attribute a
        join pg_catalog.pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'keystride'::regnamespace and a.attnum > 0 and not a.attisdropped`,
    )
    const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    return [...new Set(rows.flatMap(({ name }) => [name, camel(name)]))].filter(
      (name) => !TAKEN.has(name.replaceAll('_', '').toLowerCase()),
    )
  }

  /** The stored rows of a user and of the organization, without ids, times and the user's name. */
  async function stored(userRef: string): Promise<string> {
    const rows = await rowsAsText(database)
    const ids = await database.asSystem(
      (sql) => sql<{ account: string; member: string }[]>`
        select a.id as account, m.id as member from keystride.account a join keystride.member m on m.account_id = a.id
        where a.user_ref = ${userRef}`,
    )
    const own = [userRef, ...ids.flatMap(({ account, member }) => [account, member])]
    const tables = ['account', 'member', 'organization', 'api_key', 'policy', 'headcount', 'channel', 'alert_rules']
    return tables
      .flatMap((table) => rows.get(`keystride.${table}`) ?? [])
      .filter((row) => own.some((one) => row.includes(one)) || !/only-(asked|more)/.test(row))
      .map((row) =>
        row
          .replaceAll(userRef, 'USER')
          .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
          .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+\d\d/g, 'TIME'),
      )
      .sort()
      .join('\n')
  }

  it('change no stored row', async () => {
    const names = await columns()
    expect(names.length).toBeGreaterThan(150)
    const random = seededRandom(34)
    const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T // there is one
    const { organizationId } = await service.another()
    const values = [
      organizationId,
      true,
      false,
      null,
      999,
      -1,
      '',
      '2030-01-01T00:00:00Z',
      {},
      [],
      { streak: 0 },
      'ok',
      'full',
    ]
    for (const userRef of ['only-asked', 'only-more']) await service.call('POST', `/users/${userRef}`)
    let sent = 0
    for (; sent < BODIES; sent++) {
      const call = CALLS[sent % CALLS.length] as (typeof CALLS)[number]
      const more = Object.fromEntries(
        Array.from({ length: 1 + Math.floor(random() * 12) }, () => [oneOf(names), oneOf(values)]),
      )
      const status = await ask(call, 'only-more', { ...more, ...call[2] })
      expect([call[1], status < 300, JSON.stringify(more)]).toEqual([call[1], true, JSON.stringify(more)])
      expect(await ask(call, 'only-asked', call[2])).toBe(status)
    }
    // The user without unknown fields must have the same rows.
    const [plain, more] = [await stored('only-asked'), await stored('only-more')]
    expect(plain.split('\n').length).toBeGreaterThan(5)
    const lines = more.split('\n')
    const changed = plain.split('\n').filter((line, i) => line !== lines[i])
    if (changed.length > 0) console.log(changed.join('\n'), '\n', lines.join('\n'))
    const found = `${changed.length} stored rows changed by ${sent.toLocaleString('en')} bodies with up to 12 of ${names.length} foreign fields`
    figure('T34', found, '0', changed.length === 0)
  })
})
