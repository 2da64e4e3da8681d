import { afterAll, beforeAll, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { type FlushedRedis, redisIsHere, startFlushedRedis } from '../harness/flushed-redis.js'
import { type Answer, startService, type TestService } from '../harness/service.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

/** Each person enrolls three patterns. Each pattern is sent again in six ways. */
const PEOPLE = LONG ? 560 : 8
const AT_ONCE = 8

interface Seen {
  readonly userRef: string
  readonly session: string
  readonly body: unknown
}

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

it('a stored pattern is rejected the second time, for every user and session', async () => {
  const seen: Seen[] = []
  const begin = async (userRef: string) => (await service.bootstrap(userRef)).session
  const enroll = ({ userRef, session, body }: Seen) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
  for (let n = 0; n < PEOPLE; n++) {
    const userRef = `seen-${n}`
    await service.call('POST', `/users/${userRef}`)
    const session = await begin(userRef)
    for (let i = 0; seen.length < 3 * (n + 1); i++) {
      const one = { userRef, session, body: person(5_000 + n).types(text(n * 100 + i), i) }
      if ((await enroll(one)).status === 200) seen.push(one)
    }
  }
  const others: string[] = []
  let sent = 0
  async function again(send: (one: Seen, n: number) => Promise<Answer>): Promise<void> {
    let next = 0
    const worker = async () => {
      for (let n = next++; n < seen.length; n = next++) {
        const { status, json } = await send(seen[n] as Seen, n)
        sent++
        if (status !== 422 || json.reason !== 'fraud-detected') others.push(`${status} ${JSON.stringify(json)}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  }
  const inNewSession = async (one: Seen) => enroll({ ...one, session: await begin(one.userRef) })
  const byAnother = async ({ body }: Seen, n: number) => {
    await service.call('POST', `/users/other-${n}`)
    return inNewSession({ userRef: `other-${n}`, session: '', body })
  }
  await again(enroll)
  await again(inNewSession)
  await again(byAnother)
  await again(({ userRef, body }) =>
    service.call('POST', `/user-action/${userRef}`, { body: { action: 'LINK_PATTERN', pattern: body } }),
  )
  // The patterns are sent again after a restart, and after a flush of Redis.
  await service.close()
  service = await start()
  await again(inNewSession)
  await redis?.flush()
  await again(byAnother)
  for (let n = 0; n < PEOPLE; n++) expect((await service.bootstrap(`seen-${n}`)).json.nPatternsRef).toBe(3)
  console.log(others.slice(0, 10).join('\n'))
  figure(
    'T05',
    `${sent - others.length} of ${sent.toLocaleString('en')} exact replays stopped`,
    'all',
    others.length === 0,
  )
}, 1_800_000)
