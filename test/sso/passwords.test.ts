import { randomInt } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { enteredPassword, maskedAddress } from '../../src/domain/one-time-password.js'
import { createPasswords } from '../../src/sso/passwords.js'
import type { OneTimePasswordStore } from '../../src/storage/one-time-password.js'
import type { Vault } from '../../src/storage/vault.js'

const person = { userRef: 'ann', email: 'ann@example.org', displayName: null, language: null }

/** A store of one person without limits on sends, and the passwords that were sent. */
function world(tries: number) {
  let live: { hash: Uint8Array; left: number } | null = null
  const store: OneTimePasswordStore = {
    async issue(_, __, hash) {
      live = { hash, left: tries }
      return null
    },
    async try() {
      if (live === null || live.left === 0) return { outcome: 'none' }
      live.left--
      return { outcome: 'open', hash: live.hash, triesLeft: live.left }
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
    send: async (_, password) => {
      sent.push(password)
      return true
    },
  })
  return { passwords, sent, hash: () => live?.hash ?? new Uint8Array() }
}

describe('one-time passwords', () => {
  it('are six digits, stored as a hash of their own, and right once', async () => {
    const { passwords, sent, hash } = world(3)
    await passwords.send(person)
    expect(sent[0]).toMatch(/^\d{6}$/)
    expect(hash()).toHaveLength(48)
    expect(Buffer.from(hash()).toString('latin1')).not.toContain(sent[0])
    expect(await passwords.check(person, ` ${sent[0]?.slice(0, 3)} ${sent[0]?.slice(3)} `)).toBeNull()
    expect(await passwords.check(person, sent[0] ?? '')).toBe('wrong-password')
  })

  it('belong to one person', async () => {
    const { passwords, sent } = world(3)
    await passwords.send(person)
    expect(await passwords.check({ ...person, userRef: 'bob' }, sent[0] ?? '')).toBe('wrong-password')
  })

  it.each(['', '12345', '1234567', '12345a', '１２３４５６', '123456\n7'])(
    'are not counted as tried with %j',
    async (text) => {
      const { passwords, sent } = world(1)
      await passwords.send(person)
      expect(await passwords.check(person, text)).toBe('wrong-password')
      expect(await passwords.check(person, sent[0] ?? '')).toBeNull()
    },
  )

  it('are guessed no more often than chance has it, in a million guesses', async () => {
    const { passwords } = world(3)
    let guessed = 0
    for (let n = 0; n < 1_000_000; n++) {
      if (n % 3 === 0) await passwords.send(person)
      const guess = String(randomInt(1_000_000)).padStart(6, '0')
      if ((await passwords.check(person, guess)) === null) guessed++
    }
    // One is expected; eight or more have a chance of 1 in 100,000.
    expect(guessed).toBeLessThan(8)
  }, 120_000)

  it('are shown with their address hidden', () => {
    expect(maskedAddress('ann.lee@example.org')).toBe('a•••@example.org')
    expect(enteredPassword('12 34-56')).toBe('123456')
  })
})
