import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { redisUrl } from '../harness/service.js'
import { type On, startTwo, type TwoServices } from '../harness/two-services.js'
import { redisAsBytes, rowsAsText } from './stores-text.js'

const CALLS = LONG ? 10_000 : 200

describe('an API key', () => {
  let two: TwoServices
  /** The key of the organization, which issues and revokes the others. */
  let first: string
  beforeAll(async () => {
    two = await startTwo(redisUrl, { LOG_LEVEL: 'trace' })
    first = /apikey: (\S+)/i.exec(two.bytes('GET', '/status').toString())?.[1] ?? ''
  })
  afterAll(() => two.close())

  async function ask(
    on: On,
    apikey: string,
    path: string,
    { method = 'GET', body = undefined as unknown, session = '' } = {},
  ) {
    const answer = await fetch(two.services[on].core.replace('/core', path), {
      method,
      headers: { apikey, 'content-type': 'application/json', 'x-service-session': session },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const said = await answer.text()
    return {
      status: answer.status,
      session: answer.headers.get('x-service-session') ?? '',
      all: `${[...answer.headers]} ${said}`,
      said,
    }
  }
  const issue = async (...scopes: string[]): Promise<{ id: string; apikey: string }> => {
    const { said } = await ask(0, first, '/dashboard/keys', { method: 'POST', body: { label: 'test', scopes } })
    return JSON.parse(said).data
  }

  it('is refused by every process 1 s after its revocation', async () => {
    const { id, apikey } = await issue('core')
    for (const on of [0, 1] as const) expect((await ask(on, apikey, '/core/organization')).status).toBe(200)
    expect((await ask(0, first, `/dashboard/keys/${id}`, { method: 'DELETE' })).status).toBe(200)
    await delay(1000)
    let accepted = 0
    for (let n = 0; n < CALLS; n++)
      if ((await ask((n % 2) as On, apikey, '/core/organization')).status < 400) accepted++
    const found = `${accepted} of ${CALLS.toLocaleString('en')} calls accepted after 1 s`
    figure('T01', found, '0', accepted === 0)
  })

  it('opens no API outside its scopes', async () => {
    const reads = dashboardRoutes.filter(({ method, path }) => method === 'get' && !path.includes('{'))
    const paths = {
      core: ['/core/organization', '/core/users/ann', '/core/users/ann/members'],
      links: ['/auth/api/links/ann'],
      dashboard: reads.map(({ path }) => `/dashboard${path}`),
    }
    const statusOf = async (apikey: string, path: string) =>
      (await ask(1, apikey, path, path.startsWith('/auth') ? { method: 'DELETE' } : {})).status
    const others: number[] = []
    for (const [scope, own] of Object.entries(paths)) {
      const { apikey } = await issue(scope)
      expect(await statusOf(apikey, own[0] ?? '')).not.toBe(403)
      const foreign = Object.values(paths).filter((one) => one !== own)
      for (const path of foreign.flat()) others.push(await statusOf(apikey, path))
    }
    const allowed = others.filter((status) => status !== 403).length
    figure('T01', `${allowed} of ${others.length} calls beyond the scopes allowed`, '0', allowed === 0)
  })

  it('appears in no log, table, Redis key or answer, and neither does the id of a session', async () => {
    const { apikey } = await issue('core', 'links', 'dashboard')
    const answers: string[] = []
    const said = async (path: string, options: Parameters<typeof ask>[3] = {}, on: On = 0) => {
      const { all, session } = await ask(on, apikey, path, options)
      answers.push(all)
      return session
    }
    await said('/core/users/ann', { method: 'POST' })
    const session = await said('/core/users/ann')
    for (const n of [0, 1] as const)
      await said('/core/users/ann/typing-patterns', { method: 'POST', session, body: person(77).types(text(n), n) }, n)
    await said('/core/users/ann/security-code', { method: 'PUT', session, body: { securityCode: '749205' } })
    // These calls have the key in a path, a query or a body, where it does not belong.
    for (const path of [`/core/nowhere/${apikey}`, `/core/users/ann?apikey=${apikey}`]) await said(path)
    await said('/core/users/ann/verify', { method: 'POST', session, body: { securityCode: apikey } })
    for (const { method, path } of dashboardRoutes)
      if (method === 'get' && !path.includes('{')) await said(`/dashboard${path}`)
    // A process that stops writes the usage and requests that it has counted.
    await Promise.all(two.services.map((one) => one.stop()))

    const database = connectPostgres({ url: two.databaseUrl, max: 2, patience: 10 })
    const rows = [...(await rowsAsText(database)).values()].flat()
    await database.close()
    const stored = redisUrl === null ? [] : [...(await redisAsBytes(redisUrl))]
    const needles = [apikey, session].flatMap((one) => [
      one.replace('ks_', ''),
      Buffer.from(one).toString('hex'),
      Buffer.from(one.replace('ks_', ''), 'base64url').toString('hex'),
    ])
    const holds = (text: string) => needles.some((one) => text.toLowerCase().includes(one.toLowerCase()))
    const places = {
      logs: two.services.map(({ output }) => output()).filter(holds).length,
      rows: rows.filter(holds).length,
      'Redis keys': stored.filter(([key, value]) => holds(key) || holds(value.toString('latin1'))).length,
      answers: answers.filter((all) => holds(all.replaceAll(session, ''))).length,
    }
    // The same scan must find the hash of the key, which is stored.
    expect(rows.some((row) => row.includes(sha256Hex(apikey)))).toBe(true)
    expect(two.services.every(({ output }) => output().length > 100)).toBe(true)
    const searched = rows.length + stored.length + answers.length
    const hits = Object.entries(places).flatMap(([place, n]) => (n === 0 ? [] : [` ${n} in ${place}`]))
    figure(
      'T01',
      `${hits.length} hits in logs, rows, Redis and answers (${searched} searched)${hits}`,
      '0',
      hits.length === 0,
    )
  })
})
