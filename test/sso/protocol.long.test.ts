import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose'
import type * as oidc from 'openid-client'
import { fetchUserInfo } from 'openid-client'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { MadeUpPerson } from '../../src/typist/made-up-person.js'
import {
  ask,
  type Bridge,
  beginSignIn,
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

const OTHER_SECRET = 'another secret of sixteen characters'
const COUNT = 1_000

/** Rules of RFC 9700 (OAuth security), OpenID Connect Core and its logout specifications, with PostgreSQL alone. */
describe('single sign-on keeps the rules of', () => {
  let world: World
  /** Asks for typing each time. */
  let bridge: Bridge
  /** Keeps a session, so that a browser gets many codes after one sign-in. */
  let keeping: Bridge
  let upstream: Awaited<ReturnType<typeof startUpstream>>
  let who: MadeUpPerson
  beforeAll(async () => {
    world = await openWorld({ redisUrl: null })
    upstream = await startUpstream()
    const people = [someone('ann'), someone('bob')]
    const clients = [
      {
        id: 'app',
        secret: CLIENT_SECRET,
        redirectUris: [CALLBACK],
        postLogoutRedirectUris: ['http://localhost:9/bye'],
      },
      { id: 'other', secret: OTHER_SECRET, redirectUris: ['http://localhost:9/other'] },
      {
        id: 'entra',
        flow: 'id_token',
        subject: 'hint',
        redirectUris: ['https://login.example/entra'],
        acr: { typing: 'possessionorinherence', password: 'possessionorinherence' },
        amr: { typing: ['vbm'], password: ['otp'] },
      },
    ]
    const settings = {
      clients,
      upstream: { issuer: upstream.issuer, jwksUri: `${upstream.issuer}/jwks`, audience: 'bridge' },
    }
    bridge = await startBridge(world.service, world.mail.port, { people, settings })
    keeping = await startBridge(world.service, world.mail.port, {
      people,
      settings: { ...settings, sessionMinutes: 60 },
    })
    who = await enrolled(world, bridge, 'ann', 61)
  })
  afterAll(async () => {
    await bridge.close()
    await keeping.close()
    await upstream.close()
    await world.close()
  })

  const signedIn = (at: Bridge, more: Record<string, string> = {}) => signInByTyping(at, 'ann', who, more)
  /** Another authorization in the browser of a session. */
  const askAgain = async (visitor: Visitor, party: oidc.Configuration, more: Record<string, string> = {}) => {
    const asked = await ask(party, more)
    await visitor.open(asked.url.href)
    return { party, asked, visitor }
  }
  const tokenRequest = (at: Bridge, fields: Record<string, string>, secret = CLIENT_SECRET, id = 'app') =>
    fetch(`${at.issuer}/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(`${id}:${encodeURIComponent(secret)}`).toString('base64')}`,
      },
      body: new URLSearchParams(fields),
    })
  const codeFields = ({ asked, visitor }: Awaited<ReturnType<typeof signedIn>>) => ({
    grant_type: 'authorization_code',
    code: new URL(visitor.at).searchParams.get('code') ?? '',
    redirect_uri: CALLBACK,
    code_verifier: asked.verifier,
  })
  /** The tokens for the code of a sign-in at `keeping`. */
  const exchanged = async (sign: Awaited<ReturnType<typeof signedIn>>) =>
    (await (await tokenRequest(keeping, codeFields(sign))).json()) as Record<string, string | number>
  const metadataOf = (headers: Record<string, string> = {}) =>
    fetch(`${bridge.issuer}/.well-known/openid-configuration`, { headers })
  /** A sign-in of ann by a hint of the upstream provider, and its ID token. */
  const secondFactor = async () => {
    for (let tries = 0; tries < 5; tries++) {
      const visitor = new Visitor()
      await visitor.open(entraRequest(bridge, await upstream.token({})).href)
      expect(visitor.title(), visitor.page).toBe('Type to sign in')
      await visitor.types(who)
      const token = /name="id_token" value="([^"]+)"/.exec(visitor.page)?.[1]
      if (token !== undefined) return { token, visitor }
    }
    throw new Error('not recognized five times')
  }
  const errorAt = (address: string) => new URL(address).searchParams.get('error')

  describe('RFC 9700', () => {
    it('2.1 and 4.1: a redirect URI is compared as a whole: 0 of 1,000 foreign ones get a code or an error', async () => {
      const party = await relyingParty(bridge.issuer)
      let accepted = 0
      const asked = await ask(party, { login_hint: 'ann' })
      for (const uri of foreignUris(COUNT)) {
        const visitor = new Visitor()
        const url = new URL(asked.url)
        url.searchParams.set('redirect_uri', uri)
        await visitor.open(url.href)
        if (visitor.status !== 400 || !visitor.at.startsWith(bridge.issuer)) accepted++
      }
      expect(accepted).toBe(0)
    })

    it('2.1.1 and 4.8: a code needs PKCE with S256, and the verifier of its challenge', async () => {
      const party = await relyingParty(bridge.issuer)
      for (const change of [
        ['code_challenge', null],
        ['code_challenge_method', 'plain'],
        ['code_challenge_method', null],
      ] as const) {
        const { url } = await ask(party)
        if (change[1] === null) url.searchParams.delete(change[0])
        else url.searchParams.set(change[0], change[1])
        const visitor = new Visitor()
        await visitor.open(url.href)
        expect(errorAt(visitor.at), change.join(' ')).toBe('invalid_request')
      }
      const sign = await signedIn(keeping)
      for (const code_verifier of ['', 'x'.repeat(43), sign.asked.verifier.toUpperCase()]) {
        const answer = await tokenRequest(keeping, { ...codeFields(sign), code_verifier })
        expect(answer.status).toBe(400)
      }
      expect((await tokenRequest(keeping, codeFields(sign))).status).toBe(200)
    })

    it('4.5: a code works once, also for requests at the same time: 0 of 1,000 replays accepted, and a replay ends its tokens', async () => {
      const { visitor, party } = await signedIn(keeping)
      let replayed = 0
      for (let n = 0; n < COUNT / 4; n++) {
        const sign = await askAgain(visitor, party, { login_hint: 'ann' })
        const answers = await Promise.all([1, 2, 3].map(() => tokenRequest(keeping, codeFields(sign))))
        const good = answers.filter(({ status }) => status === 200)
        replayed += Math.max(0, good.length - 1)
        const late = await tokenRequest(keeping, codeFields(sign))
        if (late.status === 200) replayed++
        if (n % 50 === 0) {
          const { access_token } = (await (good[0] ?? late).json()) as { access_token: string }
          const info = await fetch(`${keeping.issuer}/me`, { headers: { authorization: `Bearer ${access_token}` } })
          expect(info.status).toBe(401)
        }
      }
      expect(replayed).toBe(0)
    })

    it('4.5: a code belongs to its client and its redirect URI', async () => {
      const sign = await signedIn(keeping)
      const foreign = await tokenRequest(keeping, codeFields(sign), OTHER_SECRET, 'other')
      expect(foreign.status).toBe(400)
      const moved = await tokenRequest(keeping, { ...codeFields(sign), redirect_uri: 'http://localhost:9/other' })
      expect(moved.status).toBe(400)
    })

    it('2.1.2: no access token comes from the authorization endpoint', async () => {
      const party = await relyingParty(bridge.issuer)
      for (const response_type of ['token', 'id_token token', 'code token', 'code id_token', 'id_token', 'none']) {
        const visitor = new Visitor()
        const { url } = await ask(party, { response_type })
        await visitor.open(url.href)
        expect(visitor.at, response_type).not.toMatch(/access_token|code=/)
        expect(visitor.page.includes('<keystride-typing'), response_type).toBe(false)
      }
    })

    it('2.2 and 4.14: there are no refresh tokens, and access tokens live for ten minutes', async () => {
      const tokens = await exchanged(await signedIn(keeping, { scope: 'openid profile offline_access' }))
      expect(tokens.refresh_token).toBeUndefined()
      expect(tokens.expires_in).toBe(600)
    })

    it('2.4 and 4.15: no other grant is offered', async () => {
      const device = 'urn:ietf:params:oauth:grant-type:device_code'
      for (const grant_type of ['password', 'client_credentials', 'refresh_token', device, 'implicit']) {
        const answer = await tokenRequest(bridge, { grant_type, username: 'ann', password: 'x', refresh_token: 'x' })
        const { error } = (await answer.json()) as { error: string }
        expect([answer.status, error], grant_type).toEqual([400, 'unsupported_grant_type'])
      }
    })

    it('2.5: a client proves itself by its secret', async () => {
      const before = keeping.lines.length
      const sign = await signedIn(keeping)
      expect((await tokenRequest(keeping, codeFields(sign), 'a wrong secret of sixteen')).status).toBe(401)
      const body = new URLSearchParams({ ...codeFields(sign), client_id: 'app' })
      const unproved = await fetch(`${keeping.issuer}/token`, { method: 'POST', body })
      expect(unproved.status).toBe(401)
      const refused = keeping.lines.slice(before).filter(({ error }) => error === 'invalid_client')
      expect(refused.map(({ client }) => client)).toEqual(['app', 'app'])
      expect(keeping.lines.slice(before)).toContainEqual(
        expect.objectContaining({ client: 'app', msg: 'a sign-in is complete' }),
      )
    })

    it('2.6, 4.4 and 4.7: metadata and every response name the issuer, and the state comes back as it was sent', async () => {
      expect(await (await metadataOf()).json()).toMatchObject({
        issuer: bridge.issuer,
        authorization_response_iss_parameter_supported: true,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code', 'id_token'],
      })
      const { asked, visitor } = await signedIn(bridge)
      const { searchParams } = new URL(visitor.at)
      expect([searchParams.get('iss'), searchParams.get('state')]).toEqual([bridge.issuer, asked.state])
    })

    it('4.2 and 4.16: pages send no referrer, load nothing foreign, and cannot be framed', async () => {
      const { visitor } = await beginSignIn(bridge, 'ann')
      const page = await fetch(visitor.at, { headers: { cookie: cookiesOf(visitor) } })
      expect(page.headers.get('referrer-policy')).toBe('no-referrer')
      expect(page.headers.get('x-frame-options')).toBe('DENY')
      const policy = page.headers.get('content-security-policy') ?? ''
      for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'"])
        expect(policy).toContain(part)
    })

    it('4.7: a browser cannot continue the sign-in of another one: 0 of 1,000 entered', async () => {
      let entered = 0
      const mine = await beginSignIn(bridge, 'ann')
      const theirs = await beginSignIn(bridge, 'bob')
      const uid = new URL(theirs.visitor.at).pathname.split('/').pop() ?? ''
      for (let n = 0; n < COUNT; n++) {
        const visitor = new Visitor()
        for (const [name, cookie] of mine.visitor.cookies)
          visitor.cookies.set(name, {
            ...cookie,
            path: '/',
            value: n % 3 === 0 ? cookie.value.replace(/^.{21}/, uid) : cookie.value,
          })
        await visitor.open(`${bridge.issuer}${['/interaction/', '/auth/'][n % 2]}${uid}`)
        if ((visitor.status < 400 && visitor.at.includes(uid)) || visitor.at.includes('code=')) entered++
      }
      expect(entered).toBe(0)
    })

    it('4.12 and 4.13: redirects are 303, and headers of a request do not change the addresses of answers', async () => {
      const forged = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
      expect(await (await metadataOf(forged)).text()).not.toContain('evil.example')
      const { url } = await ask(await relyingParty(bridge.issuer))
      const { status, headers } = await fetch(url, { headers: forged, redirect: 'manual' })
      expect([status, headers.get('location')]).toEqual([303, expect.stringMatching(/^\/interaction\//)])
    })
  })

  describe('OpenID Connect', () => {
    it('Core 2 and 3.1.3.7: an ID token has issuer, audience, times, nonce, acr and amr, and a published key has signed it', async () => {
      const beforeS = Math.floor(Date.now() / 1000)
      const sign = await signedIn(bridge)
      const tokens = await tokensOf(sign)
      const keys = createRemoteJWKSet(new URL(`${bridge.issuer}/jwks`))
      const { payload } = await jwtVerify(tokens.id_token ?? '', keys, { issuer: bridge.issuer, audience: 'app' })
      expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe('RS256')
      expect(payload).toMatchObject({
        sub: 'ann',
        nonce: sign.asked.nonce,
        acr: 'urn:keystride:typing',
        amr: ['typing'],
        sid: expect.any(String),
      })
      expect(Number(payload.auth_time)).toBeGreaterThanOrEqual(beforeS)
      expect(Number(payload.auth_time)).toBeLessThanOrEqual(Number(payload.iat))
      expect(Number(payload.exp) - Number(payload.iat)).toBe(600)
    })

    it('Core 3.1.2.1: prompt=none asks for nothing, and a session serves until prompt=login, max_age=0 or another person asks for typing', async () => {
      const stranger = new Visitor()
      await askAgain(stranger, await relyingParty(keeping.issuer), { prompt: 'none', login_hint: 'ann' })
      expect(errorAt(stranger.at)).toBe('login_required')
      const { visitor, party } = await signedIn(keeping)
      await askAgain(visitor, party, { prompt: 'none', login_hint: 'ann' })
      expect(errorAt(visitor.at)).toBeNull()
      for (const more of [{ prompt: 'login' }, { max_age: '0' }, { login_hint: 'bob' }] as Record<string, string>[]) {
        await askAgain(visitor, party, more)
        expect(visitor.at, JSON.stringify(more)).toContain('/interaction/')
      }
    })

    it('Core 3.1.2.1: a session that is used does not live longer, and ends when an administrator locks the person', async () => {
      const { visitor, party } = await signedIn(keeping)
      const errorAfter = async (minutes: number) => {
        const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + minutes * 60_000)
        await askAgain(visitor, party, { prompt: 'none', login_hint: 'ann' })
        clock.mockRestore()
        return errorAt(visitor.at)
      }
      expect([await errorAfter(40), await errorAfter(59), await errorAfter(61)]).toEqual([null, null, 'login_required'])
      expect(await errorAfter(0)).toBeNull()
      const act = (action: string) => world.service.dashboard('POST', '/users/ann/actions', { body: { action } })
      expect((await act('lock')).status).toBe(200)
      expect(await errorAfter(0)).toBe('login_required')
      await askAgain(visitor, party, { login_hint: 'ann' })
      expect(visitor.at).toContain('/interaction/')
      expect((await act('unlock')).status).toBe(200)
    })

    it('Core 3.1.2.1: a request without the scope openid, or of an unknown client, is refused', async () => {
      const party = await relyingParty(bridge.issuer)
      const visitor = new Visitor()
      for (const scope of ['profile', 'openidx', 'profile email']) {
        await visitor.open((await ask(party, { scope })).url.href)
        expect([visitor.at.includes('/interaction/'), errorAt(visitor.at)]).toEqual([false, 'invalid_request'])
      }
      await visitor.open((await ask(party, { client_id: 'unknown' })).url.href)
      expect(visitor.status).toBe(400)
      expect(visitor.page).toContain('client is invalid: unknown')
      await visitor.open((await ask(party, { redirect_uri: 'https://app.example/<b>' })).url.href)
      expect(visitor.page).toMatch(/registered redirect_uris: https:\/\/app\.example\/&lt;b&gt;/)
    })

    it('Core 3.1.2.1: a request that is only begun does not end the tokens of the sign-in before', async () => {
      const sign = await signedIn(bridge)
      const tokens = await tokensOf(sign)
      await askAgain(sign.visitor, sign.party, { login_hint: 'ann' })
      expect(sign.visitor.title()).toBe('Type to sign in')
      expect((await fetchUserInfo(sign.party, tokens.access_token, 'ann')).sub).toBe('ann')
    })

    it('Core 5.3 and RFC 9700, 4.10: userinfo needs an access token, which is refused in the address', async () => {
      for (const authorization of ['Bearer no', 'Bearer', 'Basic YTpi'])
        expect((await fetch(`${bridge.issuer}/me`, { headers: { authorization } })).status).toBeGreaterThanOrEqual(400)
      const { access_token } = await exchanged(await signedIn(keeping))
      expect((await fetch(`${keeping.issuer}/me?access_token=${access_token}`)).status).toBe(400)
    })

    it('Core 5.5.1.1: an acr that typing does not have is not claimed', async () => {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ['urn:example:retina'] } } })
      const { visitor } = await signedIn(bridge, { claims })
      expect(errorAt(visitor.at)).toBe('unmet_authentication_requirements')
    })

    it('Core 3.1.2.2 and 15.5.3: only a valid hint of the upstream provider names a person: 0 of 1,000 forged ones accepted', async () => {
      let accepted = 0
      for (let n = 0; n < COUNT; n++) {
        const visitor = new Visitor()
        await visitor.open(entraRequest(bridge, await upstream.forged(n)).href)
        if (visitor.page.includes('<keystride-typing') || visitor.at.includes('/interaction/')) accepted++
      }
      expect(accepted).toBe(0)
      // An application that takes people as the directory names them gets an error.
      const party = await relyingParty(bridge.issuer)
      for (let n = 0; n < 12; n++) {
        const asking = new Visitor()
        await asking.open((await ask(party, { id_token_hint: await upstream.forged(n), login_hint: 'ann' })).url.href)
        expect([n, errorAt(asking.at)]).toEqual([n, 'invalid_request'])
      }
      const nameless = new Visitor()
      await nameless.open(entraRequest(bridge, await upstream.token({ preferred_username: '' })).href)
      expect(nameless.at).not.toContain('/interaction/')
      // A form that is sent before the page is shown cannot replace the person.
      const begun = await fetch(entraRequest(bridge, await upstream.token({})), { redirect: 'manual' })
      const page = new URL(begun.headers.get('location') ?? '', bridge.issuer)
      const cookies = begun.headers.getSetCookie().map((line) => line.split(';')[0])
      const headers = { cookie: cookies.join('; ') }
      const body = new URLSearchParams({ action: 'name', name: 'bob' })
      expect((await fetch(page, { method: 'POST', redirect: 'manual', headers, body })).status).toBe(303)
      // bob is not enrolled, and would be asked for a one-time password.
      expect(await (await fetch(page, { headers })).text()).toContain('Type to sign in')
      // A request from outside cannot bring a person in the bridge's own parameter, however it spells the path.
      for (const path of ['/auth', '/auth/', '/AUTH', '/Auth/', '/%61uth', '//auth', '/./auth']) {
        const visitor = new Visitor()
        const url = entraRequest(bridge, null)
        url.pathname = path
        url.searchParams.set('keystride_hint', JSON.stringify({ sub: 'x', name: 'ann' }))
        await visitor.open(url.href)
        const asks = visitor.page.includes('<keystride-typing') || visitor.at.includes('/interaction/')
        expect([path, asks]).toEqual([path, false])
      }
    })

    it('Form Post 2: the ID token goes by form to a provider that asks for a second factor, with its sub', async () => {
      const { token, visitor } = await secondFactor()
      expect(visitor.page).toContain('action="https://login.example/entra"')
      const keys = createRemoteJWKSet(new URL(`${bridge.issuer}/jwks`))
      const { payload } = await jwtVerify(token, keys, { issuer: bridge.issuer, audience: 'entra' })
      expect(payload).toMatchObject({ sub: 'sub-of-ann', nonce: 'n-1', acr: 'possessionorinherence', amr: ['vbm'] })
    })

    it('Form Post 2: a request by form with a hint is answered without a detour by an address', async () => {
      const body = entraRequest(bridge, await upstream.token({})).searchParams
      const { status, headers } = await fetch(`${bridge.issuer}/auth`, { method: 'POST', redirect: 'manual', body })
      expect([status, headers.get('location')]).toEqual([303, expect.stringMatching(/^\/interaction\//)])
    })

    it('Core 5.7: one account of the upstream provider is one person, whatever it is called', async () => {
      await secondFactor()
      const other = { sub: 'sub-of-another', preferred_username: 'ANN' }
      for (const claims of [other, { preferred_username: 'bob' }]) {
        const visitor = new Visitor()
        await visitor.open(entraRequest(bridge, await upstream.token(claims)).href)
        expect([claims, visitor.title(), visitor.code()]).toEqual([claims, 'You are not signed in', 101])
        expect(visitor.page).toContain('belongs to another account')
      }
      expect(bridge.lines.some(({ msg }) => String(msg).includes('may not sign in as ann'))).toBe(true)
      // A session of the person does not serve the other account.
      const { visitor, party } = await signedIn(keeping)
      for (const [claims, error] of [
        [{}, null],
        [other, 'login_required'],
      ] as const) {
        await askAgain(visitor, party, { prompt: 'none', id_token_hint: await upstream.token(claims) })
        expect([claims, errorAt(visitor.at)]).toEqual([claims, error])
      }
    })
  })
})

const cookiesOf = ({ cookies }: Visitor) => [...cookies].map(([, { name, value }]) => `${name}=${value}`).join('; ')

/** Addresses that are close to the registered one. */
function foreignUris(count: number): string[] {
  // biome-ignore format: many short cases, some to a line
  const near = [
    'http://localhost:9/callback/', 'http://localhost:9/callback/..', 'http://localhost:9/Callback',
    'http://localhost:9/callback?x=1', 'http://localhost:9/callback#x', 'https://localhost:9/callback',
    'http://localhost/callback', 'http://localhost:90/callback', 'http://localhost:9@evil.example/callback',
    'http://evil.example/callback', 'http://localhost:9.evil.example/callback', 'http://LOCALHOST:9/callback',
    'http://127.0.0.1:9/callback', 'http://localhost:9//callback', 'http://localhost:9/%63allback',
    'javascript:alert(1)//http://localhost:9/callback', '//localhost:9/callback', 'http://localhost:9/callback ', '',
  ]
  return Array.from({ length: count }, (_, n) => {
    const base = near[n % near.length] ?? ''
    return n < near.length ? base : `${base}${n}`
  })
}

/** An authorization request as Entra's external authentication methods make it. */
function entraRequest(bridge: Bridge, hint: string | null): URL {
  const url = new URL(`${bridge.issuer}/auth`)
  url.search = new URLSearchParams({
    client_id: 'entra',
    redirect_uri: 'https://login.example/entra',
    response_type: 'id_token',
    response_mode: 'form_post',
    scope: 'openid',
    state: 's-1',
    nonce: 'n-1',
    claims: JSON.stringify({
      id_token: {
        acr: { essential: true, values: ['possessionorinherence'] },
        amr: { essential: true, values: ['vbm'] },
      },
    }),
    ...(hint === null ? {} : { id_token_hint: hint }),
  }).toString()
  return url
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** An upstream provider: its keys, and tokens that name ann. */
async function startUpstream() {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'up', alg: 'RS256' }
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] })),
  )
  const issuer = `http://localhost:${await listen(server)}`
  const sign = (claims: JWTPayload, key: Parameters<SignJWT['sign']>[0], header: { alg: string; kid?: string }) =>
    new SignJWT({ iss: issuer, aud: 'bridge', sub: 'sub-of-ann', preferred_username: 'ann', ...claims })
      .setProtectedHeader(header)
      .setIssuedAt()
      .setExpirationTime(claims.exp ?? '5m')
      .sign(key)
  const token = (claims: JWTPayload) => sign(claims, own.privateKey, { alg: 'RS256', kid: 'up' })
  return {
    issuer,
    token,
    /** A token that must not be accepted. */
    async forged(n: number): Promise<string> {
      const [head = '', body = '', signature = ''] = (await token({})).split('.')
      const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
      const claims = { iss: issuer, aud: 'bridge', sub: 'x', preferred_username: 'ann', iat: 1, exp: 4_000_000_000, n }
      const other = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const variants = [
        () => sign({}, foreign.privateKey, { alg: 'RS256', kid: 'up' }),
        () => sign({}, Buffer.from(JSON.stringify(jwk)), { alg: 'HS256', kid: 'up' }),
        () => `${none}.${body}.`,
        () => `${none}.${other}.${signature}`,
        () => `${head}.${other}.${signature}`,
        () => token({ aud: `another-${n}` }),
        () => token({ iss: `${issuer}/${n}` }),
        () => token({ exp: Math.floor(Date.now() / 1000) - 3600 - n }),
        () => token({ preferred_username: undefined as unknown as string }),
        () => `${head}.${body}.${signature.slice(0, -(1 + (n % 40)))}`,
        () => `no token ${n}`,
        () => '',
      ]
      return (variants[n % variants.length] ?? variants[0])?.() ?? ''
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
