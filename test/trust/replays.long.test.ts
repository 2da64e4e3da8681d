import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../api/enrolled.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../faults/flushed-redis.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'

/** Each person enrolls two patterns and signs in with one. Each pattern is sent again in six ways. */
const PEOPLE = LONG ? 560 : 8
const AT_ONCE = 8

describe('a pattern that was already stored', { timeout: 1_800_000 }, () => {
  let fresh: FreshDatabase
  let redis: FlushedRedis | null = null
  let service: TestService
  const start = () => startService(fresh.url, { redisUrl: redis?.url ?? null })
  beforeAll(async () => {
    fresh = await freshDatabase()
    redis = redisIsHere() ? await startFlushedRedis() : null
    service = await start()
  })
  afterAll(async () => {
    await service.close()
    await redis?.stop()
    await fresh.drop()
  })

  const begin = async (userRef: string) => (await service.bootstrap(userRef)).session
  const enrollOne = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })

  /** The number of references of each person. One call at a time: hundreds at once would be shed. */
  async function referenceCounts(): Promise<number[]> {
    const counts: number[] = []
    for (let n = 0; n < PEOPLE; n++) {
      const { status, json } = await service.bootstrap(`seen-${n}`)
      expect(status).toBe(200)
      counts.push(json.nPatternsRef)
    }
    return counts
  }

  interface Seen {
    readonly userRef: string
    readonly session: string
    readonly body: unknown
  }

  it('is rejected the second time, for every user and session', async () => {
    const seen: Seen[] = []
    for (let n = 0; n < PEOPLE; n++) {
      const userRef = `seen-${n}`
      await service.call('POST', `/users/${userRef}`)
      const session = await begin(userRef)
      for (let i = 0, stored = 0; stored < 3; i++) {
        const body = person(5_000 + n).types(text(n * 100 + i), i)
        const { status } = await enrollOne(userRef, session, body)
        if (status !== 200) continue
        stored++
        seen.push({ userRef, session, body })
      }
    }
    const tried = { sent: 0, taken: 0 }
    const before = await referenceCounts()
    async function again(how: string, send: (one: Seen, i: number) => ReturnType<TestService['call']>) {
      let next = 0
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let i = next++; i < seen.length; i = next++) {
            let answer = await send(seen[i] as Seen, i)
            while (answer.status === 503) answer = await send(seen[i] as Seen, i)
            tried.sent++
            if (answer.status !== 422 || answer.json.reason !== 'fraud-detected') {
              tried.taken++
              console.log(`${how}: ${answer.status} ${JSON.stringify(answer.json)}`)
            }
          }
        }),
      )
    }
    const other = async ({ body }: Seen, i: number) => {
      await service.call('POST', `/users/other-${i % (3 * PEOPLE)}`)
      return enrollOne(`other-${i}`, await begin(`other-${i}`), body)
    }
    await again('in the same session', ({ userRef, session, body }) => enrollOne(userRef, session, body))
    await again('in another session', async ({ userRef, body }) => enrollOne(userRef, await begin(userRef), body))
    await again('by another user', other)
    await again('over the legacy endpoint', ({ userRef, body }) =>
      service.call('POST', `/user-action/${userRef}`, { body: { action: 'LINK_PATTERN', pattern: body } }),
    )
    await service.close()
    service = await start()
    await again('after a restart', async ({ userRef, body }) => enrollOne(userRef, await begin(userRef), body))
    await redis?.flush()
    await again(redis === null ? 'once more' : 'after a flush of Redis', other)
    expect(await referenceCounts()).toEqual(before)
    const found = `${tried.sent - tried.taken} of ${tried.sent.toLocaleString('en')} exact replays stopped`
    figure('T05', found, 'all', tried.taken === 0)
  })
})
