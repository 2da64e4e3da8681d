import { Refusal } from '../../../domain/refusal.js'

export const DISK_FULL = '53100'
export const FORBIDDEN = '42501'
export const READ_ONLY = '25006'
export const FOREIGN_KEY = '23503'
const BROKEN = new Set(['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'])
const UNREACHABLE = new Set([
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
/**
 * SQLSTATEs: connection (08), read-only after a fail-over (25006), rollback such as a deadlock (40), resources (53), unavailable
 * lock (55P03), cancelled or shut down (57), I/O (58).
 */
const TRANSIENT = /^(08|25006|40|53|55P03|57|58)/

/** SQLSTATE, or the code of the driver or the system; empty if there is none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

/** Whether the connection is lost. A server that closes it reports FATAL; a break has a code of the driver or the system. */
export function isLost(error: unknown): boolean {
  const { severity } = (error ?? {}) as { severity?: string } // what the driver rejects with
  return BROKEN.has(codeOf(error)) || UNREACHABLE.has(codeOf(error)) || severity === 'FATAL' || severity === 'PANIC'
}

/** A connection that broke during work may never work again (postgres 3.4.9), so its pool gets no more work. */
export const isBroken = (error: unknown): boolean => BROKEN.has(codeOf(error))

export const isTransient = (error: unknown): boolean => TRANSIENT.test(codeOf(error))

/** Maps every transient error to `Refusal('degraded')`; other errors are unchanged. */
export function asRefusal(error: unknown): unknown {
  if (isLost(error)) return degraded('the database is not reachable', error)
  return isTransient(error) ? degraded('the database is not ready', error) : error
}

export const degraded = (why: string, cause?: unknown) =>
  new Refusal('degraded', `try again later: ${why}`, undefined, cause)
