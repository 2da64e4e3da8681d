import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  type UserInfoResponse,
} from 'openid-client'
import type { SsoSituation } from '../domain/sso-code.js'
import { USER_REF_RULE } from '../domain/user-ref.js'
import { newToken } from '../flows/process/tokens.js'
import type { Accounts } from './accounts.js'
import type { Artifacts } from './artifacts.js'
import type { DirectoryPerson } from './directory/directory.js'
import { personOf } from './directory/person-of.js'
import { INTERACTION_MS } from './provider.js'
import { type DirectorySettings, secretOf } from './settings.js'
import { isVerified, isVerifiedName } from './verified.js'

type UserinfoSettings = Extract<DirectorySettings, { kind: 'userinfo' }>

/** The login at an upstream provider as the first factor. The provider's userinfo is the directory. */
export interface UpstreamLogin {
  /** The address at the upstream provider where the person of an interaction signs in. */
  begin(uid: string, loginHint: string | null): Promise<string>
  /** The person whom the upstream provider sends back with `url`. */
  person(uid: string, url: URL): Promise<FoundUpstream>
}

/** A person and the `sub` of the account, or the reason why the person is refused. */
export type FoundUpstream =
  | { readonly person: DirectoryPerson; readonly subject: string }
  | { readonly refused: Extract<SsoSituation, 'not-in-directory' | 'not-verified' | 'other-account'> }

/** The values that the answer of the upstream provider must match. */
interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface UpstreamNeeds {
  readonly settings: UserinfoSettings
  /** The issuer of the bridge. */
  readonly bridge: string
  readonly artifacts: Artifacts
  readonly accounts: Accounts
  /** Logs a line at intervals. */
  readonly warn: (line: string) => void
}

export function upstreamLogin({ settings, bridge, artifacts, accounts, warn }: UpstreamNeeds): UpstreamLogin {
  const redirectUri = `${bridge}/upstream`
  const configuration = discovered(settings)
  return {
    async begin(uid, loginHint) {
      const pending: Pending = {
        state: `${uid}.${newToken()}`,
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      }
      const config = await configuration()
      await artifacts.put('Upstream', uid, pending, { lifetimeMs: INTERACTION_MS, userRef: null })
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        ...(loginHint === null ? {} : { login_hint: loginHint }),
      }).href
    },

    async person(uid, url) {
      const pending = await artifacts.find<Pending>('Upstream', uid)
      if (pending === null) return { refused: 'not-in-directory' }
      await artifacts.end('Upstream', uid)
      const claims = await claimsOf(await configuration(), new URL(`${redirectUri}${url.search}`), pending)
      if (claims === null) return { refused: 'not-in-directory' }
      return personBehind(claims)
    },
  }

  /** The person of an account: found by `sub` once the account has a reference, until then by name. */
  async function personBehind(claims: UserInfoResponse): Promise<FoundUpstream> {
    const { userRef: name, acceptUnverified } = settings
    const own = await accounts.refOf(claims.sub)
    const refuse = (refused: 'not-in-directory' | 'not-verified', why: string) => {
      warn(`a person of ${settings.issuer} was refused: ${name} ${why}: ${JSON.stringify(claims.sub.slice(0, 64))}`)
      return { refused }
    }
    if (own === null && !acceptUnverified && !isVerifiedName(claims, name))
      return refuse('not-verified', 'is not verified there (directory.acceptUnverified)')
    const written = own ?? claims[name]
    const person = personOf({
      userRef: written,
      email: acceptUnverified || isVerified(claims, 'email') ? claims.email : undefined,
      displayName: claims.name,
      language: claims.locale,
    })
    if (person === null) return refuse('not-in-directory', USER_REF_RULE)
    // Refuses a changed name, because another person's account may have that name. Providers compare names case-insensitively.
    if (person.userRef !== String(written).toLowerCase())
      return refuse(
        'not-in-directory',
        `has spaces, which become hyphens: the name of another account may be ${person.userRef}`,
      )
    return (await accounts.mayBe(claims.sub, person.userRef))
      ? { person, subject: claims.sub }
      : { refused: 'other-account' }
  }
}

/** Returns the configuration of the upstream provider. The first call fetches it, and a failed call is repeated. */
function discovered({ issuer, clientId, clientSecretFile }: UserinfoSettings): () => Promise<Configuration> {
  const secret = secretOf('directory.clientSecretFile', clientSecretFile)
  const url = new URL(issuer)
  // The settings accept http for this machine only.
  const options = url.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}
  let found: Promise<Configuration> | null = null
  return () => {
    found ??= discovery(url, clientId, secret, undefined, options)
    // A failure is not cached.
    found.catch(() => {
      found = null
    })
    return found
  }
}

/** The claims of userinfo; null if the provider refused the person, or if the answer does not belong to this sign-in. */
async function claimsOf(config: Configuration, url: URL, { verifier, state, nonce }: Pending) {
  try {
    const tokens = await authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    })
    return await fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? '')
  } catch {
    return null
  }
}
