import { beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/flows/process/tokens.js'
import { person } from '../../src/typist/made-up-person.js'
import { linkTo, typeBy } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { type Answer, sharedBackEnds, startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

const USERS = LONG ? 100 : 12
const INVENTED = LONG ? 10_000 : 100
const FOREIGN = LONG ? 1_000 : 30
/** Sessions of the user before each event that ends them. */
const OLD = LONG ? 250 : 10

/** The number of cases for which `work` returns true; 16 at once. */
async function count<T>(all: readonly T[], work: (one: T) => Promise<boolean>): Promise<number> {
  let [next, n] = [0, 0]
  const worker = async () => {
    while (next < all.length) if (await work(all[next++] as T)) n++
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return n
}
const times = (n: number) => Array.from({ length: n }, (_, i) => i)

describe.each(sharedBackEnds)('sessions on $name', { timeout: 600_000 }, ({ redisUrl }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startService((await freshDatabase()).url, { redisUrl })
    return () => service.close()
  })

  /** A call that needs a session and is refused for its body if the session is valid, so that it uses up nothing. */
  const use = (userRef: string, session: string, headers = {}) =>
    service.call('POST', `/users/${userRef}/typing-patterns`, { session, body: {}, headers })
  const accepted = ({ status, json }: Answer) => !(status === 400 && json.message.includes('bootstrap with GET'))
  const begin = async (userRef: string) => (await service.bootstrap(userRef)).session
  /** Whether a session is accepted or given back for a user. */
  const lives = async (userRef: string, session: string) =>
    accepted(await use(userRef, session)) ||
    (await service.call('GET', `/users/${userRef}`, { session })).headers.get('x-service-session') === session

  it('serve only the user that they were created for', async () => {
    const users = times(USERS).map((n) => `user-${n}`)
    for (const userRef of users) await service.call('POST', `/users/${userRef}`)
    const own = await Promise.all(users.map(async (userRef) => ({ userRef, session: await begin(userRef) })))
    expect(await count(own, ({ userRef, session }) => lives(userRef, session))).toBe(USERS)
    const pairs = own.flatMap(({ session }, i) =>
      users.filter((_, j) => j !== i).map((userRef) => ({ userRef, session })),
    )
    const wrong = await count(pairs, ({ userRef, session }) => lives(userRef, session))
    figure('T03', `${wrong} of ${pairs.length.toLocaleString('en')} live for another user`, '0', wrong === 0)
  })

  it('are created only by the service', async () => {
    const replaced = await count(times(INVENTED).map(newToken), async (session) => {
      const answer = await service.call('GET', '/users/user-0', { session })
      const given = answer.headers.get('x-service-session') ?? ''
      return given !== session && /^[\w-]{43}$/.test(given) && given === answer.json.sessionId
    })
    const found = `${replaced} of ${INVENTED.toLocaleString('en')} invented ids replaced`
    figure('T03', found, 'all', replaced === INVENTED)
  })

  it('are rejected in another organization', async () => {
    const { apikey } = await service.another()
    await service.call('POST', '/users/user-0', { headers: { apikey } })
    const sessions = await Promise.all(times(FOREIGN).map(() => begin('user-0')))
    const wrong = await count(sessions, async (session) => accepted(await use('user-0', session, { apikey })))
    figure('T03', `${wrong} of ${FOREIGN} accepted in another organization`, '0', wrong === 0)
  })

  /** Completes a profile over a link. */
  async function byLink(kind: string, userRef: string): Promise<void> {
    const key = await linkTo(service, kind, userRef)
    const type = () => typeBy(service, key, (words) => person(50_000).types(words, ++typed))
    while (!(await type()).json.completed);
  }
  let typed = 0
  const events: Record<string, (userRef: string, session: string) => Promise<unknown>> = {
    'the deletion of the user': (userRef) => service.call('DELETE', `/users/${userRef}`),
    'a change of the code': async (userRef, session) => {
      const body = { securityCode: '749205' }
      expect((await service.call('PUT', `/users/${userRef}/security-code`, { session, body })).status).toBe(200)
    },
    'a reset of the profile': (userRef) => service.call('DELETE', `/users/${userRef}/typing-patterns`),
    'a reset by link': (userRef) => byLink('reset', userRef),
  }
  it.each(Object.entries(events))('end with %s', async (event, happen) => {
    const userRef = event.replaceAll(' ', '-')
    await service.call('POST', `/users/${userRef}`)
    if (event === 'a reset by link') await byLink('create', userRef)
    const sessions = await Promise.all(times(OLD).map(() => begin(userRef)))
    const own = await begin(userRef)
    await happen(userRef, own)
    const living = await count(sessions, (session) => lives(userRef, session))
    // The session that changed the code stays valid.
    if (event === 'a change of the code') expect(accepted(await use(userRef, own))).toBe(true)
    figure('T03', `${living} of ${OLD} outlived their end`, '0', living === 0)
  })
})
