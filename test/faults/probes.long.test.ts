import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { deployment } from '../harness/deployment.js'
import { until } from '../harness/patience.js'
import { ask as askRaw, rawClient, request } from '../harness/raw.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { startProxy, type TcpProxy } from '../harness/tcp-proxy.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'
import { startNginx, whyNoNginx } from '../servers/nginx.js'

let fresh: FreshDatabase
let database: TcpProxy
let apikey: string
let env: Record<string, string>
beforeAll(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  apikey = made.apikey
  const url = new URL(fresh.url)
  database = await startProxy(Number(url.port))
  url.port = String(database.port)
  env = { ...made.env, DATABASE_URL: url.href, DATABASE_POOL: '5' }
})
afterAll(async () => {
  await database?.close()
  await fresh?.drop()
})

const get = async (port: number, path: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { apikey, connection: 'close' } })
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}
const portOf = (service: ServiceProcess) => Number(new URL(service.core).port)
const languageOf = (port: number) => get(port, '/core/organization/language')

describe.each(['1', '2'])('a service with METRICS_PORT and PROCESSES=%s', (PROCESSES) => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-lead-'))
  let service: ServiceProcess
  let main: number
  let apart: number
  let sso: number
  beforeAll(async () => {
    ;[main, apart, sso] = [await freePort(), await freePort(), await freePort()]
    const settings = {
      issuer: `http://localhost:${sso}`,
      port: sso,
      core: { url: `http://localhost:${main}`, apikeyFile: 'apikey' },
      directory: { kind: 'file', path: 'people.json' },
      mail: { host: 'localhost', port: 9, tls: 'none', sender: 'sign-in@example.org' },
      clients: [{ id: 'app', secret: 'a secret of sixteen characters', redirectUris: ['http://localhost:9/callback'] }],
    }
    writeFileSync(join(folder, 'apikey'), apikey)
    writeFileSync(join(folder, 'people.json'), '[]')
    writeFileSync(join(folder, 'sso.json'), JSON.stringify(settings))
    const ports = { PORT: String(main), METRICS_PORT: String(apart) }
    const bridge = { ROLES: 'core,sso', SSO_FILE: join(folder, 'sso.json'), ALERT_HOSTS: 'localhost' }
    // The last test kills the service during this time, which is therefore never waited for.
    service = await startProcess({ ...env, ...ports, ...bridge, PROCESSES, STOP_LEAD_S: '60' })
  })
  afterAll(async () => {
    await service?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it('serves /metrics only on that port, and the probes on both', async () => {
    expect((await get(main, '/metrics')).status).toBe(404)
    for (const port of [main, apart])
      for (const path of ['/livez', '/readyz']) expect([path, (await get(port, path)).status]).toEqual([path, 200])
    expect((await get(apart, '/core/status')).status).toBe(404)
    expect(await askRaw(apart, request('POST /metrics', ['Content-Length: 0']))).toMatchObject({ status: 405 })

    for (let n = 0; n < 20; n++) await get(main, '/core/status')
    const counted = /^keystride_http_requests_total\{[^}]*route="\/status"[^}]*status_class="2xx"[^}]*\} (\d+)/m
    // A process that answers its supervisor late has its last counts.
    await until(async () => {
      const { text, headers } = await get(apart, '/metrics?from=anywhere')
      expect(headers.get('content-type')).toContain('text/plain; version=0.0.4')
      return Number(counted.exec(text)?.[1]) === 20
    })
  })

  it('stays ready during an outage of the database, so that clients get the 503 of the API', async () => {
    await database.refuse()
    try {
      await until(async () => (await languageOf(main)).status === 503)
      const refused = await languageOf(main)
      expect(refused.headers.get('retry-after')).not.toBeNull()
      expect(JSON.parse(refused.text)).toMatchObject({ success: false, reason: 'api-failed' })
      for (const port of [main, apart]) expect((await get(port, '/readyz')).text).toBe('ready\n')
    } finally {
      await database.accept()
    }
    await until(async () => (await languageOf(main)).status === 200)
  })

  it('does not start if another process has that port, and names it', async () => {
    const start = startProcess({ ...env, PROCESSES, METRICS_PORT: String(apart) })
    await expect(start).rejects.toThrow(/METRICS_PORT: cannot listen on 127\.0\.0\.1:\d+/)
  })

  it('is not ready on any port once it is asked to stop, and serves for STOP_LEAD_S, single sign-on too', async () => {
    expect(await get(sso, '/readyz')).toMatchObject({ status: 200 })
    service.process.kill('SIGTERM')
    for (const port of [main, apart, sso]) await until(async () => (await get(port, '/readyz')).text === 'stopping\n')
    expect((await get(apart, '/metrics')).status).toBe(200)
    expect((await languageOf(main)).status).toBe(200)
    expect((await get(sso, '/.well-known/openid-configuration')).status).toBe(200)
  })
})

describe.each(['1', '2'])('a service with READY_NEEDS_STORES=on and PROCESSES=%s', (PROCESSES) => {
  it('is not ready during an outage of the database, and says why', async () => {
    const apart = await freePort()
    const service = await startProcess({ ...env, PROCESSES, METRICS_PORT: String(apart), READY_NEEDS_STORES: 'on' })
    const ports = [portOf(service), apart]
    try {
      for (const port of ports) expect((await get(port, '/readyz')).status).toBe(200)
      await database.refuse()
      for (const port of ports) await until(async () => (await get(port, '/readyz')).status === 503)
      for (const port of ports) expect((await get(port, '/readyz')).text).toMatch(/^degraded: .* out of reach\n$/)
      for (const port of ports) expect((await get(port, '/livez')).status).toBe(200)
      await database.accept()
      for (const port of ports) await until(async () => (await get(port, '/readyz')).status === 200)
    } finally {
      await service.kill()
    }
  })
})

const proxies = [
  { name: 'nginx', start: startNginx, why: whyNoNginx() },
  { name: 'haproxy', start: startHaproxy, why: whyNoHaproxy() },
] as const
for (const { why } of proxies) if (why !== null) console.warn(`\n*** ${why} ***\n`)

/** Spellings of a path, equivalent and similar ones. */
const spellings = (path: string) => [
  path,
  `${path}?x=1`,
  `${path}?`,
  `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`,
  path.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  `/${path}`,
  `${path}/`,
  `/.${path}`,
  `/core/..${path}`,
  `/core/%2e%2e${path}`,
  path.toUpperCase(),
  `http://keystride${path}`,
]

for (const { name, start, why } of proxies)
  describe.skipIf(why !== null)(`a service behind ${name}, configured as in docs/scaling.md`, () => {
    it('hides its probes and metrics from outside, and serves its APIs', async () => {
      const service = await startProcess(env)
      const main = portOf(service)
      const proxy = await start([main, main])
      try {
        for (const path of ['/livez', '/readyz', '/metrics']) {
          expect((await get(main, path)).status).toBe(200)
          for (const method of ['GET', 'HEAD'])
            for (const spelling of spellings(path)) {
              const client = await rawClient(proxy.port)
              await client.send(request(`${method} ${spelling}`, ['Connection: close']))
              const head = await client.textWith('\r\n\r\n')
              client.socket.destroy()
              // The service also answers 401 and 404 for a path that it does not serve.
              expect([method, spelling, head]).toEqual([
                method,
                spelling,
                expect.stringMatching(/^HTTP.{5}4(00|01|04) /),
              ])
            }
        }
        expect((await languageOf(proxy.port)).status).toBe(200)
        for (const path of ['/core/status', '/core/docs', '/auth/docs', '/dashboard/docs', '/'])
          expect([path, (await get(proxy.port, path)).status]).toEqual([path, 200])
      } finally {
        await proxy.close()
        await service.kill()
      }
    })
  })
