import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { v7 } from 'uuid'
import type { SsoKeyStore } from '../storage/sso-key.js'
import type { Vault } from '../storage/vault.js'

interface Needs {
  readonly organizationId: string
  readonly ssoKeys: SsoKeyStore
  readonly vault: Vault
  readonly now: () => number
}

const DAY_MS = 24 * 3600_000
/** A key signs for this long before the next one does. No measurement behind it. */
const SIGNS_FOR_MS = 90 * DAY_MS
/** A key is published this long before it signs, because applications may cache the published keys for some hours. */
const AHEAD_MS = DAY_MS
/** A key stays published this long after its last use; ID tokens live for ten minutes. */
const AFTER_MS = DAY_MS

/** The private keys of the provider, with the signing one first, and the secrets that sign its cookies. */
export interface ProviderKeys {
  readonly jwks: { readonly keys: JWK[] }
  readonly cookieKeys: readonly string[]
  /** Changes whenever `jwks` changes, its order included. */
  readonly version: string
}

/**
 * Keys that sign tokens (RS256, which every OpenID Connect client supports) and cookies, sealed in the store. `current` makes the
 * first key, and the next one when the last is old. A key is published a day before it signs, and until a day after its successor signs.
 */
export function createProviderKeys(needs: Needs): { current(): Promise<ProviderKeys>; rotate(): Promise<void> } {
  const { organizationId, ssoKeys, vault, now } = needs

  async function add(follows: string | null, signsFrom: number): Promise<void> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const id = v7({ msecs: now() })
    const secret = { jwk: await exportJWK(privateKey), cookieKey: randomBytes(32).toString('base64url') }
    const sealed = await vault.sealSecret(organizationId, purpose(id), JSON.stringify(secret))
    // `add` returns false if another process has made the key.
    await ssoKeys.add(organizationId, { id, sealed, signsFrom }, follows)
  }

  return {
    async current() {
      let stored = await ssoKeys.list(organizationId)
      const last = stored.at(-1)
      if (last === undefined) await add(null, now())
      else if (now() >= last.signsFrom + SIGNS_FOR_MS - AHEAD_MS) await add(last.id, now() + AHEAD_MS)
      else return opened(needs, stored)
      stored = await ssoKeys.list(organizationId)
      return opened(needs, stored)
    },
    async rotate() {
      const last = (await ssoKeys.list(organizationId)).at(-1)
      await add(last?.id ?? null, last === undefined ? now() : now() + AHEAD_MS)
    },
  }
}

const purpose = (id: string) => `sso key ${id}`

async function opened(
  { organizationId, vault, ssoKeys, now }: Needs,
  stored: Awaited<ReturnType<SsoKeyStore['list']>>,
) {
  const at = now()
  const signing = stored.findLastIndex(({ signsFrom }) => signsFrom <= at)
  const used = stored.slice(Math.max(signing, 0))
  // A key before the signing one was last used when its successor began to sign.
  const recent = stored.slice(0, Math.max(signing, 0)).filter((_, i) => at < (stored[i + 1]?.signsFrom ?? 0) + AFTER_MS)
  const old = stored.slice(0, Math.max(signing, 0)).filter((key) => !recent.includes(key))
  if (old.length > 0)
    await ssoKeys.remove(
      organizationId,
      old.map(({ id }) => id),
    )
  const published = [...used, ...recent.reverse()]
  const secrets = await Promise.all(
    published.map(async ({ id, sealed }) => {
      const text = await vault.openSecret(organizationId, purpose(id), sealed)
      return { id, ...(JSON.parse(text) as { jwk: JWK; cookieKey: string }) }
    }),
  )
  return {
    jwks: { keys: secrets.map(({ id, jwk }) => ({ ...jwk, kid: id, alg: 'RS256', use: 'sig' })) },
    cookieKeys: secrets.map(({ cookieKey }) => cookieKey),
    version: secrets.map(({ id }) => id).join(' '),
  }
}
