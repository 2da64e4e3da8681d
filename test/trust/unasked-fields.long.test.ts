import { expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { figure, LONG } from '../harness/figure.js'
import { sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'
import { randomOn } from '../simulator/scheduler.js'
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
/** Fields that some of these calls accept, without the separators of words. */
const TAKEN = new Set(
  'type memberref userdisplayname rotatesecuritycode groups tag memberselection language action validity redirecturi all id defaultlanguage languagemode mode displayname'.split(
    ' ',
  ),
)

const service = await sharedService()
const database = databaseOf(service)

async function ask([method, path]: (typeof CALLS)[number], userRef: string, body: object): Promise<number> {
  const answer = await fetch(service.core.replace('/core', path.replace('{u}', userRef)), {
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
  const spelt = new Set(rows.flatMap(({ name }) => [name, camel(name)]))
  return [...spelt].filter((name) => !TAKEN.has(name.replaceAll('_', '').toLowerCase()))
}

/** The rows of a user, without ids, times and the name of the user. */
async function stored(userRef: string): Promise<string[]> {
  const ids = await database.asSystem(
    (sql) => sql<{ account: string; member: string }[]>`
      select a.id as account, m.id as member from keystride.account a join keystride.member m on m.account_id = a.id
      where a.organization_id = ${service.organizationId} and a.user_ref = ${userRef}`,
  )
  const own = [userRef, ...ids.flatMap(({ account, member }) => [account, member])]
  const rows = await rowsAsText(database)
  return ['account', 'member', 'organization', 'api_key', 'policy', 'headcount', 'channel', 'alert_rules']
    .flatMap((table) => rows.get(`keystride.${table}`) ?? [])
    .filter((row) => own.some((one) => row.includes(one)) || !/only-(asked|more)/.test(row))
    .map((row) =>
      row
        .replaceAll(userRef, 'USER')
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
        .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*\+\d\d/g, 'TIME'),
    )
    .sort()
}

it('unknown fields in a body change no stored row', async () => {
  const names = await columns()
  expect(names.length).toBeGreaterThan(150)
  const { below, pick } = randomOn(seededRandom(34))
  const { organizationId } = await service.another()
  const dates = '2030-01-01T00:00:00Z'
  const values = [organizationId, true, false, null, 999, -1, '', dates, {}, [], { streak: 0 }, 'ok', 'full']
  for (const userRef of ['only-asked', 'only-more']) await service.call('POST', `/users/${userRef}`)
  for (let n = 0; n < BODIES; n++) {
    const call = CALLS[n % CALLS.length] as (typeof CALLS)[number]
    const fields = Array.from({ length: 1 + below(12) }, () => [pick(names), pick(values)])
    const body = { ...Object.fromEntries(fields), ...call[2] }
    const status = await ask(call, 'only-more', body)
    expect([call[1], status < 300, body]).toEqual([call[1], true, body])
    expect(await ask(call, 'only-asked', call[2])).toBe(status)
  }
  // The user without unknown fields must have the same rows.
  const [plain, more] = [await stored('only-asked'), await stored('only-more')]
  expect(plain.length).toBeGreaterThan(5)
  const changed = plain.filter((line, i) => line !== more[i])
  if (changed.length > 0) console.log(changed.join('\n'), '\n', more.join('\n'))
  const found = `${changed.length} rows changed by ${BODIES.toLocaleString('en')} bodies with foreign fields`
  figure('T34', found, '0', changed.length === 0)
}, 600_000)
