import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { person } from '../../src/typist/made-up-person.js'
import { administration } from '../../src/wiring/open-stores.js'
import { text } from '../api/enrolled.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../faults/flushed-redis.js'
import { type On, patiently, startTwo, type TwoServices } from '../faults/two-services.js'
import { figure, LONG } from './figure.js'
import { redisAsBytes, rowsAsText } from './stores-text.js'

const CALLS = LONG ? 10_000 : 1_000
const CLIENTS = 8
const SCOPES = ['core', 'links', 'dashboard'] as const

describe('an API key', { timeout: 120_000 }, () => {
  let redis: FlushedRedis | null = null
  let two: TwoServices
  beforeAll(async () => {
    redis = redisIsHere() ? await startFlushedRedis() : null
    two = await startTwo(redis?.url ?? null, { LOG_LEVEL: 'trace' })
  }, 60_000)
  afterAll(async () => {
    await two.close()
    await redis?.stop()
  })

  const ask = (
    on: On,
    apikey: string,
    path: string,
    options: { method?: string; body?: unknown; session?: string } = {},
  ) =>
    fetch(two.services[on].core.replace('/core', '') + path, {
      method: options.method ?? 'GET',
      headers: {
        apikey,
        'content-type': 'application/json',
        ...(options.session === undefined ? {} : { 'x-service-session': options.session }),
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    })

  it('is refused by every process 1 s after its revocation, under load', async () => {
    const keys = administration(two.stores)
    const { id, apikey } = await patiently(() => keys.issueKey(two.organizationId, 'stolen'))
    let over = false
    let before = 0
    let revokedAt = Number.POSITIVE_INFINITY
    const late = { calls: 0, accepted: 0 }
    const clients = Array.from({ length: CLIENTS }, async (_, n) => {
      while (!over) {
        const askedAt = performance.now()
        const answer = await ask((n % 2) as On, apikey, '/core/organization')
        await answer.arrayBuffer()
        if (askedAt < revokedAt) before += answer.status === 200 ? 1 : 0
        else if (askedAt > revokedAt + 1000) {
          late.calls++
          if (answer.status < 400) late.accepted++
          // A loaded machine may answer 503 instead of 401.
          else expect([401, 503]).toContain(answer.status)
        }
      }
    })
    try {
      while (before < 50) await delay(20)
      // A refused revocation may have taken effect: only the calls below tell.
      await patiently(() => keys.revokeKey(two.organizationId, id))
      revokedAt = performance.now()
      while (late.calls < CALLS) await delay(20)
    } finally {
      over = true
      await Promise.all(clients)
    }
    const found = `${late.accepted} of ${late.calls.toLocaleString('en')} calls accepted later than 1 s after the revocation`
    figure('T01', found, '0', late.accepted === 0)
  })

  it('opens no API outside its scopes', async () => {
    const keys = administration(two.stores)
    let [asked, allowed] = [0, 0]
    const paths = {
      core: ['/core/organization', '/core/users/ann', '/core/users/ann/members'],
      links: ['/auth/api/links/ann'],
      dashboard: dashboardRoutes
        .filter(({ method, path }) => method === 'get' && !path.includes('{'))
        .map(({ path }) => `/dashboard${path}`),
    }
    for (const scope of SCOPES) {
      const { apikey } = await patiently(() => keys.issueKey(two.organizationId, scope, [scope]))
      expect(
        (await ask(0, apikey, paths[scope][0] ?? '', scope === 'links' ? { method: 'DELETE' } : {})).status,
      ).not.toBe(403)
      const others = SCOPES.filter((one) => one !== scope).flatMap((one) => paths[one])
      for (let n = 0; asked < 170 * (SCOPES.indexOf(scope) + 1); n++) {
        const path = others[n % others.length] ?? ''
        const answer = await ask((n % 2) as On, apikey, path, path.startsWith('/auth') ? { method: 'DELETE' } : {})
        await answer.arrayBuffer()
        // A loaded machine may answer 503 before the scope is checked.
        if (answer.status === 503) continue
        asked++
        if (answer.status !== 403) allowed++
      }
    }
    figure(
      'T01',
      `${allowed} of ${asked} calls beyond the scopes of a key allowed`,
      '0 of 500',
      asked >= 500 && allowed === 0,
    )
  })

  it('appears in no log, table, Redis key or answer', async () => {
    const { apikey } = await patiently(() => administration(two.stores).issueKey(two.organizationId, 'canary'))
    const answers: string[] = []
    const said = async (path: string, options: Parameters<typeof ask>[3] = {}, on: On = 0) => {
      const answer = await ask(on, apikey, path, options)
      answers.push([...answer.headers].flat().join(' '), await answer.text())
      return answer
    }
    await said('/core/users/ann', { method: 'POST' })
    const session = (await said('/core/users/ann')).headers.get('x-service-session') ?? ''
    for (let n = 0; n < 3; n++)
      await said(
        '/core/users/ann/typing-patterns',
        { method: 'POST', session, body: person(77).types(text(n), n) },
        (n % 2) as On,
      )
    await said('/core/users/ann/security-code', { method: 'PUT', session, body: { securityCode: '749205' } })
    await said('/core/users/ann/verify', { method: 'POST', session, body: { securityCode: '111111' } })
    // A key in a path, a query or a header where it does not belong.
    for (const path of [`/core/nowhere/${apikey}`, `/core/users/ann?apikey=${apikey}`]) await said(path)
    await said('/core/users/ann/verify', { method: 'POST', session, body: { securityCode: apikey } })
    for (const { method, path } of dashboardRoutes)
      if (method === 'get' && !path.includes('{')) await said(`/dashboard${path}`)
    await delay(1500) // usage and requests are written within 1 s

    const bytes = Buffer.from(apikey.slice(3), 'base64url')
    const needles = [apikey, apikey.slice(3), Buffer.from(apikey).toString('hex'), bytes.toString('hex')]
    const holds = (text: string) => needles.some((one) => text.toLowerCase().includes(one.toLowerCase()))
    const database = connectPostgres({ url: two.databaseUrl, max: 2, patience: 10 })
    const tables = await rowsAsText(database)
    await database.close()
    const stored = redis === null ? new Map<string, Buffer>() : await redisAsBytes(redis.url)
    const places = {
      logs: two.services.map(({ output }) => output()).filter(holds).length,
      rows: [...tables.values()].flat().filter(holds).length,
      'Redis keys': [...stored].filter(([key, value]) => holds(key) || holds(value.toString('latin1'))).length,
      answers: answers.filter(holds).length,
    }
    const rows = [...tables.values()].reduce((sum, all) => sum + all.length, 0)
    // The same scan must find the hash of the key, which is stored.
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(apikey))).toString('hex')
    expect([...tables.values()].flat().some((row) => row.includes(hash))).toBe(true)
    expect(two.services.every(({ output }) => output().length > 100)).toBe(true)
    const hits = Object.entries(places).map(([place, n]) => `${n} in ${place}`)
    const found = `hits of a key in use: ${hits.join(', ')} (${rows} rows, ${stored.size} keys of Redis, ${answers.length / 2} answers)`
    figure(
      'T01',
      found,
      '0',
      Object.values(places).every((n) => n === 0),
    )
  })
})
