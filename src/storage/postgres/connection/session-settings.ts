import { ExpectedFault } from '../../../base/expected-fault.js'
import type { WrongSetting } from '../../inspection.js'

/** Settings that a pooler such as PgBouncer passes on. It refuses a connection that asks for others. */
const PASSED_ON = {
  /** Days are UTC days, and both drivers read the offset of UTC. */
  TimeZone: 'UTC',
  /** Both drivers read times only in this format. */
  DateStyle: 'ISO, MDY',
  /** A backslash in a literal is an ordinary character. */
  standard_conforming_strings: 'on',
}

/**
 * Statements and drivers rely on these settings of a session. Each connection asks for them, so that those of the server, the
 * database and the login do not apply. `keystride migrate` sets those that a pooler does not pass on for the login. Both drivers ask
 * for UTF-8 by themselves. Time-outs, `default_transaction_read_only` and planner settings are the operator's, and nothing relies on
 * `search_path`, `IntervalStyle` or a locale.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  ...PASSED_ON,
  /** The driver of the pools reads no other format. */
  bytea_output: 'hex',
  /** A number is read exactly as it was written. */
  extra_float_digits: '1',
  /** The word `null` in an array that is sent as text is the null value. */
  array_nulls: 'on',
  /** A statement that waited for a row sees the committed row; at other levels it fails. */
  default_transaction_isolation: 'read committed',
  /** With the value `off`, every statement on a table with policies fails. */
  row_security: 'on',
  /** With a value above 0, the search for replayed patterns finds only some of them. */
  gin_fuzzy_search_limit: '0',
}

/** The name of the pools' connections. */
export const APPLICATION_NAME = 'keystride'
/** The name of such a connection during a transaction with long statements, and the name of an export's connection. */
export const LONG_NAME = 'keystride long'
/** The name of other connections apart from the pools. */
export const MAINTENANCE_NAME = 'keystride maintenance'

/** Parameters with which a connection starts. */
export const startParameters = (pooled: boolean, applicationName: string): Readonly<Record<string, string>> => ({
  ...(pooled ? PASSED_ON : SETTINGS),
  application_name: applicationName,
})

/** SQLSTATEs of a pooler that does not accept a parameter. */
const REFUSED = new Set(['08P01', '0A000'])
export const refusesParameters = (error: unknown): boolean =>
  REFUSED.has((error as { code?: string } | null)?.code ?? '')

/** Lists the wrong settings of a session; `ask` runs a statement in it. */
export async function wrongSettings(
  ask: (statement: string) => Promise<readonly { readonly name: string; readonly found: string }[]>,
): Promise<WrongSetting[]> {
  const names = Object.keys(SETTINGS).join()
  const rows = await ask(`select name, current_setting(name) as found from unnest('{${names}}'::text[]) name`)
  return rows
    .map(({ name, found }) => ({ name, found, wanted: SETTINGS[name] ?? '' }))
    .filter(({ found, wanted }) => found !== wanted)
}

/** Advice that ends the sessions that began with earlier settings. */
export const RECONNECT = 'end the connections that the pooler holds (RECONNECT in the console of PgBouncer)'

export function settingsFault(wrong: readonly WrongSetting[]): ExpectedFault {
  const list = wrong.map(({ name, found, wanted }) => `${name} is ${found} instead of ${wanted}`)
  return new ExpectedFault(
    `sessions of the database have other settings than the service needs, and the pooler does not pass them on (${list.join(', ')}): run "keystride migrate", then ${RECONNECT}`,
  )
}
