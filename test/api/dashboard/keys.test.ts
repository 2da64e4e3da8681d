import { describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../../src/api/dashboard-table.js'
import { KEY_SCOPES, type KeyScope, scopesInclude } from '../../../src/domain/organization.js'
import { onlyReads } from '../../../src/http/caller.js'
import { until } from '../../harness/patience.js'
import { sharedService } from '../../harness/service.js'
import { ownRows } from '../own-rows.js'

const service = await sharedService()

const ask = (method: string, path: string, body?: unknown, apikey?: string) =>
  service.dashboard(method, path, { body, ...(apikey === undefined ? {} : { apikey }) })
const issue = async (scopes: readonly KeyScope[], more: object = {}, apikey?: string) =>
  ask('POST', '/keys', { label: 'test', scopes, ...more }, apikey)
/** A live key with these scopes. */
const keyWith = async (...scopes: KeyScope[]): Promise<{ id: string; apikey: string }> =>
  (await issue(scopes)).json.data
/** All routes of the dashboard that change something. */
const WRITES =
  /^(post \/users\/\{userRef\}\/actions|post \/management\/export-log|(post|put|delete) \/(policies|alert|keys).*|(get|post) \/notifications\/read|delete \/organization\/made-up-people)$/
const SOON = new Date(Date.now() + 3_600_000).toISOString()
const LATER = new Date(Date.now() + 7_200_000).toISOString()

describe('an API key', () => {
  it('is issued with its scopes, works at once, and is shown once', async () => {
    const made = await issue(['dashboard:read'], { label: ' wall screen ', expires_at: SOON })
    expect(made.status).toBe(201)
    const { id, apikey, ...rest } = made.json.data
    expect(rest).toEqual({ label: 'wall screen', scopes: ['dashboard:read'], expires_at: SOON })
    expect((await ask('GET', '/policies', undefined, apikey)).status).toBe(200)
    const listed = await ask('GET', '/keys?limit=1')
    expect(listed.json.count).toBe(2)
    expect(listed.json.data).toEqual([
      expect.objectContaining({ id, label: 'wall screen', state: 'live', own: false, revoked_at: null }),
    ])
    expect(JSON.stringify(listed.json)).not.toContain(apikey)
  })

  it('says what it may do', async () => {
    const { apikey, id } = await keyWith('dashboard:read', 'links')
    expect((await ask('GET', '/key', undefined, apikey)).json.data).toMatchObject({
      id,
      own: true,
      organization_id: service.organizationId,
      scopes: ['links', 'dashboard:read'],
      may: { read: true, operate: false, core: false, links: true },
    })
    expect((await ask('GET', '/key')).json.data.may).toEqual({ read: true, operate: true, core: true, links: true })
  })

  it('for reads of the dashboard only reads, and one for writes only writes', async () => {
    const writes = dashboardRoutes.filter((route) => !onlyReads(route))
    expect(writes.length).toBeGreaterThan(5)
    expect(writes.map(({ method, path }) => `${method} ${path}`).filter((route) => !WRITES.test(route))).toEqual([])
    const keys = [await keyWith('dashboard:read'), await keyWith('dashboard:operate'), await keyWith('dashboard')]
    for (const [method, path, body, statuses] of [
      ['GET', '/policies', undefined, [200, 403, 200]],
      ['POST', '/logs', {}, [200, 403, 200]],
      ['POST', '/notifications/read', { all: true }, [403, 200, 200]],
      ['GET', '/notifications/read?all=true', undefined, [403, 200, 200]],
    ] as const) {
      const answers = await Promise.all(keys.map(({ apikey }) => ask(method, path, body, apikey)))
      expect(answers.map(({ status }) => status)).toEqual(statuses)
    }
    const headers = { apikey: keys[2]?.apikey ?? '' }
    expect((await service.call('GET', '/organization', { headers })).status).toBe(403)
  })

  it('is refused after its expiry', async () => {
    const { id, apikey } = (await issue(['dashboard'], { expires_at: SOON })).json.data
    await ownRows(service)(
      (sql) => sql`update keystride.api_key set expires_at = now() - interval '1 s' where id = ${id}`,
    )
    expect((await ask('GET', '/policies', undefined, apikey)).status).toBe(401)
  })

  it('issues no key with a scope that it does not have', async () => {
    const { apikey } = await keyWith('dashboard')
    for (const scopes of [['core'], ['links'], ['dashboard', 'core']] as const)
      expect((await issue(scopes, {}, apikey)).json.reason).toBe('invalid-action')
    for (const scopes of [['dashboard'], ['dashboard:read'], ['dashboard:operate', 'dashboard:read']] as const)
      expect((await issue(scopes, {}, apikey)).status).toBe(201)
    const half = (await keyWith('dashboard:operate')).apikey
    expect((await issue(['dashboard'], {}, half)).status).toBe(403)
    expect((await issue(['dashboard:read'], {}, half)).status).toBe(403)
    expect((await issue(['dashboard:operate'], {}, half)).status).toBe(201)
  })

  it('that expires issues none that is valid for longer', async () => {
    const { apikey } = (await issue(['dashboard'], { expires_at: SOON })).json.data
    expect((await issue(['dashboard'], {}, apikey)).json.data.expires_at).toBe(SOON)
    expect((await issue(['dashboard'], { expires_at: LATER }, apikey)).status).toBe(403)
    expect((await issue(['dashboard'], { expires_at: '2020-01-01' })).json.message).toContain('expires_at')
  })

  it('is refused within a second of its revocation, and is listed as revoked', async () => {
    const { id, apikey } = await keyWith('dashboard')
    expect((await ask('GET', '/key', undefined, apikey)).status).toBe(200)
    expect((await ask('DELETE', `/keys/${id}`)).status).toBe(200)
    // Before the key leaves the cache of this process, it still reads, but issues nothing.
    expect((await issue(['dashboard'], {}, apikey)).status).toBe(401)
    await until(async () => (await ask('GET', '/policies', undefined, apikey)).status === 401)
    expect((await ask('DELETE', `/keys/${id}`)).status).toBe(404)
    const all: { id: string; state: string }[] = (await ask('GET', '/keys?limit=500')).json.data
    expect(all.find((one) => one.id === id)?.state).toBe('revoked')
    const live: { id: string }[] = (await ask('GET', '/keys?limit=500&live=true')).json.data
    expect(live.map((one) => one.id)).not.toContain(id)
  })

  // Regression: a key that only operates the dashboard revoked the core key of the organization.
  it('revokes no key with a scope that it does not have', async () => {
    const operator = (await keyWith('dashboard:operate')).apikey
    const full = (await keyWith('dashboard')).apikey
    const revoke = (id: string, apikey: string) => ask('DELETE', `/keys/${id}`, undefined, apikey)
    for (const scopes of [['core'], ['links'], ['dashboard:operate', 'core']] as const) {
      const { id, apikey } = await keyWith(...scopes)
      for (const by of [operator, full]) {
        const { status, json } = await revoke(id, by)
        expect([status, json.reason, json.message]).toEqual([
          403,
          'invalid-action',
          'a key revokes no key with a scope that it does not have itself',
        ])
      }
      expect((await issue(scopes, {}, apikey)).status).toBe(scopes.length === 2 ? 201 : 403)
    }
    const reader = await keyWith('dashboard:read')
    expect((await revoke(reader.id, operator)).status).toBe(403)
    expect((await revoke(reader.id, full)).status).toBe(200)
    expect((await revoke((await keyWith('dashboard:operate')).id, operator)).status).toBe(200)
  })

  it('does not revoke itself', async () => {
    const { id, apikey } = await keyWith('dashboard')
    const refused = await ask('DELETE', `/keys/${id}`, undefined, apikey)
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('by another key')])
    expect((await ask('GET', '/key', undefined, apikey)).json.data.state).toBe('live')
  })

  it('of another organization is neither listed nor revoked', async () => {
    const other = await service.another()
    const theirs = (await ask('GET', '/keys', undefined, other.apikey)).json
    expect([theirs.count, theirs.data[0].label]).toEqual([1, 'another'])
    expect((await ask('DELETE', `/keys/${theirs.data[0].id}`)).status).toBe(404)
    expect((await ask('GET', '/key', undefined, other.apikey)).status).toBe(200)
  })
})

it('scopes include others as the calls that they open do', () => {
  const parts = (scopes: readonly KeyScope[]) =>
    new Set(scopes.flatMap((scope) => (scope === 'dashboard' ? ['dashboard:read', 'dashboard:operate'] : [scope])))
  const sets = Array.from({ length: 2 ** KEY_SCOPES.length }, (_, bits) =>
    KEY_SCOPES.filter((_, at) => (bits & (1 << at)) !== 0),
  )
  for (const held of sets)
    for (const wanted of sets)
      expect(scopesInclude(held, wanted)).toBe([...parts(wanted)].every((part) => parts(held).has(part)))
})

describe('the organization', () => {
  it('shows its settings, quotas and their use, and only its own', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'eve' } })
    const other = await service.another('Elsewhere')
    expect((await ask('GET', '/organization')).json.data).toEqual({
      id: service.organizationId,
      name: 'Test',
      created_at: expect.any(String),
      default_language: 'en',
      language_mode: 'auto',
      redirect_origins: [],
      key_rate: null,
      quotas: { mode: 'soft', accounts: 0, shared_accounts: 0, members_per_shared_account: 0 },
      use: { n_accounts: 1, n_accounts_generic: 1, n_users: 1 },
      over_quota: false,
      trial: false,
      n_made_up: 0,
    })
    expect((await ask('GET', '/organization', undefined, other.apikey)).json.data).toMatchObject({
      name: 'Elsewhere',
      use: { n_accounts: 0 },
    })
  })
})
