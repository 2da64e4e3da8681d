import './runtime.js'
import type { IncomingMessage } from 'node:http'
import {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { ExpectedFault } from '../base/expected-fault.js'
import { SSO_CODES, SSO_SENTENCES } from '../domain/sso-code.js'
import type { Accounts } from './accounts.js'
import type { Artifacts } from './artifacts.js'
import { type DirectoryPerson, type PeopleDirectory, writtenName } from './directory/directory.js'
import type { Hint } from './hint.js'
import type { ProviderKeys } from './keys.js'
import { type SsoClient, type SsoSettings, secretOf } from './settings.js'

interface Needs {
  readonly settings: SsoSettings
  readonly keys: ProviderKeys
  readonly adapter: NonNullable<Configuration['adapter']>
  readonly artifacts: Artifacts
  readonly directory: PeopleDirectory | null
  readonly accounts: Accounts
  readonly pages: ProviderPages
}

/** Pages that the provider shows by itself. */
export interface ProviderPages {
  error(ctx: PageContext, code: string, description: string): void
  /** `form` posts to the provider; the buttons of the page belong to its id. `onward`: where its answer redirects to. */
  signOut(ctx: PageContext, form: string, onward: string | null): void
  signedOut(ctx: PageContext): void
}

/** The parts of Koa's context that a page uses. */
export interface PageContext {
  type: string
  body: unknown
  get(header: string): string
  set(header: string, value: string): void
}

/** The acr values of a client whose settings have no `acr`. */
export const ACR = { typing: 'urn:keystride:typing', password: 'urn:keystride:one-time-password' } as const
/** The amr values (RFC 8176) of a client whose settings have no `amr`. The registry has none for typing. */
export const AMR = { typing: ['typing'], password: ['otp'] } as const

/** The parameter that passes a verified `id_token_hint` from the request handler to the provider. */
export const HINT_PARAM = 'keystride_hint'
/** Requests whose hint the request handler has verified. Every other request with this parameter is refused. */
export const hintVerified = new WeakSet<IncomingMessage>()

const MINUTE_S = 60
const INTERACTION_S = 30 * MINUTE_S
const TOKEN_S = 10 * MINUTE_S

/** Lifetime of an interaction and of the progress of its sign-in, ms. */
export const INTERACTION_MS = INTERACTION_S * 1000
/** A signed-in person is stored for longer than sessions and tokens live. */
export const SIGNED_IN_MS = 25 * 60 * MINUTE_S * 1000

/** The OpenID provider for these settings and keys. Rejects with an `ExpectedFault` if it does not accept a client. */
export async function createProvider(needs: Needs): Promise<Provider> {
  const { settings, adapter, keys } = needs
  const flows = new Set(settings.clients.map(({ flow }) => flow))
  const provider = new Provider(settings.issuer, {
    adapter,
    clients: settings.clients.map(metadataOf),
    jwks: keys.jwks as NonNullable<Configuration['jwks']>,
    ...PROTOCOL,
    ...answersOf(needs),
    responseTypes: [...flows],
    clientAuthMethods: [
      'client_secret_basic',
      'client_secret_post',
      ...(flows.has('id_token') ? ['none' as const] : []),
    ],
    subjectTypes: settings.clients.some(({ subject }) => subject === 'hint') ? ['public', 'pairwise'] : ['public'],
    discovery: { prompt_values_supported: ['none', 'login', 'consent', ...loginPrompts(settings)] },
    acrValues: new Set(settings.clients.flatMap(({ acr = ACR }) => [acr.typing, acr.password])),
    cookies: {
      keys: [...keys.cookieKeys],
      long: { signed: true, httpOnly: true, sameSite: 'lax' },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    features: featuresOf(needs.pages),
    interactions: {
      policy: policyFor(needs),
      url: (_, { uid }) => `/interaction/${uid}`,
    },
    ttl: {
      Interaction: INTERACTION_S,
      Session: Math.max(settings.sessionMinutes, 5) * MINUTE_S,
      Grant: SIGNED_IN_MS / 1000,
      AuthorizationCode: MINUTE_S,
      AccessToken: TOKEN_S,
      IdToken: TOKEN_S,
    },
  })
  // The request handler overwrites host and scheme of every request with those of the issuer.
  provider.proxy = true
  // Every ID token contains the session's id (`sid`), also for a client without back-channel logout.
  provider.Client.prototype.includeSid = () => true
  for (const { id } of settings.clients) await provider.Client.find(id).catch((error: Error) => refuseClient(id, error))
  return provider
}

function refuseClient(id: string, error: Error & { readonly error_description?: string }): never {
  throw new ExpectedFault(`SSO_FILE: clients: ${id}: ${error.error_description ?? error.message}`)
}

/** The protocol settings that are the same in every deployment. */
const PROTOCOL: Configuration = {
  scopes: ['openid', 'profile', 'email'],
  claims: {
    openid: ['sub', 'acr', 'amr', 'auth_time', 'sid'],
    profile: ['name', 'preferred_username', 'locale'],
    email: ['email'],
  },
  pkce: { required: () => true },
  allowOmittingSingleRegisteredRedirectUri: false,
  conformIdTokenClaims: false,
  // Fetches only the logout addresses of the settings. The provider's dispatcher is left out, because it refuses private networks.
  fetch: (url, { dispatcher: _, ...options } = {}) => fetch(url, options),
  extraParams: {
    [HINT_PARAM]({ oidc, req }, value, client) {
      if (value !== undefined && !hintVerified.has(req))
        throw new errors.InvalidRequest(`${HINT_PARAM} is no parameter of a request`)
      const { scope } = oidc.params ?? {}
      if (typeof scope !== 'string' || !scope.split(' ').includes('openid'))
        throw new errors.InvalidRequest('scope must contain openid')
      if (value === 'invalid')
        throw new errors.InvalidRequest('id_token_hint is not a valid token of the upstream provider')
      if (value === 'not-verified') throw new errors.AccessDenied(`${SSO_CODES[value]} ${SSO_SENTENCES[value]}`)
      if (client.subjectType === 'pairwise' && value === undefined)
        throw new errors.InvalidRequest('id_token_hint is required')
    },
  },
}

const featuresOf = (pages: ProviderPages): NonNullable<Configuration['features']> => ({
  devInteractions: { enabled: false },
  claimsParameter: { enabled: true },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  resourceIndicators: { enabled: false },
  revocation: { enabled: true, allowedPolicy: async (_, client, token) => token.clientId === client.clientId },
  backchannelLogout: { enabled: true },
  rpInitiatedLogout: {
    enabled: true,
    logoutSource: async (ctx, form) => {
      const onward = ctx.oidc.params?.post_logout_redirect_uri
      pages.signOut(ctx, form, typeof onward === 'string' ? onward : null)
    },
    postLogoutSuccessSource: async (ctx) => pages.signedOut(ctx),
  },
})

/** The answers to the provider's questions: people, grants, error pages. */
function answersOf({ artifacts, pages }: Needs): Configuration {
  const person = (userRef: string) => artifacts.find<DirectoryPerson>('SignedIn', userRef)
  return {
    // Only a client whose `sub` is that of the hint is pairwise. A logout token is made without a request and has no `sub`.
    async pairwiseIdentifier(ctx, userRef) {
      if (ctx === undefined) return userRef
      const hint = hintOf(ctx.oidc.params)
      if (hint === null) throw new errors.InvalidRequest('id_token_hint is required')
      return hint.sub
    },
    async findAccount(_, userRef) {
      const found = await person(userRef)
      if (found === null) return undefined
      const { displayName, email, language } = found
      return {
        accountId: userRef,
        claims: () => ({
          sub: userRef,
          preferred_username: userRef,
          ...(displayName === null ? {} : { name: displayName }),
          ...(email === null ? {} : { email }),
          ...(language === null ? {} : { locale: language }),
        }),
      }
    },
    // Nobody is asked for consent, because the operator registers the applications.
    async loadExistingGrant({ oidc }) {
      const { session, client, provider: owner, requestParamClaims } = oidc
      if (session?.accountId === undefined || client === undefined) return undefined
      // Reuses the grant, because a new one would end the tokens of the previous sign-in.
      const id = session.grantIdFor(client.clientId)
      const held = id === undefined ? undefined : await owner.Grant.find(id)
      const grant =
        held?.accountId === session.accountId
          ? held
          : new owner.Grant({ accountId: session.accountId, clientId: client.clientId })
      grant.addOIDCScope('openid profile email')
      grant.addOIDCClaims([...requestParamClaims])
      await grant.save()
      return grant
    },
    renderError: async (ctx, { error, error_description: description }) => {
      const { client_id: client, redirect_uri: redirectUri } = (ctx as KoaContextWithOIDC).oidc?.params ?? {}
      const came = error === 'invalid_redirect_uri' ? redirectUri : error === 'invalid_client' ? client : undefined
      pages.error(ctx, error, `${description ?? ''}${came === undefined ? '' : `: ${came}`}`)
    },
  }
}

function metadataOf({
  id,
  secret,
  secretFile,
  redirectUris,
  postLogoutRedirectUris,
  backchannelLogoutUri,
  flow,
  subject,
}: SsoClient): ClientMetadata {
  return {
    client_id: id,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris,
    subject_type: subject === 'hint' ? 'pairwise' : 'public',
    ...(backchannelLogoutUri === undefined
      ? {}
      : { backchannel_logout_uri: backchannelLogoutUri, backchannel_logout_session_required: true }),
    ...(flow === 'id_token'
      ? { response_types: ['id_token'], grant_types: ['implicit'], token_endpoint_auth_method: 'none' }
      : {
          response_types: ['code'],
          grant_types: ['authorization_code'],
          client_secret: secretFile === undefined ? (secret ?? '') : secretOf(`clients.${id}.secretFile`, secretFile),
        }),
  }
}

/** The provider's own policy, with three more reasons to ask for typing. */
function policyFor({ settings: { sessionMinutes }, directory, accounts }: Needs) {
  const policy = interactionPolicy.base()
  const { Check } = interactionPolicy
  const login = policy.get('login')
  login?.checks.add(
    new Check(
      'fresh',
      'the latest typing is too long ago',
      'login_required',
      ({ oidc }) =>
        oidc.result?.login === undefined &&
        (sessionMinutes === 0 || oidc.session?.past(sessionMinutes * MINUTE_S) === true),
    ),
  )
  login?.checks.add(
    new Check(
      'known',
      'the sign-in was ended',
      'login_required',
      ({ oidc }) =>
        oidc.result?.login === undefined && oidc.session?.accountId !== undefined && oidc.account === undefined,
    ),
  )
  login?.checks.add(
    new Check('person', 'the session belongs to another person', 'login_required', async ({ oidc }) => {
      const name = hintedName(oidc.params)
      if (name === null || directory === null || oidc.session?.accountId === undefined || oidc.result?.login)
        return false
      const found = await directory.find(name).catch(() => null)
      if (found?.userRef !== oidc.session.accountId) return true
      return !(await accounts.mayBe(hintOf(oidc.params)?.sub ?? null, found.userRef))
    }),
  )
  return policy
}

/** Values of `prompt` that mean the same as `login`. A new person enrolls during a sign-in, if enrollment is possible. */
export const loginPrompts = ({ enroll, mail }: SsoSettings): readonly string[] => [
  'select_account',
  ...(enroll && mail !== undefined ? ['create'] : []),
]

type Params = Readonly<Record<string, unknown>> | undefined

/** The verified hint of a request; null if it has none. */
export function hintOf(params: Params): Hint | null {
  const given = params?.[HINT_PARAM]
  // Sound: only the request handler writes it.
  return typeof given === 'string' ? (JSON.parse(given) as Hint) : null
}

/** The person whom an authorization request names; null if it names none. */
export function hintedName(params: Params): string | null {
  const given = hintOf(params)?.name ?? params?.login_hint
  const name = typeof given === 'string' ? writtenName(given) : ''
  return name === '' ? null : name
}
