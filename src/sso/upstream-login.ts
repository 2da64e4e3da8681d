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
} from 'openid-client'
import { newToken } from '../flows/process/tokens.js'
import type { Artifacts } from './artifacts.js'
import type { Person } from './directory/directory.js'
import { personOf } from './directory/person-of.js'
import { INTERACTION_MS } from './provider.js'
import { type DirectorySettings, secretOf } from './settings.js'

type UserinfoSettings = Extract<DirectorySettings, { kind: 'userinfo' }>

/** The first factor at an upstream provider, whose userinfo is the directory. */
export interface UpstreamLogin {
  /** The address at the upstream provider where the person of an interaction signs in. */
  begin(uid: string, loginHint: string | null): Promise<string>
  /** The person whom the upstream provider sends back with `url`; null: refused there, unusable, or not of this interaction. */
  person(uid: string, url: URL): Promise<Person | null>
}

/** The values that the answer of the upstream provider must fit. */
interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export function upstreamLogin(settings: UserinfoSettings, bridge: string, artifacts: Artifacts): UpstreamLogin {
  const secret = secretOf('directory.clientSecretFile', settings.clientSecretFile)
  const redirectUri = `${bridge}/upstream`
  let found: Promise<Configuration> | null = null
  const configuration = (): Promise<Configuration> => {
    const issuer = new URL(settings.issuer)
    // A plain address is accepted by the settings for this machine only.
    const options = issuer.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}
    found ??= discovery(issuer, settings.clientId, secret, undefined, options)
    // The upstream provider may have been away.
    found.catch(() => {
      found = null
    })
    return found
  }
  return {
    async begin(uid, loginHint) {
      const pending: Pending = {
        state: `${uid}.${newToken()}`,
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      }
      const config = await configuration()
      await artifacts.put('Upstream', uid, pending, INTERACTION_MS)
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
      if (pending === null) return null
      await artifacts.end('Upstream', uid)
      const config = await configuration()
      try {
        const tokens = await authorizationCodeGrant(config, new URL(`${redirectUri}${url.search}`), {
          pkceCodeVerifier: pending.verifier,
          expectedState: pending.state,
          expectedNonce: pending.nonce,
          idTokenExpected: true,
        })
        const sub = tokens.claims()?.sub ?? ''
        const claims = await fetchUserInfo(config, tokens.access_token, sub)
        return personOf({
          userRef: claims[settings.userRef],
          email: claims.email_verified === false ? undefined : claims.email,
          displayName: claims.name,
          language: claims.locale,
        })
      } catch {
        return null
      }
    },
  }
}
