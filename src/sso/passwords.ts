import { createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { enteredPassword, PASSWORD_DIGITS, PASSWORD_LIMITS } from '../domain/one-time-password.js'
import type { SsoSituation } from '../domain/sso-code.js'
import type { OneTimePasswordStore } from '../storage/one-time-password.js'
import type { Vault } from '../storage/vault.js'
import type { DirectoryPerson } from './directory/directory.js'

interface Needs {
  readonly organizationId: string
  readonly oneTimePasswords: OneTimePasswordStore
  readonly vault: Vault
  /** Resolves to false if the mail server did not take the mail. */
  readonly send: (address: string, password: string, language: string | null) => Promise<boolean>
}

type Sent =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'failed'; readonly situation: SsoSituation }
  /** Too many passwords were sent, or too many wrong ones were entered. */
  | { readonly outcome: 'wait'; readonly waitMs: number }

/** One-time passwords by e-mail. */
export interface Passwords {
  send(person: DirectoryPerson): Promise<Sent>
  /** Null if the password is right; it is then used up. */
  check(person: DirectoryPerson, entered: string): Promise<WrongPassword | null>
}

interface WrongPassword {
  readonly situation: Extract<SsoSituation, 'wrong-password' | 'password-expired'>
  /** Time until a password is accepted again after too many wrong ones; null if there is no wait. */
  readonly waitMs: number | null
}

const WRONG: WrongPassword = { situation: 'wrong-password', waitMs: null }

const NONCE_BYTES = 16

export function createPasswords({ organizationId, oneTimePasswords, vault, send }: Needs): Passwords {
  async function hashOf(userRef: string, nonce: Uint8Array, password: string): Promise<Buffer> {
    const pepper = await vault.codePepper(organizationId)
    const mac = createHmac('sha256', pepper).update('one-time password 1\0').update(userRef).update('\0')
    return Buffer.concat([nonce, mac.update(nonce).update(password).digest()])
  }
  return {
    async send({ userRef, email, language }) {
      if (email === null) return { outcome: 'failed', situation: 'invalid-email' }
      const password = String(randomInt(10 ** PASSWORD_DIGITS)).padStart(PASSWORD_DIGITS, '0')
      const hash = await hashOf(userRef, randomBytes(NONCE_BYTES), password)
      const waitMs = await oneTimePasswords.issue(organizationId, userRef, hash, PASSWORD_LIMITS)
      if (waitMs !== null) return { outcome: 'wait', waitMs }
      return (await send(email, password, language))
        ? { outcome: 'sent' }
        : { outcome: 'failed', situation: 'mail-failed' }
    },

    async check({ userRef }, entered) {
      const password = enteredPassword(entered)
      // A text that cannot be a password counts as no try.
      if (password === null) return WRONG
      const tried = await oneTimePasswords.try(organizationId, userRef, PASSWORD_LIMITS)
      if (tried.outcome === 'wait') return { ...WRONG, waitMs: tried.waitMs }
      if (tried.outcome !== 'open')
        return tried.outcome === 'expired' ? { ...WRONG, situation: 'password-expired' } : WRONG
      const hash = await hashOf(userRef, tried.hash.subarray(0, NONCE_BYTES), password)
      if (!timingSafeEqual(hash, tried.hash)) return WRONG
      return (await oneTimePasswords.redeem(organizationId, userRef, tried.hash)) ? null : WRONG
    },
  }
}
