import { join } from 'node:path'
import { v7 as uuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { keystrideHere } from '../harness/command.js'
import { enroll as enrollByCore } from '../harness/enrolled.js'
import {
  type Bridge,
  beginSignIn,
  CLIENT_SECRET,
  enroll,
  latestPassword,
  openWorld,
  signInByTyping,
  startBridge,
  tokensOf,
  unlock,
  type World,
} from './bridge.js'
import { startUpstreamProvider } from './upstream-provider.js'

describe('accounts of an upstream provider', () => {
  let world: World
  let upstream: Awaited<ReturnType<typeof startUpstreamProvider>>
  let bridge: Bridge
  const start = (more: Record<string, unknown> = {}) =>
    startBridge(world.service, world.mail.port, {
      files: { secret: CLIENT_SECRET },
      directory: { kind: 'userinfo', issuer: upstream.issuer, clientId: 'bridge', clientSecretFile: 'secret', ...more },
    })
  beforeAll(async () => {
    world = await openWorld()
    upstream = await startUpstreamProvider()
    bridge = await start()
  })
  afterAll(async () => {
    await bridge.close()
    await upstream.close()
    await world.close()
  })
  const account = (sub: string, name: string) => {
    upstream.claims = { sub, preferred_username: name, email: `${sub}@example.org`, email_verified: true }
  }
  /** The page after the upstream provider has signed the account in. */
  const arrive = async (at: Bridge, sub: string, name: string) => {
    account(sub, name)
    return beginSignIn(at, '')
  }
  const shown = ({ visitor }: Awaited<ReturnType<typeof arrive>>) => [visitor.title(), visitor.code()]
  const REFUSED = ['You are not signed in', 101]

  it('name people by an e-mail address or telephone number only if it is verified, or the settings accept others', async () => {
    const byEmail = await start({ userRef: 'email' })
    const byPhone = await start({ userRef: 'phone_number' })
    const lenient = await start({ userRef: 'email', acceptUnverified: true })
    for (const [mark, verified] of [
      [true, true],
      ['true', true],
      [false, false],
      ['false', false],
      [undefined, false],
      [null, false],
      [1, false],
    ] as const) {
      const sub = uuid()
      upstream.claims = { sub, email: `${sub}@example.org`, phone_number: '+331', email_verified: mark }
      const sign = await beginSignIn(byEmail, '')
      expect([mark, shown(sign)]).toEqual([mark, verified ? ['One-time password', Number.NaN] : REFUSED])
      if (!verified) expect(sign.visitor.page).toContain('has not verified your address')
      expect([mark, shown(await beginSignIn(lenient, ''))[0]]).toEqual([mark, 'One-time password'])
      // `email_verified` says nothing about a telephone number.
      expect([mark, shown(await beginSignIn(byPhone, ''))]).toEqual([mark, REFUSED])
    }
    expect(byEmail.lines.some(({ msg }) => String(msg).includes('email is not verified there'))).toBe(true)
    for (const one of [byEmail, byPhone, lenient]) await one.close()
  })

  it('are no hint by an e-mail address that is not verified', async () => {
    const { issuer } = upstream
    const hinted = await startBridge(world.service, world.mail.port, {
      people: [{ name: 'hint@example.org', email: 'hint@example.org' }],
      settings: { upstream: { issuer, jwksUri: `${issuer}/jwks`, audience: 'bridge', name: 'email' } },
    })
    const begin = async (email_verified: boolean) => {
      const id_token_hint = await upstream.sign({ sub: 's', email: ' Hint@example.org', email_verified })
      return (await beginSignIn(hinted, '', { id_token_hint })).visitor
    }
    expect((await begin(true)).title()).toBe('One-time password')
    const { searchParams } = new URL((await begin(false)).at)
    expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
      'access_denied',
      '101 the identity provider has not verified the claim that names this person',
    ])
    await hinted.close()
  })

  it('get no one-time password at an address that is not verified', async () => {
    const sub = uuid()
    upstream.claims = { sub, preferred_username: sub, email: `${sub}@example.org`, email_verified: 'false' }
    expect(shown(await beginSignIn(bridge, ''))).toEqual(['You are not signed in', 102])
  })

  it('have one reference each, which a second account cannot share, and keep it when they are renamed', async () => {
    const who = person(81)
    const sub = uuid()
    const name = `Ada-${sub.slice(-8)}`
    const ref = name.toLowerCase()
    const first = await arrive(bridge, sub, name)
    await enroll(world, first.visitor, sub, who)
    const signed = await signInByTyping(bridge, '', who, {}, first)
    expect((await tokensOf(signed)).claims()?.sub).toBe(ref)
    for (const folded of [ref, name.toUpperCase()]) {
      const other = await arrive(bridge, uuid(), folded)
      expect([folded, ...shown(other)]).toEqual([folded, ...REFUSED])
      expect(other.visitor.page).toContain('belongs to another account')
    }
    expect(bridge.lines.some(({ msg }) => String(msg).includes(`may not sign in as ${ref}`))).toBe(true)
    const renamed = await arrive(bridge, sub, `Mrs ${name}, no reference`)
    expect((await tokensOf(await signInByTyping(bridge, '', who, {}, renamed))).claims()?.sub).toBe(ref)
    // A reference is free again when its person is deleted.
    await world.service.call('DELETE', `/users/${ref}`)
    expect(shown(await arrive(bridge, uuid(), ref))[0]).toBe('One-time password')
  })

  it.each([
    ['before', 'first'],
    ['before', 'second'],
    ['after', 'first'],
    ['after', 'second'],
  ])(
    'whose names become one reference never share it: %s the enrollment, the account with the space %s',
    async (when, order) => {
      const [own, other] = [uuid(), uuid()]
      const ref = `a-b-${own.slice(-8)}`
      const who = person(83)
      const spaced = async () => {
        for (const name of [ref.replace('a-b', 'A b'), ` ${ref}`, `${ref} `, ref.replace('a-b', 'a  b')])
          expect([name, ...shown(await arrive(bridge, other, name))]).toEqual([name, ...REFUSED])
      }
      if (order === 'first') await spaced()
      const first = await arrive(bridge, own, ref)
      expect(shown(first)[0]).toBe('One-time password')
      if (when === 'after') await enroll(world, first.visitor, own, who)
      if (order === 'second') await spaced()
      if (when === 'before') await enroll(world, first.visitor, own, who)
      expect((await tokensOf(await signInByTyping(bridge, '', who, {}, first))).claims()?.sub).toBe(ref)
      expect(shown(await arrive(bridge, other, ref))).toEqual(REFUSED)
    },
  )

  // Regression: the mail went to the address of the account, so a person who chose the name passed a challenge, and could reset the profile.
  it('reach a profile that was enrolled elsewhere by typing alone, not by a mail to their own address', async () => {
    const lenient = await startBridge(world.service, world.mail.port, {
      files: { secret: CLIENT_SECRET },
      settings: { resetAfterBlock: true },
      directory: { kind: 'userinfo', issuer: upstream.issuer, clientId: 'bridge', clientSecretFile: 'secret' },
    })
    const [own, other] = [uuid(), uuid()]
    const ref = `cid-${own.slice(-8)}`
    const { who } = await enrollByCore(world.service, ref)
    for (const name of [ref, ref.toUpperCase()]) {
      const eve = await arrive(lenient, other, name)
      expect(shown(eve)).toEqual(['Type to sign in', Number.NaN])
      await eve.visitor.types(person(84), 2)
      expect([107, 109, 110]).toContain(eve.visitor.code())
      for (const purpose of ['enroll', 'step-up', 'reset']) {
        expect(eve.visitor.page).not.toContain(`value="${purpose}"`)
        await eve.visitor.submit({ action: 'send', purpose })
      }
      expect(latestPassword(world, `${other}@example.org`)).toBe('')
    }
    await unlock(world.service, ref)
    const signed = await signInByTyping(lenient, '', who, {}, await arrive(lenient, own, ref))
    expect((await tokensOf(signed)).claims()?.sub).toBe(ref)
    expect(shown(await arrive(lenient, other, ref))).toEqual(REFUSED)
    await lenient.close()
  })

  it('of two providers share a reference only if the person of one types as the person of the other', async () => {
    const elsewhere = await startUpstreamProvider()
    const second = await start({ issuer: elsewhere.issuer })
    const sub = uuid()
    const ref = `dee-${sub.slice(-8)}`
    const who = person(85)
    await enroll(world, (await arrive(bridge, sub, ref)).visitor, sub, who)
    elsewhere.claims = { sub, preferred_username: ref, email: `${sub}@example.com`, email_verified: true }
    expect(shown(await beginSignIn(second, ''))).toEqual(['Type to sign in', Number.NaN])
    const done = await world.service.call('DELETE', `/users/${ref}/typing-patterns`)
    expect(done.status).toBe(200)
    expect(shown(await beginSignIn(second, ''))).toEqual(REFUSED)
    await enroll(world, (await arrive(bridge, sub, ref)).visitor, sub, who)
    expect((await tokensOf(await signInByTyping(second, '', who))).claims()?.sub).toBe(ref)
    await second.close()
    await elsewhere.close()
  })

  it('are not named by an address in the user name that is not the verified one', async () => {
    for (const [preferred_username, email, email_verified, accepted] of [
      ['CEO@example.org', 'ceo@example.org', true, true],
      ['ceo@example.org', 'ceo@example.org', false, false],
      ['ceo@example.org', 'eve@example.org', true, false],
      ['ceo@example.org', undefined, undefined, false],
    ] as const) {
      upstream.claims = { sub: uuid(), preferred_username, email, email_verified }
      expect([email, shown(await beginSignIn(bridge, ''))]).toEqual([
        email,
        accepted ? ['One-time password', Number.NaN] : REFUSED,
      ])
    }
  })

  it('get a reference by a proof, not by an attempt, and the operator can release it', async () => {
    const [squatter, owner] = [uuid(), uuid()]
    const ref = `bea-${owner.slice(-8)}`
    const early = await arrive(bridge, squatter, ref)
    const later = await arrive(bridge, owner, ref)
    await enroll(world, later.visitor, owner, person(82))
    await early.visitor.submit({ action: 'send', purpose: 'enroll' })
    await early.visitor.submit({ action: 'password', password: latestPassword(world, `${squatter}@example.org`) })
    expect(shown(early)).toEqual(REFUSED)
    expect(shown(await arrive(bridge, squatter, ref))).toEqual(REFUSED)
    const keystride = keystrideHere({ ...world.service.env, SSO_FILE: join(bridge.folder, 'sso.json') })
    for (const args of [[], ['--all', ref], ['??']])
      expect(await keystride('sso', 'release', ...args)).toMatchObject({ status: 1, stdout: '' })
    expect((await keystride('sso', 'release', ref.toUpperCase())).stdout).toBe('1 account has no reference now.\n')
    expect((await keystride('sso', 'release', ref)).stdout).toBe('0 accounts have no reference now.\n')
    expect(shown(await arrive(bridge, squatter, ref))[0]).toBe('Type to sign in')
  })

  it('are named to the upstream provider by the hint of the application, without outer spaces and with one form of each accent', async () => {
    account(uuid(), 'x')
    await beginSignIn(bridge, '  Jose\u0301 ')
    expect(upstream.asked.get('login_hint')).toBe('Jos\u00e9')
  })
})
