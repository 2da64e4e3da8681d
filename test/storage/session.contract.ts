import { v7 as uuid } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../src/storage/session.js'
import { NOW, sha256Hex, until } from './fixtures.js'

/** What every session store promises; `store()` is one on a real server, `organizationId()` one it may write under. */
export function sessionContract(store: () => SessionStore, organizationId: () => string): void {
  const lifetimeMs = 900_000
  let org: string
  let userRef: string
  let sha256: string
  const mint = (changes: { lifetimeMs?: number; memberRef?: string | null; sha256?: string } = {}) =>
    store().mint(org, { sha256, userRef, memberRef: userRef, lifetimeMs, ...changes })

  beforeEach(() => {
    org = organizationId()
    userRef = `user-${uuid()}`
    sha256 = sha256Hex()
  })

  describe('a session', () => {
    it('is found as it was minted', async () => {
      await mint()
      expect(await store().find(org, userRef, sha256)).toEqual({
        userRef,
        memberRef: userRef,
        used: { biometric: 0, security_code: 0 },
        authenticatedAt: null,
      })
    })

    it('is not found under another user, organization or hash', async () => {
      await mint()
      expect(await store().find(org, `${userRef}x`, sha256)).toBeNull()
      expect(await store().find(uuid(), userRef, sha256)).toBeNull()
      expect(await store().find(org, userRef, sha256Hex())).toBeNull()
      expect(await store().reserve(org, `${userRef}x`, sha256, 'biometric', 3)).toBeNull()
    })

    it('ends with its lifetime', async () => {
      await mint({ lifetimeMs: 60 })
      await until(async () => (await store().find(org, userRef, sha256)) === null)
      expect(await store().reserve(org, userRef, sha256, 'biometric', 3)).toBeNull()
      expect(await store().designate(org, userRef, sha256, 'bo')).toBe(false)
      await store().markAuthenticated(org, userRef, sha256, NOW)
      await store().release(org, userRef, sha256, 'biometric')
      expect(await store().find(org, userRef, sha256)).toBeNull()
    })

    it('remembers when it authenticated', async () => {
      await mint()
      await store().markAuthenticated(org, userRef, sha256, NOW)
      expect((await store().find(org, userRef, sha256))?.authenticatedAt).toBe(NOW)
    })

    it('takes one member and no other', async () => {
      await mint({ memberRef: null })
      expect((await store().find(org, userRef, sha256))?.memberRef).toBeNull()
      expect(await store().designate(org, userRef, sha256, 'bo')).toBe(true)
      expect(await store().designate(org, userRef, sha256, 'bo')).toBe(true)
      expect(await store().designate(org, userRef, sha256, 'cy')).toBe(false)
      expect((await store().find(org, userRef, sha256))?.memberRef).toBe('bo')
    })
  })

  describe('a reservation', () => {
    it('counts its own kind up to the budget', async () => {
      await mint()
      for (const used of [1, 2, 3])
        expect(await store().reserve(org, userRef, sha256, 'biometric', 3)).toMatchObject({
          outcome: 'reserved',
          session: { used: { biometric: used, security_code: 0 } },
        })
      expect(await store().reserve(org, userRef, sha256, 'biometric', 3)).toMatchObject({
        outcome: 'exhausted',
        session: { used: { biometric: 3 } },
      })
      expect(await store().reserve(org, userRef, sha256, 'security_code', 3)).toMatchObject({ outcome: 'reserved' })
    })

    it('is given to three of a hundred at once', async () => {
      await mint()
      const all = await Promise.all(
        Array.from({ length: 100 }, () => store().reserve(org, userRef, sha256, 'biometric', 3)),
      )
      expect(all.filter((one) => one?.outcome === 'reserved')).toHaveLength(3)
    })

    it('is given back by release, and never below none', async () => {
      await mint()
      await store().reserve(org, userRef, sha256, 'biometric', 3)
      await store().release(org, userRef, sha256, 'biometric')
      await store().release(org, userRef, sha256, 'biometric')
      expect((await store().find(org, userRef, sha256))?.used.biometric).toBe(0)
    })
  })

  describe('endAll', () => {
    it('ends every session of the user but the excepted one', async () => {
      const others = [sha256Hex(), sha256Hex()]
      await mint()
      for (const other of others) await mint({ sha256: other })
      await store().endAll(org, userRef, null, sha256)
      expect(await store().find(org, userRef, sha256)).not.toBeNull()
      for (const other of others) expect(await store().find(org, userRef, other)).toBeNull()
      await store().endAll(org, userRef, null)
      expect(await store().find(org, userRef, sha256)).toBeNull()
    })

    it('of one member leaves the sessions of another', async () => {
      const [bo, cy, nobody] = [sha256Hex(), sha256Hex(), sha256Hex()]
      await mint({ sha256: bo, memberRef: 'bo' })
      await mint({ sha256: cy, memberRef: 'cy' })
      await mint({ sha256: nobody, memberRef: null })
      await store().endAll(org, userRef, 'bo')
      expect(await store().find(org, userRef, bo)).toBeNull()
      expect(await store().find(org, userRef, nobody)).toBeNull()
      expect(await store().find(org, userRef, cy)).not.toBeNull()
    })
  })
}
