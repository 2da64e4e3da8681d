import { ExpectedFault } from '../../../base/expected-fault.js'
import type { Client } from '../connection/with-client.js'

/** The lock of `lockKeyChanges`. */
const KEY_CHANGES = '7241865325823966'

interface Within {
  readonly of: string
  readonly options?: string
  /** Runs before the connection acts as `keystride_system`. */
  readonly before?: () => Promise<void>
}

/**
 * Runs `work` in a transaction without limits of time, as `keystride_system`. All transactions of the moves of an organization share a
 * lock, so that the next call after a killed one waits for a commit that is under way. No rotation of the encryption key runs meanwhile.
 */
export async function within<T>(
  client: Client,
  { of, options = '', before }: Within,
  work: () => Promise<T>,
): Promise<T> {
  await client.query(`begin ${options}`)
  try {
    await client.query(
      `select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
         set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true),
         pg_advisory_xact_lock(hashtextextended('keystride mover ${of}', 0)),
         pg_advisory_xact_lock_shared(${KEY_CHANGES})`,
    )
    await before?.()
    await client.query(`select set_config('role', 'keystride_system', true)`)
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {}) // the connection may be lost
    throw error
  }
}

/** Begins a transaction that holds the lock of moves of the organization until the connection ends. */
export async function guard(client: Client, organizationId: string): Promise<void> {
  await client.query('begin')
  await client.query(`select set_config('idle_in_transaction_session_timeout', '0', true)`)
  const { rows } = await client.query<{ free: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('keystride guard ${organizationId}', 0)) as free`,
  )
  if (rows[0]?.free !== true) throw new ExpectedFault('another move of the organization is under way')
}
