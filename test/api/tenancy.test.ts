import { v7 as uuid } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Route } from '../../src/http/route.js'
import { figure, LONG } from '../harness/figure.js'
import { sharedService } from '../harness/service.js'
import { visited } from '../harness/sign-ins.js'
import { ROWS } from './rows.js'
import { speakingFor } from './second-service.js'

/** Number of answers that are searched for another organization's words. The full number runs before a release. */
const ANSWERS = LONG ? 10_000 : 1500

const WINDOW = { date_from: '2026-01-01T00:00:00Z', date_to: '2026-01-02T00:00:00Z' }

/** An organization, its data, and the words that only it may see. */
interface Tenant {
  readonly apikey: string
  readonly canary: string
  /** A user that no other organization has. */
  readonly only: string
  readonly session: string
  readonly ids: Readonly<Record<string, string>>
}

const service = await sharedService()
const base = service.core.replace(/\/core$/, '')
const tenants: Tenant[] = []
/** Makes a pattern that was never sent. */
let fresh: () => unknown

async function ask(
  tenant: Tenant,
  method: string,
  path: string,
  { body, session = tenant.session }: { body?: unknown; session?: string } = {},
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${base}${path}`, {
    method: method.toUpperCase(),
    redirect: 'manual',
    headers: {
      apikey: tenant.apikey,
      'x-service-session': session,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Fills an organization with data. */
async function settled(
  { organizationId, apikey }: { organizationId: string; apikey: string },
  n: number,
): Promise<Tenant> {
  const own = speakingFor(service, organizationId, apikey)
  const dashboard = (method: string, path: string, body?: unknown) => own.dashboard(method, path, { body })
  const canary = `canary${'abc'[n]?.repeat(6)}`
  const only = `only-${canary}`
  await own.call('POST', '/users/ann', { body: { user_display_name: canary } })
  const { ids, who } = await visited(own, 'ann')
  await own.call('PATCH', '/users/ann', { body: { groups: [canary], tag: { room: canary } } })
  await own.call('POST', '/users/desk', { body: { type: 'generic', member_ref: `${canary}-eve` } })
  await own.call('POST', `/users/${only}`)
  const word = await own.call('POST', '/organization/typing-words', { body: { word: canary, language: 'en' } })
  const policy = await dashboard('POST', '/policies', {
    ...content((await dashboard('GET', '/default-policy')).json),
    name: canary,
  })
  const patterns: { id: string; kind?: string }[] = (await dashboard('GET', '/patterns')).json.data
  const logs = (await dashboard('GET', '/logs')).json.data
  const archive = await dashboard('POST', '/management/export-log', WINDOW)
  const key = await dashboard('POST', '/keys', { label: canary, scopes: ['dashboard'] })
  fresh = who.fresh
  expect([word.status, policy.status, archive.status, key.status]).toEqual([201, 201, 202, 201])
  return {
    apikey,
    canary,
    only,
    session: who.session,
    ids: {
      authentication: ids[0] ?? '',
      pattern: patterns[0]?.id ?? '',
      policy: policy.json.data.id,
      word: word.json.id ?? word.json.word?.id,
      key: key.json.data.id,
      log: logs[0]?.id ?? uuid(),
      archive: archive.json.id,
    },
  }
}

/** The part of a policy's answer that a request may send. */
function content({ data }: { data: Record<string, unknown> }): Record<string, unknown> {
  const { id, is_default, is_shadow, created_at, updated_at, archived_at, ...rest } = data
  return rest
}

beforeAll(async () => {
  for (const [n, organization] of [service, await service.another(), await service.another()].entries())
    tenants.push(await settled(organization, n))
})

const tenant = (n: number): Tenant => {
  const found = tenants[n]
  if (found === undefined) throw new Error(`no organization ${n}`)
  return found
}

/** The organization's id of the kind that a path takes. A new path with an id must be added here. */
function idOf(path: string, ids: Tenant['ids']): string {
  const kinds: readonly (readonly [RegExp, string])[] = [
    [/^\/authentication/, 'authentication'],
    [/^\/policies\//, 'policy'],
    [/^\/logs\//, 'log'],
    [/^\/keys\//, 'key'],
    [/^\/users\/\{userRef\}\/typing-patterns\//, 'pattern'],
    [/^\/feedback\//, 'authentication'],
  ]
  const kind = kinds.find(([pattern]) => pattern.test(path))?.[1]
  if (kind === undefined) throw new Error(`${path}: add the kind of its id to this test`)
  return ids[kind] ?? ''
}

/** A route's path with the parameters of one organization. */
const pathOf = (row: Route<never>, userRef: string, ids: Tenant['ids']): string =>
  row.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const values: Record<string, string> = {
      userRef,
      search: userRef,
      tag: 'app',
      indicator: 'device',
      signal: 'gpu',
      type: 'events',
    }
    return values[name] ?? idOf(row.path, ids)
  })

/** A body for the route, with ids of one organization. */
function bodyOf(name: string, ids: Tenant['ids'], policy: Record<string, unknown>): unknown {
  const bodies: Record<string, unknown> = {
    'patch /core/users/{userRef}': { groups: ['x'] },
    'post /core/users/{userRef}/typing-patterns': fresh(),
    'post /core/users/{userRef}/verify': fresh(),
    'put /core/users/{userRef}/security-code': { securityCode: '482915' },
    'post /core/users/{userRef}/pending-action': { action: 'RESET_BIOMETRIC_PROFILE' },
    'put /core/users/{userRef}/preferred-language': { language: 'fr' },
    'patch /core/organization/typing-words': { id: ids.word, enabled: false },
    'delete /core/organization/typing-words': { id: ids.word },
    'post /core/user-verify/{userRef}': fresh(),
    'post /core/user-action/{userRef}': { action: 'LINK_PATTERN_ID', patternId: ids.pattern },
    'put /dashboard/policies/{id}': { ...policy, name: 'taken' },
    'post /dashboard/policies/{id}/simulate': WINDOW,
    'post /dashboard/patterns': { ids: [ids.pattern] },
    'post /dashboard/management/download-archive': { id: ids.archive },
    'post /dashboard/sorting/users': {},
    'post /dashboard/aggregations/blocked-users/batch': { windows: [WINDOW] },
    'post /dashboard/data-counter/batch': { windows: [WINDOW] },
    'post /dashboard/users/{userRef}/actions': { action: 'unlock' },
    'post /dashboard/logs': {},
    'post /dashboard/management/logs-archives': {},
  }
  return bodies[name]
}

/** Routes that name no object, or create the object that they name. */
const MAKES = new Set([
  'post /core/users/{userRef}',
  'post /core/organization/typing-words',
  'patch /core/organization/language',
  'delete /core/user-display-names',
  'post /auth/api/links/create-profile/{userRef}',
  'post /dashboard/policies',
  'post /dashboard/keys',
  'post /dashboard/management/export-log',
])
/** Routes that name an object in their body. */
const NAMING = new Set([
  'patch /core/organization/typing-words',
  'delete /core/organization/typing-words',
  'post /dashboard/patterns',
  'post /dashboard/management/download-archive',
])
const naming = ROWS.filter(([name, , row]) => !MAKES.has(name) && (row.path.includes('{') || NAMING.has(name)))

/** An answer without its varying parts, and without the caller's own input. */
const alike = ({ status, text }: { status: number; text: string }, input: readonly string[]) => {
  const same = input.reduce((all, one) => all.replaceAll(one, '*'), text)
  return [
    status,
    same
      .replace(/"timestamp":"[^"]*"/g, '')
      .replace(/"sessionId":"[^"]*"/g, '')
      .replace(/"suggestedWords":\[[^\]]*\]/g, ''),
  ]
}

/** All data that one organization can read, without the traces of its own reads. */
async function holdings(of: Tenant): Promise<string[]> {
  const paths = [
    '/dashboard/users',
    '/dashboard/policies',
    '/dashboard/keys',
    '/dashboard/authentications',
    '/dashboard/patterns',
    '/core/organization/typing-words?language=en',
    '/dashboard/aggregations/groups/',
  ]
  const found = []
  for (const path of paths) found.push((await ask(of, 'get', path)).text.replace(/"timestamp":"[^"]*"/, ''))
  return found
}

describe('an organization', () => {
  it.each(naming)(
    'gets the same answer in %s for another one’s objects as for missing ones',
    async (name, api, row) => {
      const [own, other] = [tenant(0), tenant(1)]
      const policy = content(JSON.parse((await ask(own, 'get', '/dashboard/default-policy')).text))
      const nobody: Record<string, string> = Object.fromEntries(Object.keys(other.ids).map((kind) => [kind, uuid()]))
      const absent = `only-${'z'.repeat(other.only.length - 5)}`
      const before = await holdings(other)
      const foreign = await ask(own, row.method, `/${api}${pathOf(row, other.only, other.ids)}`, {
        body: bodyOf(name, other.ids, policy),
      })
      const missing = await ask(own, row.method, `/${api}${pathOf(row, absent, nobody)}`, {
        body: bodyOf(name, nobody, policy),
      })
      expect(alike(foreign, [other.only, ...Object.values(other.ids)])).toEqual(
        alike(missing, [absent, ...Object.values(nobody)]),
      )
      expect(await holdings(other)).toEqual(before)
    },
  )

  it('does not accept a session of another, even for a user of the same name', async () => {
    for (const path of ['/core/users/ann/verify', '/core/users/ann/typing-patterns']) {
      const { status, text } = await ask(tenant(0), 'post', path, { body: fresh(), session: tenant(1).session })
      expect([status, text]).toEqual([400, expect.stringContaining('bootstrap with GET /users/{userRef}')])
    }
  })

  it(`reads none of the others' words in ${ANSWERS} answers`, async () => {
    const reads = ROWS.filter(([, , row]) => row.method === 'get')
    const searches = [
      '/dashboard/users?user_ref_filter=canary',
      '/dashboard/users-refs/only',
      '/dashboard/authentications?user_ref=ann',
      '/dashboard/aggregations/users?user_ref_filter=only',
      '/dashboard/logs?limit=500',
    ]
    let [asked, read, leaking] = [0, 0, 0]
    while (asked < ANSWERS) {
      for (const own of tenants) {
        const others = tenants.filter((one) => one !== own)
        const paths = [
          ...reads.flatMap(([, api, row]) => [
            `/${api}${pathOf(row, 'ann', own.ids)}`,
            ...others.map((other) => `/${api}${pathOf(row, other.only, other.ids)}`),
          ]),
          ...searches,
        ]
        for (let at = 0; at < paths.length; at += 8) {
          const some = paths.slice(at, at + 8)
          const answers = await Promise.all(some.map((path) => ask(own, 'get', path)))
          for (const [i, { status, text }] of answers.entries()) {
            asked++
            if (status === 200) read++
            // The caller's own input may be in the answer.
            const theirs = others.map(({ canary }) => canary).filter((canary) => !some[i]?.includes(canary))
            if (theirs.some((canary) => text.includes(canary))) {
              leaking++
              console.log(`${some[i]} (${status}) contains another organization's word`)
            }
          }
        }
      }
    }
    expect(read).toBeGreaterThan(asked / 4)
    figure('T02', `${leaking} of ${asked.toLocaleString('en')} answers with another’s words`, '0', leaking === 0)
  }, 300_000)

  it('reads its own words in these answers, so that the count above can fail', async () => {
    for (const own of tenants) {
      const found = (await holdings(own)).join('')
      expect(found).toContain(own.canary)
      expect(found).toContain(own.only)
    }
  })
})
