import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { backEnds } from '../service.js'
import {
  ask,
  type Bridge,
  enrolled,
  latestPassword,
  openWorld,
  relyingParty,
  someone,
  startBridge,
  Visitor,
  type World,
} from './bridge.js'

describe.each(backEnds)('single sign-on ($name)', { timeout: 60_000 }, ({ redisUrl }) => {
  let world: World
  let bridge: Bridge
  beforeAll(async () => {
    world = await openWorld(redisUrl)
    bridge = await startBridge(world.service, world.mail.port, {
      redisUrl,
      people: [someone('ada'), someone('ben'), { name: 'cleo' }, someone('dora')],
    })
  })
  afterAll(async () => {
    await bridge.close()
    await world.close()
  })

  const begin = async (name: string, more: Record<string, string> = {}) => {
    const party = await relyingParty(bridge.issuer)
    const asked = await ask(party, { login_hint: name, ...more })
    const visitor = new Visitor()
    await visitor.open(asked.url.href)
    return { party, asked, visitor }
  }
  const tokensOf = async ({ party, asked, visitor }: Awaited<ReturnType<typeof begin>>) =>
    oidc.authorizationCodeGrant(party, new URL(visitor.at), {
      pkceCodeVerifier: asked.verifier,
      expectedState: asked.state,
      expectedNonce: asked.nonce,
      idTokenExpected: true,
    })

  it('proves a new person by mail, enrolls five patterns, and signs in by typing', async () => {
    const sign = await begin('ada')
    const { visitor } = sign
    expect(visitor.title()).toBe('One-time password')
    await visitor.submit({ action: 'send', purpose: 'enroll' })
    expect(visitor.page).toContain('a•••@example.org')
    await visitor.submit({ action: 'password', password: latestPassword(world, 'ada@example.org') })
    expect(visitor.title()).toBe('Let us learn how you type')
    const who = person(41)
    let patterns = 0
    while (/ target="/.test(visitor.page)) {
      await visitor.types(who)
      patterns++
    }
    expect(patterns).toBe(5)
    expect(visitor.title()).toBe('Type to sign in')
    await visitor.types(who)
    expect(visitor.at).toContain('http://localhost:9/callback?code=')
    const tokens = await tokensOf(sign)
    expect(tokens.claims()).toMatchObject({
      iss: bridge.issuer,
      aud: 'app',
      sub: 'ada',
      acr: 'urn:keystride:typing',
      amr: ['typing'],
      auth_time: expect.any(Number),
    })
    const info = await oidc.fetchUserInfo(sign.party, tokens.access_token, 'ada')
    expect(info).toMatchObject({ sub: 'ada', email: 'ada@example.org', name: 'The person ada' })
  })

  it('refuses a person whom the directory does not know, with 101', async () => {
    const { visitor } = await begin('nobody')
    expect([visitor.title(), visitor.code()]).toEqual(['You are not signed in', 101])
    await visitor.submit({ action: 'cancel' })
    const { searchParams } = new URL(visitor.at)
    expect(searchParams.get('error')).toBe('access_denied')
    expect(searchParams.get('error_description')).toMatch(/^101 /)
    expect(bridge.codes).toContain(101)
  })

  it('refuses to mail a person without address, with 102', async () => {
    const { visitor } = await begin('cleo')
    await visitor.submit({ action: 'send', purpose: 'enroll' })
    expect(visitor.code()).toBe(102)
  })

  it('blocks a stranger, with 109', async () => {
    await enrolled(world, bridge, 'ben', 42)
    const { visitor } = await begin('ben')
    await visitor.types(person(4711), 2)
    expect([visitor.title(), visitor.code()]).toEqual(['You are not signed in', 109])
  })

  it('asks a challenged person for a one-time password, with 110, and says so in the token', async () => {
    const { who } = await enrolled(world, bridge, 'dora', 43)
    const sign = await begin('dora')
    const { visitor } = sign
    // Between this person and another one: neither certain nor refused.
    for (let n = 0; n < 3 && visitor.code() !== 110; n++) await visitor.types(who, 1.17 + 0.04 * n)
    expect(visitor.code()).toBe(110)
    await visitor.submit({ action: 'send', purpose: 'step-up' })
    await visitor.submit({ action: 'password', password: latestPassword(world, 'dora@example.org') })
    const tokens = await tokensOf(sign)
    expect(tokens.claims()).toMatchObject({ acr: 'urn:keystride:one-time-password', amr: ['otp'] })
  })
})
