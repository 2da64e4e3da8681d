import { describe, expect, it } from 'vitest'
import { enteredPassword, maskedAddress } from '../../src/domain/one-time-password.js'
import { createPasswords } from '../../src/sso/passwords.js'
import type { OneTimePasswordStore } from '../../src/storage/one-time-password.js'
import type { Vault } from '../../src/storage/vault.js'

const person = { userRef: 'ann', email: 'ann@example.org', displayName: null, language: null }

/** A store with one password at a time and without limits on sends, and the passwords that were sent. */
function world(tries = 3) {
  let live: { hash: Uint8Array; left: number } | null = null
  const store: OneTimePasswordStore = {
    async issue(_, __, hash) {
      live = { hash, left: tries }
      return null
    },
    async try() {
      if (live === null || live.left === 0) return { outcome: 'none' }
      live.left--
      return { outcome: 'open', hash: live.hash }
    },
    async redeem(_, __, hash) {
      if (live === null || Buffer.compare(live.hash, hash) !== 0) return false
      live = null
      return true
    },
  }
  const sent: string[] = []
  const passwords = createPasswords({
    organizationId: 'o',
    oneTimePasswords: store,
    vault: { codePepper: async () => new Uint8Array(32) } as unknown as Vault,
    send: async (_, password) => sent.push(password) > 0,
  })
  return { passwords, sent, hash: () => live?.hash ?? new Uint8Array() }
}

describe('one-time passwords', () => {
  it('are six digits, stored as a hash of their own, right once and for one person', async () => {
    const { passwords, sent, hash } = world()
    await passwords.send(person)
    const [password = ''] = sent
    expect(password).toMatch(/^\d{6}$/)
    expect(hash()).toHaveLength(48)
    expect(Buffer.from(hash()).toString('latin1')).not.toContain(password)
    expect(await passwords.check({ ...person, userRef: 'bob' }, password)).toEqual({
      situation: 'wrong-password',
      waitMs: null,
    })
    expect(await passwords.check(person, ` ${password.slice(0, 3)} ${password.slice(3)} `)).toBeNull()
    expect(await passwords.check(person, password)).toEqual({ situation: 'wrong-password', waitMs: null })
  })

  it('are wrong but for the one that was sent', async () => {
    const { passwords, sent } = world(Number.POSITIVE_INFINITY)
    await passwords.send(person)
    for (let step = 1; step < 10 ** 6; step += 499) {
      const guess = String((Number(sent[0]) + step) % 10 ** 6).padStart(6, '0')
      expect(await passwords.check(person, guess)).toEqual({ situation: 'wrong-password', waitMs: null })
    }
    expect(await passwords.check(person, sent[0] ?? '')).toBeNull()
  })

  it('are not counted as tried by a text that is no password', async () => {
    for (const text of ['', '12345', '1234567', '12345a', '１２３４５', '123456\n7']) {
      const { passwords, sent } = world(1)
      await passwords.send(person)
      expect(await passwords.check(person, text)).toEqual({ situation: 'wrong-password', waitMs: null })
      expect(await passwords.check(person, sent[0] ?? '')).toBeNull()
    }
  })

  it('are shown with their address hidden, and may be entered as they were copied or in the digits of a script', () => {
    expect(maskedAddress('ann.lee@example.org')).toBe('a•••@example.org')
    for (const entered of ['12 34-56', '123\u200b456.', '١٢٣٤٥٦', '１２３ ４５６'])
      expect(enteredPassword(entered)).toBe('123456')
  })
})
