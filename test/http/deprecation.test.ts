import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { docsPage } from '../../src/http/docs/docs-page.js'
import { openApiDocument } from '../../src/http/docs/openapi.js'
import { ask, type RawAnswer, request } from '../harness/raw.js'
import { goodKey, linksKey, type Running, start, stop, tableApi } from './table.js'

const key = `apikey: ${goodKey}`
const small = '{"kind":"small","large":"x"}'
let running: Running
let port = 0
beforeAll(async () => {
  running = await start({ bodyDeadlineMs: 300 })
  port = running.server.port
})
afterAll(() => stop(running))

const post = (headers: string[], body?: string, path = '/core/old/Ann%20Lee') =>
  ask(port, request(`POST ${path}`, headers, body))
const announced = (answer: RawAnswer | null) =>
  ['deprecation', 'sunset', 'link'].map((name) => answer?.headers.get(name))

const DATES = ['@1577934245', 'Mon, 02 Jan 2040 03:04:05 GMT']
const LINK = '<../users/Ann%20Lee>; rel="successor-version"'

describe('a deprecated route', () => {
  it('announces its start, its end and its successor, which may depend on the body', async () => {
    const answer = await post([key], small)
    expect(answer?.status).toBe(200)
    expect(announced(answer)).toEqual([...DATES, '<../users/Ann%20Lee/small>; rel="successor-version"'])
    const target = /<(.+)>/.exec(answer?.headers.get('link') ?? '')?.[1] ?? ''
    expect(new URL(target, 'http://x/behind/core/old/Ann%20Lee').pathname).toBe('/behind/core/users/Ann%20Lee/small')
  })

  it('is announced in every refusal, from the head of the request to the handler', async () => {
    const refusals: [number, Promise<RawAnswer | null>][] = [
      [400, post([key, key], small)],
      [400, post([key], '{"kind":"slow"}', '/core/old/Ann%20Lee?a=1&a=2')],
      [401, post([], small)],
      [401, post(['apikey: wrong'], small)],
      [403, post([`apikey: ${linksKey}`], small)],
      [408, post([key, 'Content-Length: 30'])],
      [413, post([key], JSON.stringify({ kind: 'small', large: 'x'.repeat(70_000) }))],
      [415, post([key, 'Content-Type: text/plain'], small)],
      [422, post([key], 'nonsense')],
      [422, post([key])],
      [422, post([key], '{"kind":"other"}')],
      [429, post([key], '{"kind":"slow"}')],
      [500, post([key], '{"kind":"broken"}')],
    ]
    for (const [status, asked] of refusals) {
      const answer = await asked
      expect([answer?.status, ...announced(answer)]).toEqual([status, ...DATES, LINK])
    }
  })

  it('is announced with 405 if every method of the path is deprecated, and with 503', async () => {
    const wrong = await ask(port, request('GET /core/old/Ann%20Lee', [key]))
    expect([wrong?.status, wrong?.headers.get('allow'), ...announced(wrong)]).toEqual([405, 'POST', ...DATES, LINK])
    running.degraded = 'no database'
    const degraded = await post([key], small)
    running.degraded = null
    expect([degraded?.status, ...announced(degraded)]).toEqual([503, ...DATES, LINK])
  })

  it('names its successor for any parameter, which cannot escape from the header', async () => {
    for (const [raw, encoded] of [
      ['a%3E%3B%20rel=x', 'a%3E%3B%20rel%3Dx'],
      ['%0d%0aX-A:%201', '%0D%0AX-A%3A%201'],
      ['..%2f..%2f', '..%2F..%2F'],
      ['%E2%84%AA', '%E2%84%AA'],
    ]) {
      const answer = await post([key], '{"kind":"slow"}', `/core/old/${raw}`)
      expect(answer?.headers.get('link')).toBe(`<../users/${encoded}>; rel="successor-version"`)
      expect(answer?.headers.has('x-a')).toBe(false)
    }
  })

  it('adds no header to the answers of other routes', async () => {
    for (const line of ['GET /core/users/ann', 'GET /core/nothing', 'PUT /core/users/ann', 'GET /core/old/%zz']) {
      expect(announced(await ask(port, request(line, [key])))).toEqual([undefined, undefined, undefined])
    }
  })
})

describe('documents', () => {
  const about = { version: '1', baseUrl: 'http://x/core' }

  it('mark the deprecation and its headers, in every answer', () => {
    const document = openApiDocument(tableApi, about)
    const marked = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap((operation) => (operation.deprecated ? [path] : [])),
    )
    expect(marked).toEqual(['/old/{userRef}'])
    const responses = Object.values(document.paths['/old/{userRef}']?.post?.responses ?? {}) as { $ref?: string }[]
    const shared = document.components.responses as Record<string, unknown>
    for (const given of responses) {
      const whole = given.$ref === undefined ? given : shared[given.$ref.split('/').pop() ?? '']
      expect(whole).toHaveProperty('headers.Deprecation')
      expect(whole).toHaveProperty('headers.Sunset')
      expect(whole).toHaveProperty('headers.Link')
    }
    const page = docsPage(tableApi, about)
    expect(page.match(/deprecated, served until 2040-01-02/g)).toHaveLength(1)
  })
})
