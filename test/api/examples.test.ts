import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { bodySchemaOf } from '../../src/http/docs/route-docs.js'
import type { Route } from '../../src/http/route.js'
import { type Answer, startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

const MADE_UP_ID = 'its id is invented: no id of an organization is known in advance'
/** Examples that cannot succeed unchanged, with their refusal. The examples of a route are numbered from 0. */
const REFUSED: Record<string, { readonly refusal: readonly [number, string]; readonly because: string }> = {
  'delete /organization/typing-words 0': { refusal: [404, 'invalid-data'], because: MADE_UP_ID },
  'post /notifications/read 1': { refusal: [404, 'invalid-data'], because: MADE_UP_ID },
  'post /management/download-archive 0': { refusal: [404, 'invalid-data'], because: MADE_UP_ID },
}
const API_CALLS = [
  ['core', coreRoutes, 'call'],
  ['auth', linkRoutes, 'callLinks'],
  ['dashboard', dashboardRoutes, 'dashboard'],
] as const

interface Example {
  readonly api: string
  readonly row: Route<never>
  readonly name: string
  readonly body: unknown
  readonly send: (service: TestService, path: string, session: string) => Promise<Answer>
}
const examplesOf = (row: Route<never>): readonly unknown[] => bodySchemaOf(row.body)?.examples ?? []
const examples: Example[] = API_CALLS.flatMap(([api, rows, call]) =>
  rows.flatMap((row) =>
    examplesOf(row).map((body, n) => ({
      api,
      row,
      name: `${row.method} ${row.path} ${n}`,
      body,
      send: (service, path, session) =>
        call === 'dashboard'
          ? service.dashboard(row.method.toUpperCase(), path, { body })
          : service[call](row.method.toUpperCase(), path, { body, ...(row.needsSession ? { session } : {}) }),
    })),
  ),
)

describe('the examples of the documents', () => {
  let service: TestService
  let ids: Record<string, string>
  let session: string
  beforeAll(async () => {
    const more = { ALERT_HOSTS: 'smtp.example.com, sms.example.com, logs.example.com, hooks.example.com' }
    service = await startService((await freshDatabase()).url, { more })
    await service.call('POST', '/users/ann')
    session = (await service.bootstrap('ann')).session
    const policy = (await service.dashboard('GET', '/default-policy')).json.data.id
    ids = { userRef: 'ann', id: policy, authenticationId: policy }
  })
  afterAll(() => service.close())

  it('exist for every JSON body; those of typing patterns say how to get one', () => {
    for (const [, rows] of API_CALLS)
      for (const row of rows) {
        const where = `${row.method} ${row.path}`
        if (row.body.kind === 'json') expect(examplesOf(row).length, where).toBeGreaterThan(0)
        if (row.body.kind === 'bytes')
          expect(JSON.stringify(bodySchemaOf(row.body)), where).toContain('keystride typing-pattern')
      }
  })

  it.each(examples)('succeed unchanged, or get the known refusal: $api $name', async ({ row, name, body, send }) => {
    // Each example that creates a user has its own userRef, so that none finds an existing user.
    const own = row.path === '/users/{userRef}' && row.method === 'post' ? { userRef: `new-${name.at(-1)}` } : {}
    const filled: Record<string, string> = { ...ids, ...own }
    const path = row.path.replace(/\{([^}]+)\}/g, (_, param: string) => filled[param] ?? `no ${param}`)
    const { status, json } = await send(service, path, session)
    const known = REFUSED[name]
    const context = JSON.stringify({ body, json })
    if (known !== undefined) expect([status, json.reason], context).toEqual(known.refusal)
    else expect([Math.floor(status / 100), status in row.replies], context).toEqual([2, true])
  })

  it('include every example that is listed as refused', () => {
    expect(examples.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(REFUSED)))
  })
})
