import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import type * as oidc from 'openid-client'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { MadeUpPerson } from '../../src/typist/made-up-person.js'
import { hasChromium, launch } from '../harness/browser.js'
import {
  ask,
  type Bridge,
  CALLBACK,
  CLIENT_SECRET,
  enrolled,
  openWorld,
  relyingParty,
  signInByTyping,
  someone,
  startBridge,
  tokensOf,
  Visitor,
  type World,
} from './bridge.js'

const BYE = 'http://localhost:9/bye'

/** The subjects of OpenID's conformance plans for Basic OP, Form Post OP, RP-Initiated Logout OP and Back-Channel Logout OP. */
describe('an OpenID provider', () => {
  let world: World
  let bridge: Bridge
  let who: MadeUpPerson
  let application: Awaited<ReturnType<typeof startApplication>>
  let party: oidc.Configuration
  beforeAll(async () => {
    world = await openWorld()
    application = await startApplication()
    const client = {
      id: 'app',
      secret: CLIENT_SECRET,
      redirectUris: [CALLBACK],
      postLogoutRedirectUris: [BYE],
      backchannelLogoutUri: application.url,
    }
    bridge = await startBridge(world.service, world.mail.port, {
      people: [someone('oda'), someone('bob'), { name: 'jos\u00e9', userRef: 'jose', email: 'jose@example.org' }],
      settings: { clients: [client], sessionMinutes: 60 },
    })
    who = await enrolled(world, bridge, 'oda', 91)
    party = await relyingParty(bridge.issuer)
  })
  afterAll(async () => {
    await bridge.close()
    await application.close()
    await world.close()
  })
  afterEach(() => vi.restoreAllMocks())

  const later = (seconds: number) => vi.spyOn(Date, 'now').mockReturnValue(Date.now() + seconds * 1000)
  const signedIn = () => signInByTyping(bridge, 'oda', who)
  type SignedIn = Awaited<ReturnType<typeof signedIn>>
  const again = async ({ visitor }: SignedIn, more: Record<string, string> = {}): Promise<SignedIn> => {
    const asked = await ask(party, more)
    await visitor.open(asked.url.href)
    return { party, asked, visitor }
  }
  const claimsOf = async (sign: SignedIn) => {
    const claims = (await tokensOf(sign)).claims()
    if (claims === undefined) throw new Error('no ID token')
    return claims
  }
  const errorOf = ({ visitor }: SignedIn) => new URL(visitor.at).searchParams.get('error')
  const isAsked = ({ visitor }: SignedIn) => visitor.at.startsWith(`${bridge.issuer}/interaction/`)
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${bridge.issuer}${path}`, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams(fields) })
  const userinfo = async (answer: Promise<Response>) => [(await answer).status, await (await answer).json()] as const

  describe('signs in again, in a session,', () => {
    let session: SignedIn
    let first: Awaited<ReturnType<typeof claimsOf>>
    beforeAll(async () => {
      session = await signedIn()
      first = await claimsOf(session)
    })

    it.each<[string, Record<string, string>]>([
      ['an unknown parameter', { extra: 'foobar' }],
      ['no nonce', { nonce: '' }],
      ['scopes in another order', { scope: 'email openid profile' }],
      ['scopes that it does not have', { scope: 'openid profile email address phone offline_access' }],
      ['display=page', { display: 'page' }],
      ['display=popup', { display: 'popup' }],
      ['ui_locales', { ui_locales: 'se en' }],
      ['claims_locales', { claims_locales: 'se' }],
      ['acr_values', { acr_values: '1 2' }],
      ['max_age=10000', { max_age: '10000' }],
      ['prompt=none', { prompt: 'none' }],
      ['prompt=consent', { prompt: 'consent' }],
      ['login_hint', { login_hint: 'oda' }],
      ['a claim that is essential', { claims: '{"userinfo":{"name":{"essential":true}}}', scope: 'openid' }],
    ])('with %s', async (_, { nonce, ...more }) => {
      const asked = await ask(party, more)
      if (nonce === '') asked.url.searchParams.delete('nonce')
      await session.visitor.open(asked.url.href)
      expect(session.visitor.at).toContain(`${CALLBACK}?code=`)
      const answer = await post('/token', {
        grant_type: 'authorization_code',
        code: new URL(session.visitor.at).searchParams.get('code') ?? '',
        redirect_uri: CALLBACK,
        code_verifier: asked.verifier,
        client_id: 'app',
        client_secret: CLIENT_SECRET,
      })
      const tokens = (await answer.json()) as { id_token: string; access_token: string }
      const { sub, auth_time, nonce: returned } = decodeJwt(tokens.id_token)
      expect([sub, auth_time, returned]).toEqual(['oda', first.auth_time, nonce === '' ? undefined : asked.nonce])
      if (more.claims === undefined) return
      const headers = { authorization: `Bearer ${tokens.access_token}` }
      expect(await userinfo(fetch(`${bridge.issuer}/me`, { headers }))).toEqual([
        200,
        { sub: 'oda', name: 'The person oda' },
      ])
    })

    it('by its own ID token as hint, and not by one that it has not signed', async () => {
      const id_token_hint = (await tokensOf(await again(session))).id_token ?? ''
      const same = await again(session, { prompt: 'none', id_token_hint })
      expect(errorOf(same)).toBeNull()
      expect((await claimsOf(same)).sub).toBe('oda')
      const [head, , signature] = id_token_hint.split('.')
      const forged = `${head}.${Buffer.from('{"sub":"oda"}').toString('base64url')}.${signature}`
      expect(errorOf(await again(session, { prompt: 'none', id_token_hint: forged }))).toBe('invalid_request')
    })

    it.each(['login', 'select_account', 'create', 'login consent', 'select_account create'])(
      'by typing with prompt=%s',
      async (prompt) => {
        const sign = await again(session, { prompt, login_hint: 'oda' })
        expect(isAsked(sign)).toBe(true)
        expect(sign.visitor.title()).toBe('Type to sign in')
      },
    )

    it('by a name that the person enters with prompt=select_account and no hint', async () => {
      const sign = await again(session, { prompt: 'select_account' })
      expect(sign.visitor.title()).toBe('Sign in')
    })

    it('by typing with max_age=1', async () => {
      const clock = later(5)
      const sign = await again(session, { max_age: '1', login_hint: 'oda' })
      expect(isAsked(sign)).toBe(true)
      clock.mockRestore()
      const typed = await signInByTyping(bridge, 'oda', who, { max_age: '1' }, sign)
      expect(Number((await claimsOf(typed)).auth_time)).toBeGreaterThanOrEqual(Number(first.auth_time))
    })
  })

  it.each([
    ['/auth', {}],
    ['/auth', { prompt: 'select_account' }],
    ['/auth', { login_hint: ' oda\u0020' }],
  ] as const)('begins a sign-in by a form to %s with %j', async (path, more) => {
    const { url } = await ask(party, { login_hint: 'oda', ...more })
    const answer = await post(path, Object.fromEntries(url.searchParams))
    expect(answer.status).toBe(303)
    const visitor = new Visitor()
    await visitor.open(new URL(answer.headers.get('location') ?? '', bridge.issuer).href)
    expect(visitor.title()).toBe('Type to sign in')
  })

  it.skipIf(!hasChromium)('has its session in a browser that sends the form of another site', async () => {
    const { visitor } = await signedIn()
    const { url } = await ask(party, { prompt: 'none' })
    const browser = await launch()
    const context = await browser.newContext()
    const cookies = [...visitor.cookies.values()].map(({ name, value, path }) => ({ name, value, path }))
    await context.addCookies(cookies.map((one) => ({ ...one, domain: 'localhost', sameSite: 'Lax' })))
    const fields = (of: URLSearchParams) => [...of].map(([name, value]) => `<input name="${name}" value="${value}">`)
    const form = (path: string, of: URLSearchParams) =>
      `<form method="post" action="${bridge.issuer}${path}">${fields(of).join('')}<button>Go</button></form>`
    // The address of this machine is another site than its name.
    const send = async (markup: string) => {
      const page = await context.newPage()
      await page.route('http://127.0.0.1:9/', (route) => route.fulfill({ contentType: 'text/html', body: markup }))
      await page.goto('http://127.0.0.1:9/')
      const back = page.waitForRequest((request) => request.url().startsWith(`${CALLBACK}?`))
      back.catch(() => {}) // The browser may be closed before it goes back.
      await page.getByText('Go').click()
      return { page, back }
    }
    expect((await (await send(form('/auth', url.searchParams))).back).url()).toContain('?code=')
    const { page } = await send(form('/session/end', new URLSearchParams()))
    await page.getByRole('heading', { name: 'Sign out?' }).waitFor()
    await browser.close()
  })

  it('refuses a form that is too large, or none', async () => {
    const { url } = await ask(party)
    const fields = Object.fromEntries(url.searchParams)
    expect((await post('/auth', { ...fields, state: 'x'.repeat(12_000) })).status).toBe(413)
    expect((await post('/auth', { ...fields, state: 'x'.repeat(70_000) })).status).toBe(413)
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    for (const path of ['/auth', '/session/end'])
      expect((await fetch(`${bridge.issuer}${path}`, json)).status).toBe(415)
  })

  it.each([
    ['no response_type', { response_type: '' }, 'invalid_request'],
    ['prompt=none and another', { prompt: 'none select_account' }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'register' }, 'invalid_request'],
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['a request_uri', { request_uri: 'https://app.example.org/request' }, 'request_uri_not_supported'],
    ['registration', { registration: '{}' }, 'registration_not_supported'],
  ])('answers %s with an error to the application', async (_, more, error) => {
    const { url } = await ask(party, more)
    for (const [name, value] of Object.entries(more)) if (value === '') url.searchParams.delete(name)
    const visitor = new Visitor()
    await visitor.open(url.href)
    expect(new URL(visitor.at).searchParams.get('error')).toBe(error)
  })

  it('takes a login_hint as a typed name: without outer spaces, and with one form of each accent', async () => {
    for (const login_hint of ['jos\u00e9', ' Jose\u0301 ', 'JOS\u00c9\t']) {
      const visitor = new Visitor()
      await visitor.open((await ask(party, { login_hint })).url.href)
      expect([login_hint, visitor.title()]).toEqual([login_hint, 'One-time password'])
    }
    const visitor = new Visitor()
    await visitor.open((await ask(party, { login_hint: '  ' })).url.href)
    expect(visitor.title()).toBe('Sign in')
  })

  it('gives userinfo by GET and POST, with the token in the header or in the form', async () => {
    const { access_token } = await tokensOf(await signedIn())
    const headers = { authorization: `Bearer ${access_token}` }
    const claims = {
      sub: 'oda',
      name: 'The person oda',
      preferred_username: 'oda',
      email: 'oda@example.org',
    }
    expect(await userinfo(fetch(`${bridge.issuer}/me`, { headers }))).toEqual([200, claims])
    expect(await userinfo(post('/me', {}, headers))).toEqual([200, claims])
    expect(await userinfo(post('/me', { access_token }))).toEqual([200, claims])
  })

  it('names its prompts, logout and keys in its metadata', async () => {
    const metadata = (await (await fetch(`${bridge.issuer}/.well-known/openid-configuration`)).json()) as Record<
      string,
      unknown
    >
    expect(metadata).toMatchObject({
      prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
      response_modes_supported: ['form_post', 'fragment', 'query'],
      request_uri_parameter_supported: false,
      end_session_endpoint: `${bridge.issuer}/session/end`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      userinfo_endpoint: `${bridge.issuer}/me`,
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
    })
    const { id_token = '' } = await tokensOf(await signedIn())
    const { keys } = (await (await fetch(String(metadata.jwks_uri))).json()) as { keys: { kid: string; d?: string }[] }
    const { kid, alg } = decodeProtectedHeader(id_token)
    expect([keys.some((key) => key.kid === kid), alg, keys.some(({ d }) => d !== undefined)]).toEqual([
      true,
      'RS256',
      false,
    ])
  })

  it('offers no account where nobody can enroll', async () => {
    const closed = await startBridge(world.service, world.mail.port, { settings: { enroll: false } })
    const metadata = await (await fetch(`${closed.issuer}/.well-known/openid-configuration`)).json()
    expect(metadata).toMatchObject({ prompt_values_supported: ['none', 'login', 'consent', 'select_account'] })
    const visitor = new Visitor()
    await visitor.open((await ask(await relyingParty(closed.issuer), { prompt: 'create' })).url.href)
    expect(new URL(visitor.at).searchParams.get('error')).toBe('invalid_request')
    await closed.close()
  })

  it('answers by a form with response_mode=form_post, also with an error', async () => {
    const session = await signedIn()
    for (const [more, field] of [
      [{}, 'code'],
      [{ prompt: 'none', max_age: '0' }, 'error'],
    ] as const) {
      const asked = await ask(party, { response_mode: 'form_post', ...more })
      await session.visitor.open(asked.url.href)
      const { page } = session.visitor
      expect(page).toContain(`<form method="post" action="${CALLBACK}">`)
      const fields = Object.fromEntries(
        [...page.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      )
      expect(fields).toMatchObject({ [field]: expect.any(String), state: asked.state, iss: bridge.issuer })
    }
  })

  describe('signs out', () => {
    /** The first page, and where the person is after the answer to its question. */
    const signOut = async ({ visitor }: SignedIn, fields: Record<string, string>, by: 'GET' | 'POST' = 'GET') => {
      const query = new URLSearchParams(fields)
      const answer = by === 'POST' ? await post('/session/end', fields) : null
      const location = answer === null ? `/session/end?${query}` : (answer.headers.get('location') ?? '')
      await visitor.open(`${bridge.issuer}${location}`)
      const [title, status] = [visitor.title(), visitor.status]
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(visitor.page)?.[1]
      if (xsrf !== undefined) {
        visitor.at = `${bridge.issuer}/session/end/confirm`
        await visitor.submit({ xsrf, logout: 'yes' })
      }
      return { title, status, at: visitor.at, after: visitor.title() }
    }
    const hintOf = async (sign: SignedIn) => (await tokensOf(sign)).id_token ?? ''
    const isSignedIn = async (sign: SignedIn) => errorOf(await again(sign, { prompt: 'none' })) === null

    it.each([
      ['GET', 'hint uri state', `${BYE}?state=s-1`],
      ['POST', 'hint uri state', `${BYE}?state=s-1`],
      ['GET', 'hint uri', BYE],
      ['POST', 'hint', null],
      ['GET', 'hint state', null],
      ['GET', 'uri state', null],
      ['POST', 'uri state', null],
      ['GET', 'client uri state', `${BYE}?state=s-1`],
      ['GET', 'state', null],
      ['GET', '', null],
      ['POST', '', null],
    ] as const)('by %s with %j', async (by, given, target) => {
      const sign = await signedIn()
      const all = {
        hint: { id_token_hint: await hintOf(sign) },
        uri: { post_logout_redirect_uri: BYE },
        state: { state: 's-1' },
        client: { client_id: 'app' },
      }
      const names = given.split(' ').filter((one): one is keyof typeof all => one in all)
      const { title, at, after } = await signOut(sign, Object.assign({}, ...names.map((name) => all[name])), by)
      expect(title).toBe('Sign out?')
      if (target === null) expect([at, after]).toEqual([`${bridge.issuer}/session/end/success`, 'You are signed out'])
      else expect(at).toBe(target)
      expect(await isSignedIn(sign)).toBe(false)
    })

    it('nobody by a request that it refuses', async () => {
      const sign = await signedIn()
      const id_token_hint = await hintOf(sign)
      const [head, body, signature] = id_token_hint.split('.')
      const none = Buffer.from('{"alg":"none"}').toString('base64url')
      const refused: Record<string, string>[] = [
        { id_token_hint, post_logout_redirect_uri: `${BYE}/other` },
        { id_token_hint, post_logout_redirect_uri: `${BYE}?more=1` },
        { id_token_hint: `${none}.${body}.`, post_logout_redirect_uri: BYE },
        { id_token_hint: `${head}.${Buffer.from('{"aud":"app"}').toString('base64url')}.${signature}` },
        { id_token_hint: 'no token', post_logout_redirect_uri: BYE },
        { id_token_hint, client_id: 'other' },
        { client_id: 'other', post_logout_redirect_uri: BYE },
      ]
      for (const fields of refused)
        for (const by of ['GET', 'POST'] as const) {
          const { status, at } = await signOut(sign, fields, by)
          expect([fields, status, at.startsWith(bridge.issuer)]).toEqual([fields, 400, true])
        }
      expect(await isSignedIn(sign)).toBe(true)
    })

    it('by an ID token that has expired', async () => {
      const sign = await signedIn()
      const id_token_hint = await hintOf(sign)
      const clock = later(30 * 60)
      expect((await signOut(sign, { id_token_hint, post_logout_redirect_uri: BYE })).at).toBe(BYE)
      clock.mockRestore()
    })

    it('a browser without a session', async () => {
      const sign = await signedIn()
      const id_token_hint = await hintOf(sign)
      const stranger = { ...sign, visitor: new Visitor() }
      expect((await signOut(stranger, { id_token_hint, post_logout_redirect_uri: BYE, state: 's-2' })).at).toBe(
        `${BYE}?state=s-2`,
      )
      expect(await isSignedIn(sign)).toBe(true)
    })

    it('and tells the application by a logout token, whatever it answers', async () => {
      for (const status of [200, 400]) {
        application.status = status
        const sign = await signedIn()
        const { sid } = await claimsOf(sign)
        const before = application.received.length
        await signOut(sign, {})
        const [received, ...more] = application.received.slice(before)
        expect([more, received?.type]).toEqual([[], 'application/x-www-form-urlencoded'])
        const token = received?.form.get('logout_token') ?? ''
        const keys = createRemoteJWKSet(new URL(`${bridge.issuer}/jwks`))
        const { payload: claims } = await jwtVerify(token, keys, { issuer: bridge.issuer, audience: 'app' })
        expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', typ: 'logout+jwt', kid: expect.any(String) })
        expect(claims).toMatchObject({ sub: 'oda', sid, jti: expect.any(String) })
        expect(claims.events).toEqual({ 'http://schemas.openid.net/event/backchannel-logout': {} })
        expect(Number(claims.exp) - Number(claims.iat)).toBeLessThanOrEqual(120)
        expect('nonce' in claims).toBe(false)
        expect(await isSignedIn(sign)).toBe(false)
      }
      expect(bridge.lines.filter(({ msg }) => msg === 'an application was not notified of a sign-out')).toHaveLength(1)
    })
  })
})

/** An application's endpoint of back-channel logout. */
async function startApplication() {
  const received: { form: URLSearchParams; type: string | undefined }[] = []
  const state = { url: '', status: 200, received, close: () => new Promise((resolve) => server.close(resolve)) }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ form: new URLSearchParams(body), type: request.headers['content-type'] })
    response.writeHead(state.status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.url = `http://localhost:${(server.address() as AddressInfo).port}/logout`
  return state
}
