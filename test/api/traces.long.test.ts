import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployment } from '../harness/deployment.js'
import { enroll } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { startService, type TestService } from '../harness/service.js'
import { startProcess } from '../harness/service-process.js'
import { freshDatabase } from '../servers/database.js'

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: { stringValue?: string; intValue?: number } }[]
  readonly status: { code?: number }
}

/** A collector that keeps the JSON of every batch. The SDK sends one every 5 s, which makes these tests long. */
async function startCollector() {
  const bodies: string[] = []
  const paths = new Set<string>()
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString())
      paths.add(`${request.method} ${request.url}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const spans = (): SentSpan[] =>
    bodies.flatMap((body) =>
      JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: SentSpan[] }[] }) =>
        resource.scopeSpans.flatMap((scope) => scope.spans),
      ),
    )
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bodies, paths, spans, close: () => server.close() }
}

const attribute = ({ attributes }: SentSpan, name: string) => {
  const { stringValue, intValue } = attributes.find(({ key }) => key === name)?.value ?? {}
  return stringValue ?? intValue
}

describe('traces', () => {
  let collector: Awaited<ReturnType<typeof startCollector>>
  let service: TestService
  beforeAll(async () => {
    collector = await startCollector()
    const more = { TRACES_ENDPOINT: collector.url, TRACES_RATIO: '0' }
    service = await startService((await freshDatabase()).url, { more })
  })
  afterAll(async () => {
    await service?.close()
    collector?.close()
  })

  /** Calls with a trace of the caller; returns its ids. */
  async function call(
    method: string,
    path: string,
    { body, session, sampled = true }: Parameters<TestService['call']>[2] & { sampled?: boolean } = {},
  ) {
    const [traceId, parentId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]
    const traceparent = `00-${traceId}-${parentId}-${sampled ? '01' : '00'}`
    const options = {
      headers: { traceparent },
      ...(body === undefined ? {} : { body }),
      ...(session === undefined ? {} : { session }),
    }
    return { traceId, parentId, answer: await service.call(method, path, options) }
  }
  const spansOf = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId)

  it("continue the caller's trace, with one span for the request and one for each step", async () => {
    const who = await enroll(service, 'traced-person')
    const { session } = await service.bootstrap(who.userRef)
    const { traceId, parentId, answer } = await call('POST', `/users/${who.userRef}/verify`, {
      session,
      body: who.fresh(),
    })
    expect(answer.status).toBe(200)
    await until(async () => spansOf(traceId).some((span) => span.parentSpanId === parentId))
    const roots = spansOf(traceId).filter((span) => span.parentSpanId === parentId)
    expect(roots).toHaveLength(1)
    const [root] = roots as [SentSpan]
    expect([root.name, root.kind, root.status.code ?? 0]).toEqual(['POST /core/users/{userRef}/verify', 2, 0])
    expect(attribute(root, 'http.response.status_code')).toBe(200)
    const steps = spansOf(traceId).filter((span) => span.spanId !== root.spanId)
    expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['scoring.score', 'authentications.record']))
    for (const step of steps) {
      expect(step.parentSpanId).toBe(root.spanId)
      expect(BigInt(step.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano))
      expect(BigInt(step.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(step.startTimeUnixNano))
    }
    expect([...collector.paths]).toEqual(['POST /v1/traces'])
  })

  it("keep the caller's decision, and TRACES_RATIO decides for the others", async () => {
    const unsampled = await call('GET', '/status', { sampled: false })
    await service.call('GET', '/status')
    const sampled = await call('GET', '/status')
    await until(async () => spansOf(sampled.traceId).length > 0)
    expect(spansOf(unsampled.traceId)).toEqual([])
    expect(collector.spans().filter((span) => span.kind === 2 && span.parentSpanId === undefined)).toEqual([])
  })

  it('mark a refused request and its route, and name nobody', async () => {
    const missing = await call('GET', '/users/nobody-of-this-name')
    const { traceId } = await call('POST', '/users/nobody-of-this-name/verify', { body: { securityCode: '749205' } })
    await until(async () => spansOf(traceId).length > 0 && spansOf(missing.traceId).length > 0)
    const root = spansOf(missing.traceId).find((span) => span.parentSpanId === missing.parentId)
    expect(root?.name).toBe('GET /core/users/{userRef}')
    expect(attribute(root as SentSpan, 'http.response.status_code')).toBe(404)
    for (const secret of ['traced-person', 'nobody-of-this-name', '749205', service.apikey])
      expect(collector.bodies.join()).not.toContain(secret)
  })
})

describe('a service whose collector is lost', () => {
  it('serves, and stops', async () => {
    const more = { TRACES_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'fatal' }
    const service = await startService((await freshDatabase()).url, { more })
    for (let n = 0; n < 20; n++) expect((await service.call('GET', '/status')).status).toBe(200)
    await service.close()
  })
})

describe('the modules of OpenTelemetry', () => {
  it('are loaded only with TRACES_ENDPOINT', async () => {
    const { env } = await deployment((await freshDatabase()).url)
    const place = join(tmpdir(), `modules-${randomBytes(6).toString('hex')}`)
    const hook = `${place}.cjs`
    writeFileSync(
      hook,
      `const { _load } = require('module')
      const seen = new Set()
      require('module')._load = function (name, ...more) {
        if (/opentelemetry.(sdk|core|exporter|resources)/.test(name)) seen.add(name)
        return _load.call(this, name, ...more)
      }
      process.on('exit', () => require('fs').writeFileSync(process.env.SEEN, String(seen.size)))`,
    )
    const loaded: number[] = []
    for (const more of [{}, { TRACES_ENDPOINT: 'http://127.0.0.1:9' }]) {
      const process = await startProcess({ ...env, ...more, SEEN: place, NODE_OPTIONS: `--require ${hook}` })
      await process.stop()
      loaded.push(Number(readFileSync(place, 'utf8')))
    }
    expect(loaded[0]).toBe(0)
    expect(loaded[1]).toBeGreaterThan(0)
  })
})
