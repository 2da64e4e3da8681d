// Sign-in at `keystride sso` by OpenID Connect. Start: ISSUER=... CLIENT_ID=... CLIENT_SECRET=... node server.mjs
// The client there needs the redirectUris [http://localhost:3000/callback] and the postLogoutRedirectUris [http://localhost:3000/].
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import * as oidc from 'openid-client'

const port = Number(process.env.PORT ?? 3000)
const url = `http://localhost:${port}`
const { ISSUER = 'http://localhost:8090', CLIENT_ID = 'app', CLIENT_SECRET = '' } = process.env
/** By cookie: the requests in progress by state, and the person who is signed in. In memory, for an example. */
const sessions = new Map()

/** Metadata of the provider. Over https, leave out `allowInsecureRequests`. */
const provider = async () =>
  oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, oidc.ClientSecretBasic(CLIENT_SECRET), {
    execute: [oidc.allowInsecureRequests],
  })

/** Where the browser goes to sign in. */
async function begin(session) {
  const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()]
  session.asked.set(state, { verifier, nonce })
  return oidc.buildAuthorizationUrl(await provider(), {
    redirect_uri: `${url}/callback`,
    scope: 'openid profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
  })
}

/** Completes a request in progress. A refusal has the number and the sentence of the situation. */
async function complete(session, address) {
  const state = address.searchParams.get('state') ?? ''
  const asked = session.asked.get(state)
  session.asked.delete(state)
  if (asked === undefined) return
  try {
    const tokens = await oidc.authorizationCodeGrant(await provider(), address, {
      pkceCodeVerifier: asked.verifier,
      expectedState: state,
      expectedNonce: asked.nonce,
      idTokenExpected: true,
    })
    Object.assign(session, { person: tokens.claims(), idToken: tokens.id_token, refusal: undefined })
  } catch (error) {
    if (!(error instanceof oidc.AuthorizationResponseError)) throw error
    session.refusal = error.error_description ?? error.error
  }
}

/** Where the browser goes to sign out. */
async function end(session) {
  const { idToken = '' } = session
  Object.assign(session, { person: undefined, idToken: undefined })
  return oidc.buildEndSessionUrl(await provider(), { id_token_hint: idToken, post_logout_redirect_uri: `${url}/` })
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)
const page = ({
  person,
  refusal,
}) => `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>The wiki</title>
<style>body{font:1.1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style><h1>The wiki</h1>
${refusal === undefined ? '' : `<p role="status">Not signed in: ${escaped(refusal)}</p>`}${
  person === undefined
    ? '<p><a href="/login">Sign in by typing</a></p>'
    : `<p>Signed in as <b translate="no">${escaped(person.sub)}</b>, by ${escaped(person.amr)}.</p><p><a href="/logout">Sign out</a></p>`
}`

async function answer(request, response) {
  const address = new URL(request.url ?? '/', url)
  const id = /\bwiki=([\w-]{36})/.exec(request.headers.cookie ?? '')?.[1] ?? ''
  const session = sessions.get(id) ?? { asked: new Map() }
  if (!sessions.has(id)) {
    const made = randomUUID()
    sessions.set(made, session)
    // Lax: the way back from the provider brings the cookie. Over https, add Secure.
    response.setHeader('set-cookie', `wiki=${made}; HttpOnly; SameSite=Lax; Path=/`)
  }
  const goTo = (location) => response.writeHead(303, { location: String(location) }).end()
  if (address.pathname === '/login') return goTo(await begin(session))
  if (address.pathname === '/logout') return goTo(await end(session))
  if (address.pathname === '/callback') return complete(session, address).then(() => goTo('/'))
  if (address.pathname !== '/') return response.writeHead(404).end()
  response.setHeader('content-type', 'text/html; charset=utf-8').end(page(session))
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    response.writeHead(503).end('Signing in does not work right now. Please try again.')
  })
}).listen(port, '127.0.0.1', () => console.log(`The wiki: ${url}`))
