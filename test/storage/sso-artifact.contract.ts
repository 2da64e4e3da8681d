import { v7 as uuid } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import type { NewSsoArtifact, SsoArtifactStore } from '../../src/storage/sso-artifact.js'
import { sha256Hex } from '../harness/fixtures.js'
import { until } from '../harness/patience.js'

/** The contract of every store of artifacts of single sign-on. */
export function ssoArtifactContract(store: () => SsoArtifactStore, organizationId: () => string): void {
  let org: string
  let sha256: string
  const sealed = new Uint8Array([0, 1, 254, 255])
  const put = (changes: Partial<NewSsoArtifact> = {}) =>
    store().put(org, {
      kind: 'Code',
      sha256,
      sealed,
      uidSha256: null,
      grantSha256: null,
      userRef: null,
      lifetimeMs: 60_000,
      ...changes,
    })
  beforeEach(() => {
    org = organizationId()
    sha256 = sha256Hex()
  })

  describe('an artifact', () => {
    it('is found as it was put, and replaced by the next one', async () => {
      await put()
      expect(await store().find(org, 'Code', sha256)).toEqual({ sha256, sealed, consumed: false })
      await put({ sealed: new Uint8Array([7]) })
      expect((await store().find(org, 'Code', sha256))?.sealed).toEqual(new Uint8Array([7]))
    })

    it('is not found under another kind, organization or hash', async () => {
      await put()
      expect(await store().find(org, 'Session', sha256)).toBeNull()
      expect(await store().find(uuid(), 'Code', sha256)).toBeNull()
      expect(await store().find(org, 'Code', sha256Hex())).toBeNull()
    })

    it('ends with its lifetime', async () => {
      await put({ lifetimeMs: 60 })
      await until(async () => (await store().find(org, 'Code', sha256)) === null)
      expect(await store().consume(org, 'Code', sha256)).toBe(false)
    })

    it('is consumed once, by one of concurrent calls, and stays so when it is replaced', async () => {
      await put()
      const won = await Promise.all(Array.from({ length: 20 }, () => store().consume(org, 'Code', sha256)))
      expect(won.filter((one) => one)).toHaveLength(1)
      await put()
      expect((await store().find(org, 'Code', sha256))?.consumed).toBe(true)
      expect(await store().consume(org, 'Code', sha256Hex())).toBe(false)
    })

    it('is found by its uid, within its kind', async () => {
      const uidSha256 = sha256Hex()
      await put({ kind: 'Session', uidSha256 })
      expect((await store().findByUid(org, 'Session', uidSha256))?.sha256).toBe(sha256)
      expect(await store().findByUid(org, 'Code', uidSha256)).toBeNull()
      await store().end(org, 'Session', sha256)
      expect(await store().findByUid(org, 'Session', uidSha256)).toBeNull()
    })

    it('ends with its grant, and with its person', async () => {
      const [grantSha256, other, others] = [sha256Hex(), sha256Hex(), sha256Hex()]
      await put({ grantSha256 })
      await put({ sha256: other, userRef: 'ann' })
      await put({ sha256: others, userRef: 'bob', grantSha256: sha256Hex() })
      await store().endGrant(org, grantSha256)
      expect(await store().find(org, 'Code', sha256)).toBeNull()
      expect(await store().find(org, 'Code', other)).not.toBeNull()
      await store().endAll(org, 'ann')
      expect(await store().find(org, 'Code', other)).toBeNull()
      expect(await store().find(org, 'Code', others)).not.toBeNull()
    })
  })
}
