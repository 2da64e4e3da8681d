import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, rawClient, request } from '../harness/raw.js'
import { goodKey, linksKey, type Running, reasonOf, start, stop } from './table.js'

const key = `apikey: ${goodKey}`
const json = 'Content-Type: application/json'
let running: Running
let port = 0
beforeAll(async () => {
  running = await start()
  port = running.server.port
})
afterAll(() => stop(running))

/** Sends `GET /core...` with the key. */
const get = (path: string, headers: string[] = [key]) => ask(port, request(`GET /core${path}`, headers))
const bodyOf = (answer: { text: string } | null) => JSON.parse(answer?.text ?? 'null')

describe('the envelope', () => {
  it('precedes the payload, with Done as its message, and has no CORS header', async () => {
    const answer = await get('/users/ann', [key, 'Origin: http://elsewhere'])
    expect(answer?.status).toBe(200)
    const body = bodyOf(answer)
    expect(Object.keys(body)).toEqual(['timestamp', 'success', 'message', 'userRef', 'member'])
    expect(body).toMatchObject({ success: true, message: 'Done', userRef: 'ann' })
    expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp)
    expect(Object.fromEntries(answer?.headers ?? [])).toMatchObject({
      'x-request-id': expect.stringMatching(/^request-\d+$/),
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-service-session': 'minted',
    })
    expect([...(answer?.headers.keys() ?? [])].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
  it('has success false and a reason with the payload of a 404 by a handler', async () => {
    const answer = await get('/users/nobody')
    expect([answer?.status, bodyOf(answer)]).toMatchObject([
      404,
      { success: false, message: 'no such user', reason: 'user-not-found', userRef: 'nobody' },
    ])
  })
  it('is replaced by the bytes of a file', async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/core/archive`, { headers: { apikey: goodKey } })
    expect(answer.headers.get('content-type')).toBe('application/zip')
    expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([80, 75, 3, 4])
  })
})

describe('keys', () => {
  it('get the same 401 without a reason if missing or unknown, whatever the path and the user', async () => {
    const bodies = await Promise.all(
      [
        request('GET /core/users/ann'),
        request('GET /core/users/nobody', ['apikey: wrong']),
        request('GET /core/users/nobody', ['apikey: ']),
        request('PUT /core/words', ['apikey: wrong', json], '{"word":1}'),
        request('POST /core/users/ann/typing-patterns', ['apikey: wrong', 'Content-Length: 9999999']),
        request('DELETE /core/words/a?a=1&a=2', ['apikey: wrong']),
      ].map(async (text) => {
        const answer = await ask(port, text)
        expect(answer?.status).toBe(401)
        const { timestamp, ...rest } = bodyOf(answer)
        expect(rest).not.toHaveProperty('reason')
        return answer?.text.replace(timestamp, '')
      }),
    )
    expect(new Set(bodies).size).toBe(1)
  })
  it('of another scope get 403 invalid-action', async () => {
    const answer = await get('/users/ann', [`apikey: ${linksKey}`])
    expect([answer?.status, bodyOf(answer).reason]).toEqual([403, 'invalid-action'])
  })
})

describe('degraded', () => {
  it('answers 503 with Retry-After on every route that needs a key, and serves the rest', async () => {
    running.degraded = 'degraded: PostgreSQL out of reach'
    const refused = await get('/users/ann')
    expect(refused?.status).toBe(503)
    expect(refused?.headers.get('retry-after')).toBe('2')
    const message = 'the service is degraded: PostgreSQL out of reach; try again shortly'
    expect(bodyOf(refused)).toMatchObject({ success: false, reason: 'api-failed', message })
    for (const path of ['/core/users/ann', '/core/nothing'])
      expect(bodyOf(await ask(port, request(`GET ${path}`)))).toMatchObject({ reason: 'api-failed', message })
    expect((await get('/status', []))?.status).toBe(200)
    expect((await ask(port, request('GET /livez')))?.text).toBe('ok')
    running.degraded = null
  })
})

describe('paths', () => {
  it('that are unknown get 404 invalid-action', async () => {
    for (const path of ['/', '/core', '/core/', '/core/users', '/core/users/', '/core/users/a/b', '/core//status']) {
      const answer = await ask(port, request(`GET ${path}`, [key]))
      expect([path, answer?.status, bodyOf(answer).reason]).toEqual([path, 404, 'invalid-action'])
    }
  })
  it('that are known answer other methods 405 with Allow, OPTIONS too', async () => {
    for (const method of ['POST', 'OPTIONS', 'PATCH', 'TRACE']) {
      const answer = await ask(port, request(`${method} /core/status`, [key]))
      expect([method, answer?.status, answer?.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
    }
  })
  it('are not revealed to a caller without a key', async () => {
    for (const line of ['GET /core/nothing', 'POST /core/status', 'DELETE /core/words', 'GET /core']) {
      const answer = await ask(port, request(line))
      expect([line, answer?.status, answer?.headers.get('allow')]).toEqual([line, 401, undefined])
    }
  })
  it('answer HEAD like GET without the body', async () => {
    const client = await rawClient(port)
    await client.send(request('HEAD /livez'))
    const text = await client.textWith('\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(text).toMatch(/content-length: 2\r\n/i)
    expect(text.endsWith('\r\n\r\n')).toBe(true)
    await client.send(request('GET /p/next'))
    expect(await client.textWith('next')).toMatch(/\r\n\r\nHTTP\/1.1 200 OK\r\n/)
    client.socket.destroy()
  })
  it('are split, then decoded once: an escaped slash or dot segment stays inside its parameter', async () => {
    const decoded = { '%E2%84%AA': '\u212a', '..%2f..': '../..', '%252F': '%2F', 'a+b@x': 'a+b@x', '..': '..' }
    for (const [raw, userRef] of Object.entries(decoded))
      expect(bodyOf(await get(`/users/${raw}?member_ref=${raw}`))).toMatchObject({ userRef, member: userRef })
  })
  it('with bad escapes or raw bytes beyond ASCII get 400', async () => {
    for (const raw of ['%', '%4', '%zz', '%ff', '%C0%AF', '%ED%A0%80', 'a%E2%84', '\u212a', 'a\\b']) {
      const [answer, queried] = [await get(`/users/${raw}`), await get(`/users/a?member_ref=${raw}`)]
      expect([raw, answer?.status, reasonOf(answer)]).toEqual([raw, 400, 'invalid-data'])
      expect([raw, queried?.status]).toEqual([raw, 400])
    }
  })
  it('of plain endpoints carry parameters too', async () => {
    expect((await ask(port, request('GET /p/a%20b')))?.text).toBe('a b')
  })
})

describe('the query', () => {
  it('that repeats a parameter gets 400, however it is escaped', async () => {
    for (const query of ['member_ref=a&member_ref=b', 'member_ref=a&member%5Fref=a', 'x&x']) {
      const answer = await get(`/users/a?${query}`)
      expect([query, answer?.status]).toEqual([query, 400])
    }
  })
  it('that fails its schema gets 422 naming the field, not the value', async () => {
    const answer = await get('/users/a?limit=987654')
    expect(answer?.status).toBe(422)
    expect(bodyOf(answer).message).toContain('query.limit')
    expect(answer?.text).not.toContain('987654')
  })
  it('may hold the name __proto__ without reaching a prototype', async () => {
    const answer = await get('/users/a?__proto__=x&constructor=y')
    expect(answer?.status).toBe(200)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('JSON bodies', () => {
  const put = (body: string | undefined, headers: string[] = [json]) =>
    ask(port, request('PUT /core/words', [key, ...headers], body))

  it('lose unknown fields before they reach the handler', async () => {
    expect(bodyOf(await put('{"word":"ok","other":1}')).keys).toEqual(['word'])
  })
  it('that fail the schema get 422 naming the field by path, not the value', async () => {
    const answer = await put('{"word":"x"}')
    expect(answer?.status).toBe(422)
    expect(bodyOf(answer)).toMatchObject({ success: false, reason: 'invalid-data' })
    expect(bodyOf(answer).message).toMatch(/^word: /)
    const secret = await put('{"word":["hunter2"]}')
    expect(secret?.status).toBe(422)
    expect(secret?.text).not.toContain('hunter2')
  })
  it('that are absent, broken, not UTF-8, too deep, out of range or with a prototype key get 422', async () => {
    const deep = (depth: number) => `{"word":"ok","more":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect((await put(deep(7)))?.status).toBe(200)
    for (const body of [
      undefined,
      '',
      'null',
      '{',
      '{"word":"hunter2"',
      deep(8),
      `{"word":"ok","more":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      '{"word":"ok","__proto__":{"x":1}}',
      '{"word":"ok","more":{"constructor":{"prototype":{"x":1}}}}',
      '{"word":"ok","more":[{"prototype":1}]}',
      '{"word":"ok","more":1e400}',
      '\ufeff{"word":"ok"}',
    ]) {
      const answer = await put(body)
      expect([body, answer?.status, bodyOf(answer).reason]).toEqual([body, 422, 'invalid-data'])
      expect(answer?.text).not.toContain('hunter2')
    }
    const head = request('PUT /core/words', [key, json, 'Content-Length: 13'])
    const bad = await ask(port, head, Buffer.from('{"word":"\xff\xff"}', 'latin1'))
    expect(bad?.status).toBe(422)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
  it('may be absent if the route allows it', async () => {
    const none = await ask(port, request('POST /core/words/optional', [key]))
    expect([none?.status, bodyOf(none).validity]).toEqual([201, null])
    const some = await ask(port, request('POST /core/words/optional', [key], '{"validity":5}'))
    expect([some?.status, bodyOf(some).validity]).toEqual([201, 5])
  })
  it('are JSON without a type or with type parameters, and get 415 otherwise', async () => {
    for (const type of [[], [json], ['Content-Type: Application/JSON; charset=utf-8']]) {
      expect((await put('{"word":"ok"}', type))?.status).toBe(200)
    }
    for (const type of ['Content-Type: text/plain', 'Content-Type: ', 'Content-Encoding: gzip']) {
      expect([type, (await put('{"word":"ok"}', [type]))?.status]).toEqual([type, 415])
    }
  })
})

describe('NUL and lone surrogates', () => {
  const WHY = 'must not contain NUL or a lone surrogate'
  it('in any string or key of a body, a path or a query get 422 naming its field', async () => {
    for (const text of ['\\u0000', '\\ud800', 'a\\uDFFFb', '\\ude00\\ud83d'])
      for (const [line, body, field] of [
        ['PUT /core/words', `{"word":"a${text}"}`, 'word'],
        ['PUT /core/words', `{"word":"abc","more":{"tag":[1,{"a":"${text}"}]}}`, 'more.tag[1].a'],
        ['PUT /core/words', `{"word":"abc","more":{"tag":{"${text}":1}}}`, 'more.tag'],
        ['PUT /core/words', `{"word":"abc","unknown":"${text}"}`, 'unknown'],
        ['POST /core/old/ann', `{"kind":"small","more":"${text}","large":"x"}`, 'more'],
        ['GET /core/users/a%00', undefined, 'path.userRef'],
        ['GET /core/users/ann?member_ref=%00', undefined, 'query.member_ref'],
        ['GET /core/users/ann?unknown=a%00b', undefined, 'query.unknown'],
        ['GET /core/users/ann?a%00=b', undefined, 'query'],
      ] as const) {
        const answer = await ask(port, request(line, [key, json], body))
        const { reason, message } = bodyOf(answer)
        expect([line, body, answer?.status, reason, message]).toEqual([
          line,
          body,
          422,
          'invalid-data',
          `${field}: ${WHY}`,
        ])
      }
  })
  it('in the raw field of a body, and pairs of surrogates, are accepted', async () => {
    const put = (line: string, body: string) => ask(port, request(line, [key, json], body))
    expect((await put('POST /core/old/ann', '{"kind":"small","large":"\\ud800"}'))?.status).toBe(200)
    expect((await put('PUT /core/words', '{"word":"\\ud83d\\ude00\\ud83d\\ude00"}'))?.status).toBe(200)
  })
  it('as raw bytes of a body get 422', async () => {
    for (const bytes of [[0], [0xed, 0xa0, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"word":"a'), Buffer.from(bytes), Buffer.from('"}')])
      const head = request('PUT /core/words', [key, json, `Content-Length: ${body.length}`])
      expect([bytes, (await ask(port, head, body))?.status]).toEqual([bytes, 422])
    }
  })
})

describe('byte bodies and sessions', () => {
  const post = (headers: string[], body?: string) =>
    ask(port, request('POST /core/users/a/typing-patterns', [key, ...headers], body))

  it('reach the handler complete, however they are split into segments', async () => {
    const body = 'x'.repeat(100_000)
    const answer = await post(['X-Service-Session: s'], body)
    expect(bodyOf(answer)).toMatchObject({ bytes: 100_000, session: 's' })
    const chunks = Array.from({ length: 50 }, () => `3e8\r\n${'y'.repeat(1000)}\r\n`)
    const head = request('POST /core/users/a/typing-patterns', [
      key,
      'X-Service-Session: s',
      'Transfer-Encoding: chunked',
    ])
    const chunked = await ask(port, head, ...chunks, '0\r\n\r\n')
    expect(bodyOf(chunked).bytes).toBe(50_000)
  })
  it('get 400 without a session, after the body was checked', async () => {
    expect((await post([], ''))?.status).toBe(422)
    const answer = await post([], 'x')
    expect(answer?.status).toBe(400)
    expect(bodyOf(answer).message).toContain('GET /users/{userRef}')
  })
})

describe('failures', () => {
  it('answer 500 with the request id, log the stack once with it, and do not reveal the cause', async () => {
    const answer = await ask(port, request('DELETE /core/words/bug', [key]))
    expect(answer?.status).toBe(500)
    const id = answer?.headers.get('x-request-id') ?? ''
    expect(bodyOf(answer).message).toContain(id)
    expect(bodyOf(answer).reason).toBe('internal-error')
    expect(answer?.text).not.toContain('secret of the stack')
    const logged = running.lines.filter((line) => line.includes(`"${id}"`) && line.includes('secret of the stack'))
    expect(logged).toHaveLength(1)
  })
  it('of an answer header that would split the answer are a 500, not a second header', async () => {
    const answer = await ask(port, request('DELETE /core/words/split', [key]))
    expect(answer?.status).toBe(500)
    expect(answer?.headers.has('x-c')).toBe(false)
  })
  it('by the limiter carry Retry-After in whole seconds', async () => {
    const answer = await ask(port, request('DELETE /core/words/limit', [key]))
    expect([answer?.status, answer?.headers.get('retry-after'), bodyOf(answer).reason]).toEqual([
      429,
      '8',
      'quota-exceeded',
    ])
  })
})

describe('metrics and logs of requests', () => {
  it('have the template and the organization, never the path, the key, the session or the body', async () => {
    const headers = [key, 'X-Service-Session: canary-session']
    await ask(port, request('POST /core/users/canary-user/typing-patterns', headers, 'canary-body'))
    const last = running.answers.findLast((answered) => answered.countedAs === 'enroll')
    expect(last).toMatchObject({
      api: 'core',
      route: '/users/{userRef}/typing-patterns',
      method: 'post',
      status: 200,
      organizationId: 'org-1',
      aborted: false,
    })
    const all = running.lines.join('\n')
    for (const secret of ['canary', goodKey, linksKey]) expect(all).not.toContain(secret)
  })
})
