import { decodeProtectedHeader, importJWK, type JWK, SignJWT } from 'jose'
import { v7 as uuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { createEncryptionKeyFlows } from '../../src/flows/organization/encryption-keys.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'
import { createProviderKeys } from '../../src/sso/keys.js'
import type { SsoKeyStore } from '../../src/storage/sso-key.js'
import type { Vault } from '../../src/storage/vault.js'
import { openStores } from '../../src/wiring/open-stores.js'
import { beginSignIn, latestPassword, openWorld, someone, startBridge } from './bridge.js'

const DAY_MS = 24 * 3600_000

/** A store of one organization that keeps the contract of `SsoKeyStore`, and a vault that seals nothing. */
function world() {
  let stored: { key: Awaited<ReturnType<SsoKeyStore['list']>>[number]; follows: string | null }[] = []
  let at = 1_700_000_000_000
  const ssoKeys: SsoKeyStore = {
    list: async () => stored.map(({ key }) => key).sort((a, b) => a.signsFrom - b.signsFrom),
    async add(_, key, follows) {
      if (stored.some((one) => one.follows === follows)) return false
      stored.push({ key, follows })
      return true
    },
    async remove(_, ids) {
      stored = stored.filter(({ key }) => !ids.includes(key.id))
    },
  }
  const vault = {
    sealSecret: async (_: string, __: string, text: string) => new Uint8Array(Buffer.from(text)),
    openSecret: async (_: string, __: string, sealed: Uint8Array) => Buffer.from(sealed).toString(),
  } as unknown as Vault
  const keys = () => createProviderKeys({ organizationId: uuid(), ssoKeys, vault, now: () => at })
  return {
    keys,
    after: (ms: number) => {
      at += ms
    },
    count: () => stored.length,
  }
}

const idsOf = ({ jwks }: { jwks: { keys: JWK[] } }) => jwks.keys.map(({ kid }) => kid)

describe('the keys of single sign-on', () => {
  it('are made once by processes that start together, and can sign', async () => {
    const { keys, count } = world()
    const found = await Promise.all([keys().current(), keys().current(), keys().current()])
    expect(count()).toBe(1)
    expect(new Set(found.map(({ version }) => version)).size).toBe(1)
    const [jwk] = found[0]?.jwks.keys ?? []
    const key = await importJWK(jwk ?? {}, 'RS256')
    const token = await new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: jwk?.kid ?? '' }).sign(key)
    expect(decodeProtectedHeader(token).kid).toBe(jwk?.kid)
  })

  it('publish the next key a day before it signs, and the last one for a day after it', async () => {
    const { keys, after } = world()
    const first = idsOf(await keys().current())
    after(88 * DAY_MS)
    expect(idsOf(await keys().current())).toEqual(first)
    after(1.5 * DAY_MS)
    const both = idsOf(await keys().current())
    expect(both).toHaveLength(2)
    // The first key signs.
    expect(both[0]).toBe(first[0])
    after(DAY_MS)
    const swapped = idsOf(await keys().current())
    expect(swapped).toEqual([both[1], both[0]])
    after(DAY_MS)
    expect(idsOf(await keys().current())).toEqual([both[1]])
  })

  it('can be rotated at once: the next key signs a day later, and the present cookie secret stays the first', async () => {
    const { keys, after } = world()
    const before = await keys().current()
    await keys().rotate()
    const both = await keys().current()
    const [signs, next] = idsOf(both)
    expect([signs]).toEqual(idsOf(before))
    expect([both.cookieKeys.length, both.cookieKeys[0]]).toEqual([2, before.cookieKeys[0]])
    after(DAY_MS + 1)
    expect(idsOf(await keys().current())[0]).toBe(next)
  })
})

it('the rotation of the encryption key leaves signing keys, passwords and sign-ins in progress as they are', async () => {
  const world = await openWorld({})
  const { service, mail } = world
  const people = [someone('ada')]
  const first = await startBridge(service, mail.port, { people })
  const published = async () => (await fetch(`${first.issuer}/jwks`)).json()
  const keys = await published()
  const { visitor } = await beginSignIn(first, 'ada')
  await visitor.submit({ action: 'send', purpose: 'enroll' })
  await first.close()
  const next = Buffer.alloc(32, 11).toString('base64')
  const both = { ENCRYPTION_KEY: next, ENCRYPTION_KEY_PREVIOUS: service.env.ENCRYPTION_KEY ?? '' }
  const stores = await openStores(readConfig({ ...service.env, ...both }), jsonLog('silent'), { redis: false })
  expect(await createEncryptionKeyFlows(stores).rotate(() => {})).toMatchObject({ rewrapped: 1, left: 0 })
  await stores.close()
  const second = await startBridge(service, mail.port, { people, port: first.port, more: { ENCRYPTION_KEY: next } })
  expect(await published()).toEqual(keys)
  await visitor.submit({ action: 'password', password: latestPassword(world, 'ada@example.org') })
  expect(visitor.title()).toBe('Let us learn how you type')
  await second.close()
  await world.close()
})
