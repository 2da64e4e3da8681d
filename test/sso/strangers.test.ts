import { beforeAll, describe, expect, it } from 'vitest'
import { OWN_BROWSER_MS, STRANGER_INVALID, STRANGER_LIMITS } from '../../src/domain/stranger-tries.js'
import { createStrangers } from '../../src/sso/strangers.js'
import { postgresStrangerTries } from '../../src/storage/postgres/sso/stranger-tries.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { sharedService } from '../harness/service.js'
import { databaseOf } from '../servers/database.js'
import {
  type Bridge,
  beginSignIn,
  enrolled,
  latestPassword,
  openBridge,
  signInByTyping,
  someone,
  startBridge,
  tokensOf,
  unlock,
  type Visitor,
} from './bridge.js'

const NAMES = ['ann', 'bob', 'cid', 'dee', 'eve']

describe('strangers at single sign-on', async () => {
  const { world, bridge } = await openBridge({ people: NAMES.map(someone) })
  /** An enrolled person, and the browser of the last sign-in. */
  const owner = async (name: string, seed: number) => {
    const who = await enrolled(world, bridge, name, seed)
    const { visitor } = await signInByTyping(bridge, name, who)
    expect(visitor.at).toContain('code=')
    return { who, browser: visitor }
  }
  const failures = async (name: string) =>
    (await world.service.dashboard('GET', `/authentications?user_ref=${name}&limit=100`)).json.data.filter(
      (one: { authenticated: boolean }) => !one.authenticated,
    ).length
  let seed = 9500
  /** Types wrongly in a new browser each time until there is no field to type in. Gives the last browser. */
  async function guess(at: Bridge, name: string): Promise<Visitor> {
    for (let n = 0; n < 12; n++) {
      const { visitor } = await beginSignIn(at, name)
      if (visitor.words() === '') return visitor
      await visitor.submit({
        action: 'pattern',
        pattern: JSON.stringify(person(seed++).types(visitor.words(), seed, { tempo: 2 })),
      })
    }
    throw new Error('strangers can try without a limit')
  }
  const shown = (visitor: Visitor) => [visitor.title(), visitor.code()]
  const CLOSED = ['One-time password', 109]
  const signsIn = async (name: string, who: MadeUpPerson, browser: Visitor) => {
    const sign = await beginSignIn(bridge, name, {}, browser)
    for (let n = 0; n < 3 && browser.words() !== ''; n++) await browser.types(who)
    return (await tokensOf(sign)).claims()?.sub
  }

  // Regression: five wrong typings of a stranger locked the person.
  it('have three wrong typings, lock nobody, and leave the person the browser of the last sign-in', async () => {
    const { who, browser } = await owner('ann', 91)
    const before = await failures('ann')
    const refused = await guess(bridge, 'ann')
    expect(shown(refused)).toEqual(CLOSED)
    expect(refused.page).toContain('from other devices')
    expect((await failures('ann')) - before).toBe(STRANGER_LIMITS.biometric.perDay)
    for (let n = 0; n < 5; n++) expect(shown(await guess(bridge, 'ann'))).toEqual(CLOSED)
    expect((await failures('ann')) - before).toBe(STRANGER_LIMITS.biometric.perDay)
    expect(await signsIn('ann', who, browser)).toBe('ann')
    // A success does not restore the tries of the day.
    expect(shown((await beginSignIn(bridge, 'ann')).visitor)).toEqual(CLOSED)
  })

  it('are distinguished from the person in a new browser by a one-time password, after which typing is needed', async () => {
    const { who } = await owner('bob', 92)
    await guess(bridge, 'bob')
    const sign = await beginSignIn(bridge, 'bob')
    const { visitor } = sign
    await visitor.submit({ action: 'send', purpose: 'browser' })
    await visitor.submit({ action: 'password', password: latestPassword(world, 'bob@example.org') })
    expect(shown(visitor)).toEqual(['Type to sign in', Number.NaN])
    for (let n = 0; n < 3 && visitor.words() !== ''; n++) await visitor.types(who)
    expect((await tokensOf(sign)).claims()).toMatchObject({ sub: 'bob', amr: ['typing'] })
    expect(await signsIn('bob', who, visitor)).toBe('bob')
  })

  it('use up no patterns of the person by ones that are not valid, and no security code', async () => {
    const { who, browser } = await owner('cid', 93)
    const { session } = await world.service.bootstrap('cid')
    const body = { securityCode: '749205' }
    expect((await world.service.call('PUT', '/users/cid/security-code', { session, body })).status).toBe(200)
    const { visitor } = await beginSignIn(bridge, 'cid')
    await visitor.submit({ action: 'code', code: '749204' })
    const second = await beginSignIn(bridge, 'cid')
    await second.visitor.submit({ action: 'code', code: '749203' })
    expect(shown(second.visitor)).toEqual(CLOSED)
    expect(await failures('cid')).toBe(1)
    const other = (await beginSignIn(bridge, 'cid')).visitor
    for (let n = 0; n < STRANGER_INVALID.most; n++) {
      expect([n, other.words() === '']).toEqual([n, false])
      await other.submit({ action: 'pattern', pattern: '{}' })
    }
    expect(shown(other)).toEqual(CLOSED)
    expect(await signsIn('cid', who, browser)).toBe('cid')
  })

  it('close the page for a day in other browsers where no mail can be sent, until an unlock', async () => {
    const { who, browser } = await owner('dee', 94)
    const withoutMail = await startBridge(world.service, world.mail.port, {
      people: NAMES.map(someone),
      settings: { mail: undefined },
    })
    const refused = await guess(withoutMail, 'dee')
    expect(shown(refused)).toEqual(['You are not signed in', 109])
    expect(refused.page).toMatch(/Locked for 14[34]\d min/)
    await unlock(world.service, 'dee')
    expect(shown((await beginSignIn(withoutMail, 'dee')).visitor)).toEqual(['Type to sign in', Number.NaN])
    // The unlock has also ended what the browser of the last sign-in may.
    await guess(bridge, 'dee')
    expect(shown((await beginSignIn(bridge, 'dee', {}, browser)).visitor)).toEqual(CLOSED)
    expect(who).toBeDefined()
    await withoutMail.close()
  })

  it('share no cookie with the person: it is for its person, and of the bridge alone', async () => {
    const { browser } = await owner('eve', 95)
    const [own] = [...browser.cookies.values()].filter(({ name }) => name === 'keystride_own')
    expect(own?.path).toBe('/interaction')
    await guess(bridge, 'ann')
    expect(shown((await beginSignIn(bridge, 'ann', {}, browser)).visitor)).toEqual(CLOSED)
  })
})

describe('the cookie of an own browser', () => {
  const KEYS = ['a secret', 'an older one']
  let userRef = ''
  let now = 0
  let service: Awaited<ReturnType<typeof sharedService>>
  const strangers = (cookieKeys = KEYS) =>
    createStrangers({
      organizationId: service.organizationId,
      strangerTries: postgresStrangerTries(databaseOf(service)),
      cookieKeys: () => cookieKeys,
      now: () => now,
    })
  let people = 0
  beforeAll(async () => {
    service = await sharedService()
  })
  const somebody = async () => {
    userRef = `own-${people++}`
    now = Date.now()
    await service.call('POST', `/users/${userRef}`)
    const cookie = await strangers().cookieOf(userRef)
    return cookie ?? ''
  }
  const isOwn = (cookie: string | null, ref = userRef) => strangers().isOwn(ref, cookie)

  it('is signed, for one person, for thirty days, by a present key or one before', async () => {
    const first = await somebody()
    const other = userRef
    const cookie = await somebody()
    expect([await isOwn(cookie), await isOwn(cookie, other), await isOwn(first)]).toEqual([true, false, false])
    expect(await strangers(['a new one', ...KEYS]).isOwn(userRef, cookie)).toBe(true)
    expect(await strangers(['a new one']).isOwn(userRef, cookie)).toBe(false)
    const [at = '', mac = ''] = cookie.split('.')
    const forged = [
      null,
      '',
      at,
      `${Number(at) + 1}.${mac}`,
      `${at}.${'A'.repeat(43)}`,
      `${at}.${mac}x`,
      `${at}.`,
      `x${cookie}`,
    ]
    for (const one of forged) expect([one, await isOwn(one)]).toEqual([one, false])
    now += OWN_BROWSER_MS - 1
    expect(await isOwn(cookie)).toBe(true)
    now += 1
    expect(await isOwn(cookie)).toBe(false)
  })

  it.each([
    ['an unlock', () => unlock(service, userRef)],
    ['a reset', () => service.call('DELETE', `/users/${userRef}/typing-patterns`)],
    [
      'a deletion, also if the reference is used again',
      async () => {
        await service.call('DELETE', `/users/${userRef}`)
        return service.call('POST', `/users/${userRef}`)
      },
    ],
  ])('ends with %s', async (_, act) => {
    const cookie = await somebody()
    expect(await isOwn(cookie)).toBe(true)
    expect((await act()).status).toBeLessThan(300)
    expect(await isOwn(cookie)).toBe(false)
    now = Date.now() + 1000
    expect(await isOwn((await strangers().cookieOf(userRef)) ?? '')).toBe(true)
  })

  it('is none of a person who has no account', async () => {
    await somebody()
    expect([await strangers().cookieOf('nobody'), await isOwn('1.x', 'nobody')]).toEqual([null, false])
  })
})
