import { ExpectedFault } from '../../../base/expected-fault.js'
import { RECONNECT, wrongSettings } from '../connection/session-settings.js'
import type { Client } from '../connection/with-client.js'
import { SCHEMA_LOCK } from './table-locks.js'

/**
 * Sets the settings that a pooler did not pass on as defaults of the login in this database, which the login itself may do. Then
 * throws an error for the operator, because connections of the pooler keep the settings with which they began. Changes nothing if
 * the session is right.
 */
export async function requireLoginSettings(client: Client): Promise<void> {
  const wrong = await wrongSettings(async (statement) => (await client.query(statement)).rows)
  if (wrong.length === 0) return
  const { rows } = await client.query<{ statement: string }>(
    `select format('alter role session_user in database %I set %I to %L', current_database(), name, wanted) as statement
     from unnest($1::text[], $2::text[]) wrong (name, wanted)`,
    [wrong.map(({ name }) => name), wrong.map(({ wanted }) => wanted)],
  )
  const all = rows.map(({ statement }) => statement).join('; ')
  await client.query(`begin; select pg_advisory_xact_lock(${SCHEMA_LOCK}); ${all}; commit`)
  const names = wrong.map(({ name }) => name).join(', ')
  throw new ExpectedFault(
    `the pooler does not pass on ${names}, which the server sets otherwise than the service needs. They are set for the login now: ${RECONNECT}, and run this again`,
  )
}
