import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Authentication, createAgent, type VerifyOptions } from '@keystride/agent'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { wirePattern } from '../../src/typist/made-up-person.js'
import { enroll, stranger, text } from '../harness/enrolled.js'
import { sharedService, type TestService } from '../harness/service.js'
import { type DotnetAgent, hasMono, startDotnetAgent } from './mono.js'

interface Answer {
  readonly status?: number
  readonly json?: unknown
  readonly type?: string
  readonly text?: string
  readonly headers?: Record<string, string>
  /** The connection is closed without an answer. */
  readonly lost?: true
  /** No answer comes. */
  readonly silent?: true
}
interface Vector {
  readonly name: string
  readonly url?: 'closed' | { readonly text: string } | { readonly suffix: string }
  readonly apikey?: string
  readonly userRef: string
  readonly pattern: string | { readonly text: string }
  readonly options?: VerifyOptions
  readonly answers: Record<string, string>
  readonly expect: {
    readonly code: number
    readonly recommendedAction: string | null
    readonly enrollment?: { readonly done: number; readonly target: number }
    readonly calls: readonly string[]
    readonly sent?: { readonly without?: readonly string[]; readonly same?: readonly string[]; readonly ip?: string }
  }
}
const { patterns, answers, vectors } = JSON.parse(
  readFileSync(new URL('../../packages/agent/vectors.json', import.meta.url), 'utf8'),
) as { patterns: Record<string, Patch | Fields>; answers: Record<string, Answer>; vectors: Vector[] }

type Fields = Record<string, unknown>
interface Patch {
  readonly like: string
  readonly without?: readonly string[]
  readonly set?: Fields
}

function patternOf(name: string): Fields {
  const entry = patterns[name]
  if (entry === undefined) throw new Error(`the vectors have no pattern ${name}`)
  if (!('like' in entry)) return entry
  // Sound: a pattern has no field of this name.
  const { like, without = [], set = {} } = entry as Patch
  return { ...Object.fromEntries(Object.entries(patternOf(like)).filter(([key]) => !without.includes(key))), ...set }
}

function urlOf(given: Vector['url'], url: string, closed: string): string {
  if (given === undefined) return url
  if (given === 'closed') return closed
  return 'text' in given ? given.text : url + given.suffix
}

interface Asked {
  readonly url: string
  readonly apikey: string
  readonly timeoutMs: number
  readonly userRef: string
  readonly pattern: string
  readonly options: VerifyOptions
}
interface Result {
  readonly code: number
  readonly recommendedAction: string | null
  readonly scored: boolean
  /** Only the agent in TypeScript returns it. */
  readonly authentication?: Authentication | null
  readonly enrollment: unknown
  readonly message: string
}

let dotnet: DotnetAgent | null = null
const IMPLEMENTATIONS: readonly { readonly name: string; verify(asked: Asked): Promise<Result> }[] = [
  {
    name: 'TypeScript',
    async verify({ url, apikey, timeoutMs, userRef, pattern, options }) {
      const result = await createAgent({ url, apikey, timeoutMs }).verify(userRef, pattern, options)
      return { ...result, scored: result.authentication !== null }
    },
  },
  ...(hasMono
    ? [
        {
          name: '.NET',
          async verify({ options, ...asked }: Asked) {
            dotnet ??= startDotnetAgent()
            // Sound: the runner prints these fields.
            return (await dotnet.verify({ ...asked, ...options })) as unknown as Result
          },
        },
      ]
    : []),
]
afterAll(() => dotnet?.close())

it('the vectors have every code', () => {
  const codes = new Set(vectors.map((vector) => vector.expect.code))
  expect([...codes].sort()).toEqual([0, 201, 202, 203, 204, 205, 206, 207, 208, 210])
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
})

describe.each(IMPLEMENTATIONS)('the agent in $name, on the vectors', ({ verify }) => {
  let url: string
  let closed: string
  let answered: Record<string, string> = {}
  let calls: string[] = []
  let bodies: string[] = []
  let close: () => void
  beforeAll(async () => {
    const server = createServer(async (request, response) => {
      const [, rest = ''] = /^\/core\/users\/[^/?]+(.*)$/.exec(request.url ?? '') ?? []
      calls.push(`${request.method}${rest.startsWith('/') ? ' ' : ''}${rest}`)
      let body = ''
      for await (const part of request) body += part
      if (body !== '') bodies.push(body)
      const kind = `${request.method} ${rest.replace(/\?.*/, '')}`.trim()
      const answer = answers[answered[kind] ?? ''] ?? { status: 599, text: '' }
      if (answer.lost) request.socket.destroy()
      if (answer.lost || answer.silent) return
      const headers = { 'content-type': answer.type ?? 'application/json; charset=utf-8', ...answer.headers }
      const noBody = answer.status === 204
      response.writeHead(answer.status ?? 200, headers)
      response.end(noBody ? undefined : (answer.text ?? JSON.stringify(answer.json)))
    })
    url = await listen(server)
    closed = `http://127.0.0.1:${await freePort()}`
    close = () => {
      server.closeAllConnections()
      server.close()
    }
  })
  afterAll(() => close())
  beforeEach(() => {
    calls = []
    bodies = []
  })

  it.each(vectors)('$expect.code: $name', async (vector) => {
    answered = vector.answers
    const { pattern } = vector
    const result = await verify({
      url: urlOf(vector.url, url, closed),
      apikey: vector.apikey ?? 'a-key',
      timeoutMs: Object.values(vector.answers).includes('silent') ? 300 : 10_000,
      userRef: vector.userRef,
      pattern: typeof pattern === 'string' ? JSON.stringify(patternOf(pattern)) : pattern.text,
      options: vector.options ?? {},
    })
    const { code, recommendedAction, enrollment = null, sent } = vector.expect
    expect(result, result.message).toMatchObject({ code, recommendedAction, enrollment })
    expect(calls).toEqual(vector.expect.calls)
    expect(result.message).not.toBe('')
    expect(result.message).not.toContain('a-key')
    if (recommendedAction === null) expect(result.scored).toBe(false)
    if (result.authentication) expect(result.authentication.authenticated).toBe(recommendedAction === 'auth')
    if (sent !== undefined) {
      const body = JSON.parse(bodies.at(-1) ?? '') as Fields
      const recorded = patternOf(String(pattern))
      for (const name of sent.without ?? []) expect(body).not.toHaveProperty(name)
      for (const name of sent.same ?? ['kevt']) expect(body[name]).toEqual(recorded[name])
      expect(body.ip).toBe(sent.ip)
    }
  })
})

describe.each(IMPLEMENTATIONS)('the agent in $name, against the service', ({ name, verify }) => {
  let service: TestService
  beforeAll(async () => {
    service = await sharedService()
  })

  const ask = (userRef: string, pattern: unknown, more: Partial<Asked> = {}) =>
    verify({
      url: service.core.replace(/\/core$/, ''),
      apikey: service.apikey,
      timeoutMs: 10_000,
      userRef,
      pattern: JSON.stringify(pattern),
      options: { ip: '192.0.2.44' },
      ...more,
    })
  const codeOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).code
  const even = (n = 40) =>
    wirePattern([...text(3)].slice(0, n).map((letter, i) => [letter, i * 100, i * 100 + 60] as const))

  it('produces every code by its situation', async () => {
    const ann = await enroll(service, 'ann')
    const good = ann.fresh()
    expect(await codeOf('ann', good, { url: `http://127.0.0.1:${await freePort()}` })).toBe(201)
    expect(await codeOf('ann', good, { apikey: 'unknown' })).toBe(202)
    expect(await codeOf('ann', even(3))).toBe(203)
    expect(await codeOf('ann', { ...(good as object), version: '9.0.0' })).toBe(203)
    expect(await codeOf('ann', even())).toBe(204)
    expect(await codeOf('nobody', good)).toBe(205)
    expect(await codeOf('ann', good, { url: `${service.core.replace(/\/core$/, '')}/auth` })).toBe(206)
    const other = createServer((_, response) => response.end('hello'))
    expect(await codeOf('ann', good, { url: await listen(other) })).toBe(206)
    other.closeAllConnections()
    other.close()
    expect(await codeOf('ann', good, { url: 'core.example.org' })).toBe(207)
    expect(await codeOf('ann', { ...(good as object), tags: [{ k: '', v: 'x' }] })).toBe(208)
    expect(await codeOf('Änn', good)).toBe(210)
  })

  it('enrolls a person, recognizes that person, and signs in nobody else', async () => {
    const owner = await enroll(service, `other-${name}`)
    const options = { enroll: true, ip: '192.0.2.44' }
    const enrollments: unknown[] = []
    for (let n = 0; enrollments.length < 5 && n < 20; n++) {
      const { code, recommendedAction, enrollment } = await ask('new', owner.fresh(), { options })
      expect(recommendedAction === null || code === 204).toBe(true)
      if (code === 0) enrollments.push(enrollment)
    }
    expect(enrollments).toEqual([1, 2, 3, 4, 5].map((done) => ({ done, target: 5 })))
    const verdicts: (string | null)[] = []
    for (let n = 0; n < 5; n++) verdicts.push((await ask('new', owner.fresh(), { options })).recommendedAction)
    expect(verdicts).toContain('auth')
    // A synthetic stranger is sometimes classified as a machine.
    const others: Result[] = []
    for (let n = 0; n < 4; n++) others.push(await ask('new', stranger(1.6)))
    expect(others.map(({ recommendedAction }) => recommendedAction)).not.toContain('auth')
    expect(others.filter(({ code, scored }) => code === 0 && scored)).not.toEqual([])
  })

  it('enrolls a new member of a shared account', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'bob' } })
    const options = { enroll: true, memberRef: `carol-${name}` }
    const { code, enrollment, message } = await ask('desk', (await enroll(service, `c-${name}`)).fresh(), { options })
    expect([code, enrollment], message).toEqual([0, { done: 1, target: 5 }])
    expect(await codeOf('desk', stranger())).toBe(206)
  })
})

describe('the agent never rejects', () => {
  it('a pattern that is none: 203', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const throwing = {
      get kevt(): never {
        throw new Error('no')
      },
    }
    const agent = createAgent({ url: 'http://127.0.0.1:9', apikey: 'a-key' })
    for (const pattern of [cyclic, throwing, { kevt: 1n }, () => {}, undefined, Symbol('pattern')])
      expect((await agent.verify('ann', pattern)).code, typeof pattern).toBe(203)
  })

  it('wrong arguments of JavaScript', async () => {
    const pattern = patternOf('typed')
    // Sound: these are the faults under test.
    const wrong = (value: unknown) => value as never
    expect((await createAgent(wrong(undefined)).verify('ann', pattern)).code).toBe(206)
    expect((await createAgent(wrong({})).verify('ann', pattern)).code).toBe(207)
    const agent = createAgent({ url: `http://127.0.0.1:${await freePort()}`, apikey: 'a-key', timeoutMs: Number.NaN })
    expect((await agent.verify(wrong(7), pattern)).code).toBe(210)
    expect((await agent.verify('ann', pattern, wrong(null))).code).toBe(201)
    expect((await agent.verify('ann', pattern, wrong({ signal: 'now' }))).code).toBe(206)
  })

  it('a verify that its caller ends: 201', async () => {
    const silent = createServer(() => {})
    const agent = createAgent({ url: await listen(silent), apikey: 'a-key' })
    const ending = new AbortController()
    const result = agent.verify('ann', patternOf('typed'), { signal: ending.signal })
    silent.once('request', () => ending.abort())
    expect((await result).code).toBe(201)
    expect((await agent.verify('ann', patternOf('typed'), { signal: AbortSignal.abort() })).code).toBe(201)
    silent.closeAllConnections()
    silent.close()
  })

  it.runIf(hasMono)('null arguments of .NET', async () => {
    dotnet ??= startDotnetAgent()
    const rest = { timeoutMs: 1000 }
    const called = { ...rest, url: 'http://127.0.0.1:9', apikey: 'a-key' }
    expect(await dotnet.verify(rest)).toMatchObject({ code: 207 })
    expect(await dotnet.verify({ ...rest, url: called.url })).toMatchObject({ code: 202 })
    expect(await dotnet.verify({ ...called, pattern: JSON.stringify(patternOf('typed')) })).toMatchObject({ code: 210 })
    expect(await dotnet.verify({ ...called, userRef: 'ann' })).toMatchObject({ code: 203 })
  })
})

/** The address of a server that listens from now on. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
