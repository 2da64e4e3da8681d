import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createKeystride, KeystrideError, type SignIn, type SignInInput } from '@keystride/client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { canonicalAddress, writtenAddress } from '../../src/base/address.js'
import { documentedPath, parametersOf } from '../../src/http/docs/route-docs.js'
import { queryOf, segmentsOf } from '../../src/http/intake/request-line.js'
import type { Route } from '../../src/http/route.js'
import { person } from '../../src/typist/made-up-person.js'
import { enroll } from '../harness/enrolled.js'
import { sharedService, type TestService } from '../harness/service.js'

/** Texts that an address must escape. */
const NOT_PLAIN = ['front desk', 'a+b', '50%', '%41%2B', 'a&b=c', 'Jörg', '👤', 'a/b', '?#', ' ...', "'()*!~"]

/** Addresses as proxies and sockets write them, and as they are sent. */
const WRITTEN: readonly (readonly [string | null, string | null])[] = [
  ['203.0.113.7', '203.0.113.7'],
  [' 203.0.113.7:51008', '203.0.113.7'],
  ['2001:db8::1', '2001:db8::1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:4711', '2001:db8::1'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[fe80::1%eth0]:80', 'fe80::1'],
  [null, null],
]

const caught = async (call: Promise<unknown>): Promise<KeystrideError> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(KeystrideError)
  // Sound: expected above.
  return error as KeystrideError
}

describe('the client, against a server of the test', () => {
  type Reply = (request: IncomingMessage, response: ServerResponse) => void
  let replies: Reply[] = []
  let asked: string[] = []
  let headers: IncomingMessage['headers'] = {}
  let url: string
  let close: () => void
  beforeAll(async () => {
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      headers = request.headers
      request.resume()
      ;(replies.length > 1 ? replies.shift() : replies[0])?.(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    close = () => {
      server.closeAllConnections()
      server.close()
    }
  })
  afterAll(() => close())
  beforeEach(() => {
    asked = []
    replies = []
  })

  const json =
    (status: number, body: object, more: Record<string, string> = {}): Reply =>
    (_, response) =>
      response
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r-1', ...more })
        .end(JSON.stringify({ timestamp: '2026-01-31T12:00:00.000Z', ...body }))
  const busy = (status: number, after: string) =>
    json(status, { success: false, message: 'busy', reason: 'api-failed' }, { 'retry-after': after })
  const done = json(200, { success: true, message: 'Done', status: 'OK', version: '1' })
  const client = (more: Partial<Parameters<typeof createKeystride>[0]> = {}) =>
    createKeystride({ url, apikey: 'a key', timeoutMs: 2_000, retry: { tries: 2, maxWaitMs: 50 }, ...more })
  const session = { header: { 'X-Service-Session': 's' } }

  it('sends path, query and headers as the route declares them, and the key', async () => {
    replies = [done]
    await client().core.get('/users/{userRef}', {
      path: { userRef: 'ann/b c?' },
      query: { member_ref: 'bö b', language: 'fr' },
      header: { 'X-Service-Session': 'abc' },
    })
    expect(asked).toEqual(['GET /core/users/ann%2Fb%20c%3F?member_ref=b%C3%B6%20b&language=fr'])
    expect(headers).toMatchObject({ apikey: 'a key', 'x-service-session': 'abc' })
    await client({ url: { core: `${url}/c/`, links: `${url}/l`, dashboard: `${url}/d` } }).links.delete(
      '/api/links/{userRef}',
      { path: { userRef: 'ann' } },
    )
    expect(asked.at(-1)).toBe('DELETE /l/api/links/ann')
  })

  const APIS = [
    ['core', '/core', coreRoutes],
    ['links', '/auth', linkRoutes],
    ['dashboard', '/dashboard', dashboardRoutes],
  ] as const
  it.each(APIS)(
    'brings every path and query parameter of every route of %s to the service as it was given',
    async (api, base, rows) => {
      replies = [json(200, { success: true, message: 'Done' })]
      type Call = (path: string, input: object) => Promise<unknown>
      let sent = 0
      for (const row of rows as readonly Route<never>[]) {
        const parameters = parametersOf(row)
        for (const text of NOT_PLAIN) {
          const given = (place: string) =>
            Object.fromEntries(parameters.filter((one) => one.in === place).map(({ name }) => [name, text]))
          // Sound: the types of the client are those of the routes, with plain texts here.
          const call = client()[api][row.method] as unknown as Call
          await call(documentedPath(row), { path: given('path'), query: given('query') })
          const [path = '', query = ''] = (asked.at(-1)?.split(' ')[1] ?? '').split('?')
          const template = segmentsOf(base + documentedPath(row))
          expect(segmentsOf(path), path).toEqual(template.map((one) => (one.startsWith('{') ? text : one)))
          expect({ ...queryOf(query) }, query).toEqual(given('query'))
          sent += parameters.length
        }
      }
      expect(sent).toBeGreaterThan(NOT_PLAIN.length)
    },
  )

  it('calls no other route for a value that a URL cannot hold, or that is missing', async () => {
    for (const userRef of ['.', '..']) {
      const call = client().core.delete('/users/{userRef}', { path: { userRef } })
      expect(await caught(call)).toMatchObject({ status: 422, reason: 'invalid-data' })
    }
    // Sound: these are the faults of JavaScript under test.
    for (const path of [{}, { userRef: undefined }, { userRef: null }])
      await expect(client().core.delete('/users/{userRef}', { path: path as never })).rejects.toThrow(
        new TypeError('path.userRef is missing'),
      )
    expect(asked).toEqual([])
  })

  it('rejects with status, reason, request id and the body of a refusal', async () => {
    const body = { success: false, message: 'no such user', reason: 'user-not-found', nPatternsRef: 0 }
    replies = [json(404, body)]
    const error = await caught(client().core.get('/users/{userRef}', { path: { userRef: 'ann' } }))
    expect(error).toMatchObject({ status: 404, reason: 'user-not-found', requestId: 'r-1', message: 'no such user' })
    expect(error.answer).toMatchObject({ nPatternsRef: 0 })
    replies = [json(401, { success: false, message: 'unknown key' })]
    expect(await caught(client().core.get('/status'))).toMatchObject({ status: 401, reason: null })
  })

  it.each([429, 503])('repeats a GET and a DELETE after %i, and gives up after the tries', async (status) => {
    replies = [busy(status, '0'), busy(status, '1'), done]
    expect(await client().core.get('/status')).toMatchObject({ status: 'OK' })
    expect(asked).toHaveLength(3)
    asked = []
    replies = [busy(status, '0')]
    const call = client().core.delete('/users/{userRef}', { path: { userRef: 'ann' } })
    expect(await caught(call)).toMatchObject({ status, retryAfterSeconds: 0 })
    expect(asked).toHaveLength(3)
  })

  it('waits as long as Retry-After says, at most the maximum', async () => {
    replies = [busy(503, '3600'), done]
    const before = performance.now()
    await client({ retry: { maxWaitMs: 200 } }).core.get('/status')
    expect(performance.now() - before).toBeGreaterThanOrEqual(195)
  })

  it('never repeats a POST, PUT or PATCH, nor a call that failed otherwise', async () => {
    const path = { userRef: 'ann' }
    const { core } = client()
    replies = [busy(503, '0')]
    await caught(core.post('/users/{userRef}/verify', { path, ...session, body: { securityCode: '1234' } }))
    await caught(core.put('/users/{userRef}/security-code', { path, ...session, body: { securityCode: '1234' } }))
    await caught(core.patch('/users/{userRef}', { path, body: { groups: [] } }))
    expect(asked).toHaveLength(3)
    replies = [json(500, { success: false, message: 'internal error', reason: 'internal-error' })]
    expect(await caught(core.get('/status'))).toMatchObject({ status: 500, reason: 'internal-error' })
    expect(asked).toHaveLength(4)
  })

  it.each<[string, Reply]>([
    ['a page of a proxy', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello')],
    ['an empty answer', (_, response) => response.writeHead(204).end()],
    ['broken JSON', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')],
    ['JSON of another service', json(200, { ok: true })],
    ['a redirect', (_, response) => response.writeHead(302, { location: 'https://elsewhere.example/' }).end()],
    ['an error page', (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('bad gateway')],
  ])('does not take %s for an answer', async (_, reply) => {
    replies = [reply]
    expect(await caught(client().core.get('/status'))).toMatchObject({ reason: 'not-understood' })
    expect(asked).toHaveLength(1)
  })

  it('says that no answer came: connection lost, time over', async () => {
    replies = [(request) => request.socket.destroy()]
    expect(await caught(client().core.get('/status'))).toMatchObject({ status: 0, reason: 'no-answer' })
    replies = [() => {}]
    const late = await caught(client({ timeoutMs: 100 }).core.get('/status'))
    expect(late).toMatchObject({ status: 0, reason: 'timeout' })
    expect(late.message).toContain('within 100 ms')
  })

  it('ends at the signal of the caller, also while it waits for the next try', async () => {
    replies = [() => {}]
    const first = AbortSignal.timeout(50)
    await expect(client().core.get('/status', { signal: first })).rejects.toBe(await reasonOf(first))
    replies = [busy(503, '3600')]
    const stop = new AbortController()
    const call = client({ retry: { maxWaitMs: 60_000 } }).core.get('/status', { signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 50)
    await expect(call).rejects.toThrow('enough')
  })
  const reasonOf = (signal: AbortSignal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)))

  it('refuses an empty key, and an address that is no http(s)://host', () => {
    expect(() => createKeystride({ url, apikey: '' })).toThrow(TypeError)
    for (const wrong of ['login.example.org', 'ftp://a.example', 'https://a:b@a.example', 'https://a.example/?x=1'])
      expect(() => createKeystride({ url: wrong, apikey: 'key' })).toThrow(/url must be http\(s\):\/\/host/)
  })
})

describe('the sign-in of the client, against the service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await sharedService()
  })
  const signIn = (input: Omit<SignInInput, 'ip'>, { apikey }: { readonly apikey: string } = service) =>
    createKeystride({ url: service.core.replace(/\/core$/, ''), apikey }).signIn({ ip: '192.0.2.9', ...input })

  it('lets a person of a shared account name the member, and signs that member in', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'bob' } })
    const asked = await signIn({ userRef: 'desk' })
    expect(asked).toMatchObject({ kind: 'choose-member', members: [] })
    await service.call('PATCH', '/users/desk', { body: { member_selection: 'list' } })
    expect(await signIn({ userRef: 'desk' })).toMatchObject({ kind: 'choose-member', members: ['bob'] })
    // A name that is not on the list becomes no member.
    expect(await signIn({ userRef: 'desk', memberRef: 'eve' })).toMatchObject({ kind: 'choose-member' })
    expect((await service.call('GET', '/users/desk/members')).json.members).toHaveLength(1)
    const begun = await signIn({ userRef: 'desk', memberRef: 'bob' })
    expect(begun).toMatchObject({ kind: 'enroll', done: 0, target: 5, state: { memberRef: 'bob' } })
  })

  it('names a member with a space, and adds none with a plus sign', async () => {
    await service.call('POST', '/users/hotel', { body: { type: 'generic', member_ref: 'front desk' } })
    const begun = await signIn({ userRef: 'hotel', memberRef: 'front desk' })
    expect(begun).toMatchObject({ kind: 'enroll', state: { memberRef: 'front-desk' } })
    expect((await service.call('GET', '/users/hotel/members')).json.members).toHaveLength(1)
    await signIn({ userRef: 'hotel', memberRef: 'front+desk' })
    expect((await service.call('GET', '/users/hotel/members')).json.members).toHaveLength(2)
  })

  const shownIn = (result: SignIn): string => ('words' in result ? result.words.suggestedWords.join(' ') : '')

  it('begins a sign-in of one person, and passes a pattern of its words, not one of other words or without its state', async () => {
    const ann = await enroll(service, 'ann')
    const begun = await signIn({ userRef: ' ANN ' })
    expect(begun).toMatchObject({ kind: 'type', codeOpen: false, again: null, state: { userRef: 'ann' } })
    const kinds = new Set<string>()
    for (let i = 0; i < 3; i++) {
      const shown = await signIn({ userRef: 'ann' })
      if (shown.kind !== 'type') throw new Error(shown.kind)
      const { state } = shown
      const words = shown.words.suggestedWords.join(' ')
      const other = await signIn({ userRef: 'ann', pattern: ann.fresh(), state })
      expect(other).toMatchObject({ kind: 'type', again: 'invalid-data', words: shown.words })
      kinds.add((await signIn({ userRef: 'ann', pattern: ann.fresh(words), state })).kind)
    }
    expect(kinds).toContain('authenticated')
    const lost: unknown = await signIn({ userRef: 'ann', pattern: ann.fresh() })
    expect(lost).toMatchObject({
      kind: 'type',
      again: 'session-expired',
    })
  })

  it('throws where the service cannot decide', async () => {
    expect(await caught(signIn({ userRef: 'ann' }, { apikey: 'wrong' }))).toMatchObject({ status: 401 })
    const away = createKeystride({ url: 'http://127.0.0.1:9', apikey: 'key' })
    expect(await caught(away.signIn({ userRef: 'ann', ip: '192.0.2.9' }))).toMatchObject({ reason: 'no-answer' })
  })

  it('says when to come back where the policy wants hours between patterns, and again if one comes too early', async () => {
    const policy = (await service.dashboard('GET', '/default-policy')).json.data
    const body = { ...policy, enrollment: { minHoursBetween: 20 } }
    await service.dashboard('PUT', `/policies/${policy.id}`, { body })
    const who = person(9100)
    let typed = 0
    for (let visits = 0; visits < 2; visits++) {
      let result = await signIn({ userRef: 'dan' })
      // A made-up person is sometimes taken for a machine, and types again.
      while (result.kind === 'enroll' && ++typed < 20)
        result = await signIn({ userRef: 'dan', pattern: who.types(shownIn(result), typed), state: result.state })
      expect(result).toEqual({ kind: 'later', retryAfterSeconds: expect.any(Number), until: expect.any(String) })
      if (result.kind !== 'later') continue
      expect(result.retryAfterSeconds).toBeGreaterThan(19 * 3600)
      expect(result.retryAfterSeconds).toBeLessThanOrEqual(20 * 3600)
      expect(Date.parse(result.until)).toBeLessThanOrEqual(Date.now() + result.retryAfterSeconds * 1000)
    }
    expect((await service.bootstrap('dan')).json).toMatchObject({ biometricStatus: 'in-progress', nPatternsRef: 1 })
  })
})

describe('the sign-in of the client, by the answer of verify', () => {
  const words = { suggestedWords: ['one', 'two'], suggestedWordsLanguage: 'en' }
  const authentication = {
    id: 'a',
    timestamp: '2026-01-31T12:00:00.000Z',
    authenticated: false,
    authMethod: 'biometric',
    confidence: 0.4,
    confidenceBiometrics: 0.4,
    confidenceContext: 0.4,
    recommendedAction: 'challenge',
  }
  const rejected = {
    action: 'rejected',
    actions: ['retry-biometric'],
    reason: '',
    refusedBecause: null,
    enrollmentRequired: false,
  }
  const next = (mode: string, retryAfterSeconds: number | null = 0) => ({
    mode,
    remainingBiometricAttempts: 2,
    remainingCodeAttempts: 3,
    retryAfterSeconds,
    ...words,
  })
  const state = { asked: 'ann', userRef: 'ann', memberRef: null, sessionId: 's', enrolling: false, codeLength: 6 }
  const resultOf = (verify: object, input: object = { pattern: { k: [] } }) =>
    createKeystride({
      url: 'http://service.test',
      apikey: 'key',
      fetch: async () => Response.json({ success: true, message: 'Done', ...verify }),
    }).signIn({ userRef: 'ann', ip: '192.0.2.9', state, ...input })

  afterEach(() => expect.hasAssertions())

  it.each(WRITTEN)('sends the address %s of a person as %s', async (ip, sent) => {
    let body = ''
    await createKeystride({
      url: 'http://service.test',
      apikey: 'key',
      fetch: async (_, init) => {
        body = String(init?.body)
        return Response.json({ success: true, message: 'Done', ...rejected, authentication, nextAttempt: null })
      },
    }).signIn({ userRef: 'ann', ip, state, pattern: { k: [], ip: '192.0.2.66' } })
    expect(JSON.parse(body).ip).toBe(sent)
    // The bridge sends an address in its own spelling, and leaves out a value that is none.
    if (ip !== null) expect(sent === null ? null : canonicalAddress(sent)).toBe(writtenAddress(ip))
  })

  it('rejects while a complete profile takes no patterns, and answers `later` while an incomplete one takes none', async () => {
    const refused = { success: false, message: 'too many', reason: 'quota-exceeded' }
    const busy = (enrolling: boolean, waitS = '600') =>
      createKeystride({
        url: 'http://service.test',
        apikey: 'key',
        fetch: async () => Response.json(refused, { status: 429, headers: { 'retry-after': waitS } }),
      }).signIn({ userRef: 'ann', ip: '192.0.2.9', pattern: { k: [] }, state: { ...state, enrolling } })
    expect(await caught(busy(false))).toMatchObject({ status: 429, retryAfterSeconds: 600 })
    expect(await busy(true)).toMatchObject({ kind: 'later', retryAfterSeconds: 600 })
    // A refusal with a short wait is by the rate of the key, and does not send the person away.
    expect(await caught(busy(true, '1'))).toMatchObject({ status: 429, retryAfterSeconds: 1 })
  })

  it('is challenged if the typing was not certain', async () => {
    const result = await resultOf({ ...rejected, authentication, nextAttempt: next('biometric') })
    expect(result).toEqual({
      kind: 'challenged',
      by: 'typing',
      scores: { authenticationId: 'a', confidence: 0.4, confidenceBiometrics: 0.4, confidenceContext: 0.4 },
      next: { mode: 'type', words, remaining: 2, codeOpen: false },
      state,
    })
  })

  it('starts over where the attempts of the sign-in are used up and the person is not locked', async () => {
    const used = { ...rejected, authentication, nextAttempt: next('locked', 0) }
    expect(await resultOf(used)).toMatchObject({ kind: 'challenged', next: { mode: 'start-over' } })
    expect(await resultOf({ ...used, action: 'refused', refusedBecause: 'session-used-up' })).toEqual({
      kind: 'start-over',
      again: 'session-used-up',
    })
  })

  it('is blocked until a lock ends', async () => {
    const blocked = { ...authentication, recommendedAction: 'block' }
    const before = Date.now()
    const result = await resultOf({ ...rejected, authentication: blocked, nextAttempt: next('locked', 30) })
    expect(result).toMatchObject({ kind: 'blocked', reason: '', next: { mode: 'locked', retryAfterSeconds: 30 } })
    const ends = 'next' in result && result.next.mode === 'locked' ? Date.parse(result.next.until ?? '') : 0
    expect(ends).toBeGreaterThanOrEqual(before + 30_000)
    expect(ends).toBeLessThanOrEqual(Date.now() + 30_000)
  })

  const passed = { ...authentication, authenticated: true, recommendedAction: 'auth' }
  it.each([
    ['an action that is not known', { ...passed, recommendedAction: 'maybe' }, {}],
    ['a pass without the decision', { ...authentication, authenticated: true }, {}],
    ['a decision without the pass', { ...authentication, recommendedAction: 'auth' }, {}],
    ['a pass with a reason', passed, { reason: 'detection-bot' }],
    ['a method that is not known', { ...passed, authMethod: 'x' }, {}],
  ])('is no login after %s', async (_, odd, more) => {
    const answer = { ...rejected, action: 'verified', authentication: odd, nextAttempt: null, ...more }
    expect(['blocked', 'challenged']).toContain((await resultOf(answer)).kind)
  })
})
