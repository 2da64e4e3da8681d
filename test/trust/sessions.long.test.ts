import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/flows/process/tokens.js'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../api/enrolled.js'
import { freshDatabase } from '../servers/database.js'
import { type Answer, backEnds, startService, type TestService } from '../service.js'
import { figure, LONG } from './figure.js'

const USERS = LONG ? 100 : 12
const INVENTED = LONG ? 10_000 : 100
const FOREIGN = LONG ? 1_000 : 30
/** Sessions of the user before each event that ends them. */
const OLD = LONG ? 250 : 10
const AT_ONCE = 16

async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < all.length) await work(all[next++] as T)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

describe.each(backEnds)('sessions on $name', { timeout: 600_000 }, ({ name, redisUrl }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService((await freshDatabase()).url, { redisUrl })
  })
  afterAll(() => service.close())

  const users = Array.from({ length: USERS }, (_, i) => `user-${i}`)
  /** A call that needs a session and is refused for its body if the session is valid, so that it uses up nothing. */
  const use = (userRef: string, session: string, headers = {}) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body: {}, headers })
  const accepted = ({ status, json }: Answer) => !(status === 400 && json.message.includes('bootstrap with GET'))
  const begin = async (userRef: string) => (await service.bootstrap(userRef)).session

  it('serve only the user that they were created for', async () => {
    await each(users, (userRef) => service.call('POST', `/users/${userRef}`))
    const sessions = await Promise.all(users.map(begin))
    for (const [i, userRef] of users.entries()) expect(accepted(await use(userRef, sessions[i] ?? ''))).toBe(true)
    const pairs = users.flatMap((userRef, i) =>
      sessions.filter((_, j) => j !== i).map((session) => ({ userRef, session })),
    )
    let [wrong, echoed] = [0, 0]
    await each(pairs, async ({ userRef, session }) => {
      if (accepted(await use(userRef, session))) wrong++
      if ((await service.call('GET', `/users/${userRef}`, { session })).headers.get('x-service-session') === session)
        echoed++
    })
    const found = `${name}: ${wrong} of ${pairs.length.toLocaleString('en')} sessions accepted for another user, ${echoed} echoed`
    figure('T03', found, '0 and 0', wrong + echoed === 0)
  })

  it('are created only by the service', async () => {
    let replaced = 0
    await each(Array.from({ length: INVENTED }), async () => {
      const invented = newToken()
      const answer = await service.call('GET', '/users/user-0', { session: invented })
      const given = answer.headers.get('x-service-session') ?? ''
      if (given !== invented && /^[\w-]{43}$/.test(given) && given === answer.json.sessionId) replaced++
    })
    const found = `${name}: ${replaced} of ${INVENTED.toLocaleString('en')} invented ids replaced`
    figure('T03', found, 'all', replaced === INVENTED)
  })

  it('are rejected in another organization', async () => {
    const { apikey } = await service.another()
    await service.call('POST', '/users/user-0', { headers: { apikey } })
    const sessions = await Promise.all(Array.from({ length: FOREIGN }, () => begin('user-0')))
    let wrong = 0
    await each(sessions, async (session) => {
      if (accepted(await use('user-0', session, { apikey }))) wrong++
    })
    figure('T03', `${name}: ${wrong} of ${FOREIGN} accepted in another organization`, '0', wrong === 0)
  })

  it('end with the events that must end them', async () => {
    const code = async (userRef: string, session: string) =>
      expect(
        (await service.call('PUT', `/users/${userRef}/security-code`, { session, body: { securityCode: '749205' } }))
          .status,
      ).toBe(200)
    /** Completes a profile over a link. A made-up person is sometimes taken for a machine and then types again. */
    const byLink = async (kind: string, userRef: string, seed: number) => {
      const { key } = (await service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`)).json
      for (let n = 0; ; n++) {
        const body = person(seed).types(text(seed + n), n)
        const { json } = await service.callLinks('POST', '/typing-patterns', { body, headers: { 'x-link-key': key } })
        if (json.completed === true) return
        expect(n, JSON.stringify(json)).toBeLessThan(40)
      }
    }
    const events: Record<string, (userRef: string, own: string) => Promise<unknown>> = {
      'the deletion of the user': (userRef) => service.call('DELETE', `/users/${userRef}`),
      'a change of the code': code,
      'a reset of the profile': (userRef) => service.call('DELETE', `/users/${userRef}/typing-patterns`),
      'a reset by link': (userRef) => byLink('reset', userRef, 60_000),
    }
    let [old, living] = [0, 0]
    for (const [i, [event, happen]] of Object.entries(events).entries()) {
      const userRef = `ended-${i}`
      await service.call('POST', `/users/${userRef}`)
      if (event === 'a reset by link') await byLink('create', userRef, 50_000)
      const sessions = await Promise.all(Array.from({ length: OLD }, () => begin(userRef)))
      const own = await begin(userRef)
      await happen(userRef, own)
      await each(sessions, async (session) => {
        old++
        const echoed = (await service.call('GET', `/users/${userRef}`, { session })).headers.get('x-service-session')
        if (accepted(await use(userRef, session)) || echoed === session) {
          living++
          console.log(`a session lives on after ${event}`)
        }
      })
      // The session that changed the code stays valid.
      if (event === 'a change of the code') expect(accepted(await use(userRef, own))).toBe(true)
    }
    figure('T03', `${name}: ${living} of ${old} sessions outlived what ends them`, '0', living === 0)
  })
})
