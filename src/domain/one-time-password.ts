/** One-time passwords, sent by e-mail. A day allows 10 wrong tries of 1,000,000 equally likely ones: a guess succeeds once in 100,000 days. */
import { enteredDigits } from './entered-code.js'

export const PASSWORD_DIGITS = 6

export const PASSWORD_LIMITS = {
  lifetimeMs: 5 * 60_000,
  tries: 3,
  sendsPerHour: 5,
  wrongPerDay: 10,
} as const

/** The digits that a person entered; null if they are no password. */
export function enteredPassword(text: string): string | null {
  const digits = enteredDigits(text)
  return /^\d{6}$/.test(digits) ? digits : null
}

/** An address with most of its local part hidden, to show where a mail was sent: `a•••@example.org`. */
export function maskedAddress(address: string): string {
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}•••${address.slice(at)}`
}
