import * as oidc from 'openid-client'
import { describe, expect, it } from 'vitest'
import { person, wirePattern } from '../../src/typist/made-up-person.js'
import { stranger, verifyOf } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { databaseOf } from '../servers/database.js'
import {
  beginSignIn,
  changePolicy,
  enroll,
  enrolled,
  latestPassword,
  openBridge,
  signInByTyping,
  someone,
  startBridge,
  tokensOf,
  unlock,
  Visitor,
} from './bridge.js'

const NAMES = ['ada', 'ben', 'dora', 'emil', 'fay', 'gus', 'hal', 'ida', 'jon', 'kim', 'noa', 'ola']

describe('single sign-on', async () => {
  const people = [...NAMES.map(someone), { name: 'cleo' }]
  const { world, bridge } = await openBridge({ people })
  const another = (options: Parameters<typeof startBridge>[2] = {}) =>
    startBridge(world.service, world.mail.port, { people, ...options })
  const passwordOf = (name: string) => latestPassword(world, `${name}@example.org`)

  it('proves a new person by mail, enrolls five patterns, and signs in by typing', async () => {
    const sign = await beginSignIn(bridge, 'ada')
    const { visitor } = sign
    expect(visitor.title()).toBe('One-time password')
    await visitor.submit({ action: 'send', purpose: 'enroll' })
    expect(visitor.page).toContain('a•••@example.org')
    await visitor.submit({ action: 'password', password: passwordOf('ada') })
    expect(visitor.title()).toBe('Let us learn how you type')
    const who = person(41)
    let patterns = 0
    while (/ target="/.test(visitor.page)) {
      await visitor.types(who)
      patterns++
    }
    expect(patterns).toBe(5)
    expect(visitor.title()).toBe('Type to sign in')
    const signedIn = await signInByTyping(bridge, 'ada', who, {}, sign)
    expect(signedIn.visitor.at).toContain('http://localhost:9/callback?code=')
    const tokens = await tokensOf(signedIn)
    expect(tokens.claims()).toMatchObject({
      iss: bridge.issuer,
      aud: 'app',
      sub: 'ada',
      acr: 'urn:keystride:typing',
      amr: ['typing'],
      auth_time: expect.any(Number),
      sid: expect.any(String),
    })
    const info = await oidc.fetchUserInfo(sign.party, tokens.access_token, 'ada')
    expect(info).toMatchObject({ sub: 'ada', email: 'ada@example.org', name: 'The person ada' })
  })

  it('asks a person to come back where the policy wants hours between the patterns of an enrollment', async () => {
    await changePolicy(world.service, { enrollment: { minHoursBetween: 20 } })
    const { visitor } = await beginSignIn(bridge, 'noa')
    await enroll(world, visitor, 'noa', person(49))
    await changePolicy(world.service, { enrollment: { minHoursBetween: 0 } })
    expect(visitor.title()).toBe('That is all for now')
    expect(visitor.page).toContain('Please sign in again in 20 hours.')
    expect(visitor.page).not.toContain('<keystride-typing')
  })

  it('asks for the name where the application names nobody', async () => {
    const { visitor } = await beginSignIn(bridge, '')
    expect(visitor.title()).toBe('Sign in')
    await visitor.submit({ action: 'name', name: 'Bem' })
    expect([visitor.title(), visitor.code()]).toEqual(['Sign in', 101])
    await visitor.submit({ action: 'name', name: ' Ben ' })
    expect(visitor.title()).toBe('One-time password')
  })

  it('is in the language that the application, the address or the browser wishes', async () => {
    const { visitor } = await beginSignIn(bridge, 'ben', { ui_locales: 'xx fr-CA en' })
    expect(visitor.title()).toBe('Mot de passe à usage unique')
    // Other programs add parameters and a slash to an address.
    const { at } = visitor
    for (const added of ['?language=de', '?language=de&language=fr&q=1%', '/?language=de']) {
      await visitor.open(at + added)
      expect([added, visitor.title()]).toEqual([added, 'Einmalpasswort'])
    }
  })

  it('passes a challenged person by a one-time password, with 110, and says so in the token', async () => {
    const who = await enrolled(world, bridge, 'dora', 43)
    await changePolicy(world.service, { decision_threshold: 0.99, priority: 'usability', contextual_influence: 0.5 })
    let sign = await beginSignIn(bridge, 'dora')
    // Each typing is faster than the one before, so it is less like the profile.
    for (let n = 1; n < 24 && sign.visitor.code() !== 110; n++) {
      await unlock(world.service, 'dora')
      sign = await beginSignIn(bridge, 'dora')
      await sign.visitor.types(who, 1 - 0.015 * n)
    }
    const { visitor } = sign
    await changePolicy(world.service, { decision_threshold: 0.5, priority: 'balanced', contextual_influence: 0.2 })
    expect(visitor.code()).toBe(110)
    await visitor.submit({ action: 'send', purpose: 'step-up' })
    await visitor.submit({ action: 'password', password: passwordOf('dora') })
    const tokens = await tokensOf(sign)
    expect(tokens.claims()).toMatchObject({ acr: 'urn:keystride:one-time-password', amr: ['otp'] })
  })

  it('takes a security code and then a one-time password in place of typing', async () => {
    await enrolled(world, bridge, 'ola', 50)
    const { session } = await world.service.bootstrap('ola')
    const body = { securityCode: '749205' }
    expect((await world.service.call('PUT', '/users/ola/security-code', { session, body })).status).toBe(200)
    const sign = await beginSignIn(bridge, 'ola')
    const { visitor } = sign
    expect(visitor.page).toContain('<details><summary>Security code</summary>')
    await visitor.submit({ action: 'code', code: '749 205' })
    expect(visitor.title()).toBe('One-time password')
    await visitor.submit({ action: 'send', purpose: 'step-up' })
    await visitor.submit({ action: 'password', password: passwordOf('ola') })
    expect((await tokensOf(sign)).claims()).toMatchObject({ sub: 'ola', amr: ['otp'] })
  })

  it('continues after a restart in the middle, and on several processes', async () => {
    const first = await another()
    const sign = await beginSignIn(first, 'emil')
    const { visitor } = sign
    await visitor.submit({ action: 'send', purpose: 'enroll' })
    await first.close()
    const port = Number(new URL(first.issuer).port)
    const second = await another({ port })
    // The same bridge on another port, as behind a load balancer with one address.
    const third = await another({ settings: { issuer: first.issuer } })
    try {
      await visitor.submit({ action: 'password', password: passwordOf('emil') })
      const who = person(44)
      for (let n = 0; / words="/.test(visitor.page) && n < 12; n++) {
        visitor.through = n % 2 === 0 ? third.port : port
        await visitor.types(who)
      }
      expect((await tokensOf(await signInByTyping(second, 'emil', who, {}, sign))).claims()?.sub).toBe('emil')
    } finally {
      await second.close()
      await third.close()
    }
  })

  describe('the numbered situations', () => {
    it('100: the core API cannot be reached, and the person may try again', async () => {
      const alone = await another({ settings: { core: { url: 'http://127.0.0.1:9', apikeyFile: 'apikey' } } })
      const { visitor } = await beginSignIn(alone, 'ben')
      expect([visitor.title(), visitor.code()]).toEqual(['One moment, please', 100])
      await visitor.submit({ action: 'begin' })
      expect(visitor.code()).toBe(100)
      await visitor.submit({ action: 'cancel' })
      expect(answerOf(visitor.at)).toEqual(['temporarily_unavailable', '100'])
      expect(alone.codes).toEqual([100, 100])
      await alone.close()
    })

    it('101: the directory does not know the person', async () => {
      const { visitor } = await beginSignIn(bridge, 'nobody')
      expect([visitor.title(), visitor.code()]).toEqual(['You are not signed in', 101])
      await visitor.submit({ action: 'cancel' })
      expect(answerOf(visitor.at)).toEqual(['access_denied', '101'])
      expect(bridge.codes.at(-1)).toBe(101)
    })

    it('102: the directory has no valid address of a new person', async () => {
      const { visitor } = await beginSignIn(bridge, 'cleo')
      expect([visitor.title(), visitor.code(), bridge.codes.at(-1)]).toEqual(['You are not signed in', 102, 102])
      await visitor.submit({ action: 'send', purpose: 'enroll' })
      expect([visitor.title(), visitor.code()]).toEqual(['You are not signed in', 102])
    })

    it('103: a wrong one-time password, three tries of one', async () => {
      const { visitor } = await beginSignIn(bridge, 'fay')
      await visitor.submit({ action: 'send', purpose: 'enroll' })
      const right = passwordOf('fay')
      const wrong = right === '000000' ? '000001' : '000000'
      for (const password of [wrong, 'not digits', wrong, wrong]) {
        await visitor.submit({ action: 'password', password })
        expect(visitor.code()).toBe(103)
      }
      await visitor.submit({ action: 'password', password: right })
      expect(visitor.code()).toBe(103)
      await visitor.submit({ action: 'send', purpose: 'enroll' })
      await visitor.submit({ action: 'password', password: passwordOf('fay') })
      expect(visitor.title()).toBe('Let us learn how you type')
    })

    it('104: what the field sent is no pattern', async () => {
      const who = await enrolled(world, bridge, 'gus', 45)
      const { visitor } = await beginSignIn(bridge, 'gus')
      for (const pattern of ['', '{}', '[1]', '{"kevt":[]}', JSON.stringify({ ...who.types('abc', 1), kevt: 7 })]) {
        await visitor.submit({ action: 'pattern', pattern })
        expect([visitor.title(), visitor.code()]).toEqual(['Type to sign in', 104])
      }
    })

    it('106: the mail server does not take the mail', async () => {
      const mute = await another({
        settings: { mail: { host: 'localhost', port: 9, tls: 'none', sender: 'sign-in@example.org' } },
      })
      const { visitor } = await beginSignIn(mute, 'ben')
      await visitor.submit({ action: 'send', purpose: 'enroll' })
      expect([visitor.code(), mute.codes]).toEqual([106, [106]])
      await mute.close()
    })

    it('107: a robot made the pattern', async () => {
      await enrolled(world, bridge, 'hal', 46)
      const { visitor } = await beginSignIn(bridge, 'hal')
      const even = wirePattern([...visitor.words()].map((letter, i) => [letter, i * 100, i * 100 + 60] as const))
      await visitor.submit({ action: 'pattern', pattern: JSON.stringify(even) })
      await visitor.submit({ action: 'cancel' })
      expect(answerOf(visitor.at)).toEqual(['access_denied', '107'])
    })

    it('108: a person without profile, where nobody may enroll', async () => {
      const closed = await another({ settings: { enroll: false } })
      const { visitor } = await beginSignIn(closed, 'ben')
      await visitor.submit({ action: 'cancel' })
      expect([answerOf(visitor.at), closed.codes]).toEqual([['access_denied', '108'], [108]])
      await closed.close()
    })

    it('109: typing of somebody else, and a lock that the bridge does not lift', async () => {
      await enrolled(world, bridge, 'ida', 47)
      let first = new Visitor()
      for (let n = 0; n < 12 && first.code() !== 109; n++) {
        await unlock(world.service, 'ida')
        first = (await beginSignIn(bridge, 'ida')).visitor
        await first.types(person(9000 + n), 2)
      }
      expect([first.title(), first.code()]).toEqual(['You are not signed in', 109])
      const isLocked = async () => (await verifyOf(world.service, 'ida', stranger())).json.nextAttempt.mode === 'locked'
      for (let n = 0; n < 20 && !(await isLocked()); n++) {
        // Five failures lock a member.
      }
      const { visitor } = await beginSignIn(bridge, 'ida')
      expect([visitor.title(), visitor.code()]).toEqual(['You are not signed in', 109])
      expect(visitor.page).toContain('Locked for 1 min.')
      for (const action of ['enroll', 'step-up', 'reset']) {
        await visitor.submit({ action: 'send', purpose: action })
        expect(visitor.code()).toBe(109)
      }
      await visitor.submit({ action: 'cancel' })
      expect(answerOf(visitor.at)).toEqual(['access_denied', '109'])
    })

    it('109: offers a new profile where the settings allow it', async () => {
      const lenient = await another({ settings: { resetAfterBlock: true } })
      await enrolled(world, bridge, 'jon', 48)
      let { visitor } = await beginSignIn(lenient, 'jon')
      for (let n = 0; n < 12 && visitor.code() !== 109; n++) {
        // A person locked after several failed tries gets no new profile.
        await unlock(world.service, 'jon')
        visitor = (await beginSignIn(lenient, 'jon')).visitor
        await visitor.types(person(9100 + n), 2)
      }
      await visitor.submit({ action: 'send', purpose: 'reset' })
      await visitor.submit({ action: 'password', password: passwordOf('jon') })
      expect(visitor.title()).toBe('Let us learn how you type')
      await lenient.close()
    })

    it('111: the core API refuses the call', async () => {
      const { json } = await world.service.dashboard('POST', '/keys', { body: { label: 'bridge', scopes: ['core'] } })
      const revoked = await another({ apikey: json.data.apikey })
      await world.service.dashboard('DELETE', `/keys/${json.data.id}`)
      await until(async () => (await beginSignIn(revoked, 'ben')).visitor.code() === 111)
      await revoked.close()
    })

    it('113: the one-time password has expired', async () => {
      const { visitor } = await beginSignIn(bridge, 'kim')
      await visitor.submit({ action: 'send', purpose: 'enroll' })
      await databaseOf(world.service).asSystem(
        (sql) =>
          sql`update keystride.one_time_password set expires_at = now() - interval '1 second' where user_ref = 'kim'`,
      )
      await visitor.submit({ action: 'password', password: passwordOf('kim') })
      expect([visitor.code(), bridge.codes.at(-1)]).toEqual([113, 113])
    })
  })
})

/** The error and the code at the beginning of its description. */
function answerOf(address: string): [string | null, string] {
  const { searchParams } = new URL(address)
  return [searchParams.get('error'), (searchParams.get('error_description') ?? '').split(' ')[0] ?? '']
}
