import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { person } from '../../src/typist/made-up-person.js'
import { freshDatabase } from '../servers/database.js'
import { backEnds } from '../service.js'
import { type ServiceProcess, startProcess } from './service-process.js'

const command = fileURLToPath(new URL('../../bin/keystride.mjs', import.meta.url))
const text = (seed: number) => suggestWords('en', seed).join(' ')

describe.each(backEnds)('two processes on $name', ({ redisUrl }) => {
  let env: Record<string, string>
  let organizationId: string
  let apikey: string
  let both: [ServiceProcess, ServiceProcess]

  const keystride = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], {
      env: { STORE_PATIENCE: '10', ...process.env, ...env },
    })
    return stdout.trim()
  }
  const call = async (on: 0 | 1, method: string, path: string, session?: string, body?: unknown) => {
    const answer = await fetch(both[on].core + path, {
      method,
      headers: {
        apikey,
        'content-type': 'application/json',
        ...(session === undefined ? {} : { 'x-service-session': session }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return {
      status: answer.status,
      session: answer.headers.get('x-service-session') ?? '',
      // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
      json: (await answer.json()) as any,
    }
  }

  beforeAll(async () => {
    env = {
      DATABASE_URL: (await freshDatabase()).url,
      ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
      ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    }
    organizationId = (await keystride('organization', 'create', 'Two')).split('\n')[0] ?? ''
    apikey = await keystride('key', 'issue', organizationId, '--label', 'test')
    both = await Promise.all([startProcess(env), startProcess(env)])
  }, 60_000)
  afterAll(async () => {
    await Promise.all(both.map((one) => one.stop()))
  })

  it('begin a sign-in on one and continue it on the other', async () => {
    const { session } = await call(0, 'GET', '/users/ann')
    const made = await call(1, 'POST', '/users/ann', session)
    expect(made.json).toMatchObject({ success: true, created: true })
    for (let n = 0; n < 5; n++) {
      const on = (n % 2) as 0 | 1
      const { json } = await call(on, 'POST', '/users/ann/typing-patterns', session, person(41).types(text(n), n))
      expect(json, JSON.stringify(json)).toMatchObject({ success: true, nPatternsRef: n + 1 })
    }
    const states = await Promise.all(([0, 1] as const).map((on) => call(on, 'GET', '/users/ann', session)))
    expect(states.map(({ session: echoed }) => echoed)).toEqual([session, session])
    for (const { json } of states) expect(json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
  })

  it('share one budget and one replay index', async () => {
    const { session } = await call(0, 'GET', '/users/ann')
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        call((i % 2) as 0 | 1, 'POST', '/users/ann/verify', session, person(700 + i).types(text(i), i)),
      ),
    )
    // Three are judged. On a loaded machine one of them may be answered with 503, which also uses it up.
    const judged = all.filter(({ json }) => ['rejected', 'verified'].includes(json.action)).length
    expect(judged).toBeLessThanOrEqual(3)
    expect(judged + all.filter(({ status }) => status === 503).length).toBeGreaterThanOrEqual(3)
    await call(0, 'POST', '/users/bob')
    const { session: bobs } = await call(1, 'GET', '/users/bob')
    const body = person(42).types(text(1), 1)
    expect((await call(0, 'POST', '/users/bob/typing-patterns', bobs, body)).status).toBe(200)
    expect((await call(1, 'POST', '/users/bob/typing-patterns', bobs, body)).json.reason).toBe('fraud-detected')
  })

  it('end a session on both when its account is deleted', async () => {
    await call(0, 'POST', '/users/carl')
    const { session } = await call(0, 'GET', '/users/carl')
    await call(1, 'DELETE', '/users/carl')
    for (const on of [0, 1] as const) {
      expect(
        (await call(on, 'POST', '/users/carl/typing-patterns', session, person(43).types(text(on), on))).status,
      ).toBe(400)
    }
  })

  it('refuse a revoked key within a second', async () => {
    const second = await keystride('key', 'issue', organizationId, '--scopes', 'core')
    const status = async (on: 0 | 1) =>
      (await fetch(`${both[on].core}/users/ann`, { headers: { apikey: second } })).status
    expect(await Promise.all([status(0), status(1)])).toEqual([200, 200])
    const listed = await keystride('key', 'list', organizationId)
    const id =
      listed
        .split('\n')
        .find((line) => line.includes('core ') && line.includes('unnamed'))
        ?.split(' ')[0] ?? ''
    await keystride('key', 'revoke', organizationId, id)
    const revokedAt = performance.now()
    for (;;) {
      const askedAt = performance.now()
      const found = await Promise.all([status(0), status(1)])
      if (found.every((one) => one === 401)) break
      if (found.includes(200)) expect(askedAt - revokedAt).toBeLessThan(1_000)
    }
  })
})
