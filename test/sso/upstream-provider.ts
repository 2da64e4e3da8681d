import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

/** An upstream provider that signs everybody in at once, with these claims in userinfo. */
export async function startUpstreamProvider() {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'up', alg: 'RS256' }
  const state = { issuer: '', claims: {} as Record<string, unknown>, nonce: '', asked: new URLSearchParams() }
  const sign = (claims: JWTPayload) =>
    new SignJWT({ iss: state.issuer, aud: 'bridge', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'up' })
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(privateKey)
  const answers: Record<string, (query: URLSearchParams) => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer: state.issuer,
      authorization_endpoint: `${state.issuer}/auth`,
      token_endpoint: `${state.issuer}/token`,
      userinfo_endpoint: `${state.issuer}/me`,
      jwks_uri: `${state.issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
    }),
    '/jwks': () => ({ keys: [jwk] }),
    '/token': async () => ({
      access_token: 'token',
      token_type: 'Bearer',
      id_token: await sign({ sub: String(state.claims.sub), nonce: state.nonce }),
    }),
    '/me': () => state.claims,
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', state.issuer)
    if (pathname === '/auth') {
      state.asked = searchParams
      state.nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code: 'c', state: searchParams.get('state') ?? '' }).toString()
      return void response.writeHead(303, { location: back.href }).end()
    }
    const answer = JSON.stringify(await answers[pathname]?.(searchParams))
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.issuer = `http://localhost:${(server.address() as AddressInfo).port}`
  return Object.assign(state, { sign, close: () => new Promise((resolve) => server.close(resolve)) })
}
