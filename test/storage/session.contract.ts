import { v7 as uuid } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import type { SessionStore } from '../../src/storage/session.js'
import { sha256Hex, until } from './fixtures.js'

/** What every session store promises; `store()` is one on a real server, `organizationId()` one it may write under. */
export function sessionContract(store: () => SessionStore, organizationId: () => string): void {
  const lifetimeMs = 900_000
  let org: string
  let userRef: string
  let sha256: string
  const mint = (
    changes: { lifetimeMs?: number; memberRef?: string | null; memberVersion?: number; sha256?: string } = {},
  ) => store().mint(org, { sha256, userRef, memberRef: userRef, lifetimeMs, ...changes })

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
        memberVersion: null,
        used: { biometric: 0, security_code: 0, typingFailed: false },
        reportedAction: null,
      })
    })

    it('knows how new its member was when it began, whoever asks', async () => {
      await mint({ memberVersion: 7 })
      expect((await store().find(org, userRef, sha256))?.memberVersion).toBe(7)
      expect((await store().reserve(org, userRef, sha256, 'biometric', 3))?.session.memberVersion).toBe(7)
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
      await store().markTypingFailed(org, userRef, sha256)
      await store().release(org, userRef, sha256, 'biometric')
      expect(await store().find(org, userRef, sha256)).toBeNull()
    })

    it('remembers that typing has failed in it', async () => {
      await mint()
      await store().markTypingFailed(org, userRef, sha256)
      expect((await store().find(org, userRef, sha256))?.used.typingFailed).toBe(true)
      expect(await store().reserve(org, userRef, sha256, 'security_code', 3)).toMatchObject({
        session: { used: { security_code: 1, typingFailed: true } },
      })
    })

    it('remembers the pending action that it has reported last', async () => {
      await mint()
      const actions = [uuid(), uuid()]
      for (const action of actions) await store().markReported(org, userRef, sha256, action)
      expect(await store().find(org, userRef, sha256)).toMatchObject({ reportedAction: actions[1] })
      const { session } = (await store().reserve(org, userRef, sha256, 'biometric', 3)) ?? {}
      expect(session?.reportedAction).toBe(actions[1])
      await store().markReported(org, userRef, sha256Hex(), uuid())
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

    it('knows how many the user has had, in whatever session', async () => {
      const other = sha256Hex()
      await mint()
      await mint({ sha256: other })
      const nths: unknown[] = []
      for (const [session, kind] of [
        [sha256, 'biometric'],
        [sha256, 'security_code'],
        [other, 'biometric'],
        [sha256, 'biometric'],
      ] as const)
        nths.push(await store().reserve(org, userRef, session, kind, 3))
      expect(nths).toMatchObject([1, 2, 3, 4].map((nth) => ({ nth })))
      userRef = `user-${uuid()}`
      await mint()
      expect(await store().reserve(org, userRef, sha256, 'biometric', 3)).toMatchObject({ nth: 1 })
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

  describe('the implicit session of a member', () => {
    const implicit = (changes: { lifetimeMs?: number; memberRef?: string } = {}) =>
      store().mintImplicit(org, { sha256: sha256Hex(), userRef, memberRef: 'bo', lifetimeMs, ...changes })

    it('is one for a hundred who ask at once, and is found like another', async () => {
      const all = await Promise.all(Array.from({ length: 100 }, () => implicit()))
      expect(new Set(all.map((one) => one.sha256)).size).toBe(1)
      const used = { biometric: 0, security_code: 0, typingFailed: false }
      const session = { userRef, memberRef: 'bo', memberVersion: null, used, reportedAction: null }
      expect(all[0]).toMatchObject(session)
      expect(await store().find(org, userRef, all[0]?.sha256 ?? '')).toEqual(session)
    })

    it('keeps its attempts and its end, however often it is asked for', async () => {
      const { sha256, remainingMs } = await implicit()
      expect(remainingMs).toBeGreaterThan(lifetimeMs - 60_000)
      expect(remainingMs).toBeLessThanOrEqual(lifetimeMs)
      await store().reserve(org, userRef, sha256, 'biometric', 3)
      const again = await implicit({ lifetimeMs: 2 * lifetimeMs })
      expect(again).toMatchObject({ sha256, used: { biometric: 1 } })
      expect(again.remainingMs).toBeLessThanOrEqual(remainingMs)
    })

    it('is another for another member, and not one that was minted', async () => {
      await mint({ memberRef: 'bo' })
      const [bo, cy] = [await implicit(), await implicit({ memberRef: 'cy' })]
      expect(new Set([sha256, bo.sha256, cy.sha256]).size).toBe(3)
    })

    it('is a new one, unused, after its lifetime, its end, and the end of all', async () => {
      const first = await implicit({ lifetimeMs: 60 })
      await store().reserve(org, userRef, first.sha256, 'biometric', 3)
      // What had failed in an expired one once opened the code in the next, where typing comes first.
      await store().markTypingFailed(org, userRef, first.sha256)
      await store().markReported(org, userRef, first.sha256, uuid())
      await until(async () => (await store().find(org, userRef, first.sha256)) === null)
      const ends: ((sha256: string) => Promise<void>)[] = [
        (sha256) => store().end(org, userRef, sha256),
        () => store().endAll(org, userRef, 'bo'),
        () => store().endAll(org, userRef, null),
      ]
      const before = new Set([first.sha256])
      for (const end of ends) {
        const session = await implicit()
        expect(before.has(session.sha256)).toBe(false)
        expect(session).toMatchObject({ used: { biometric: 0, typingFailed: false }, reportedAction: null })
        before.add(session.sha256)
        await store().reserve(org, userRef, session.sha256, 'biometric', 3)
        await end(session.sha256)
        expect(await store().find(org, userRef, session.sha256)).toBeNull()
      }
      expect((await implicit()).used.biometric).toBe(0)
    })
  })

  describe('end', () => {
    it('ends that session and no other; a session that is gone stays gone', async () => {
      const other = sha256Hex()
      await mint()
      await mint({ sha256: other })
      await store().end(org, `${userRef}x`, sha256)
      expect(await store().find(org, userRef, sha256)).not.toBeNull()
      await store().end(org, userRef, sha256)
      await store().end(org, userRef, sha256)
      expect(await store().find(org, userRef, sha256)).toBeNull()
      expect(await store().find(org, userRef, other)).not.toBeNull()
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
