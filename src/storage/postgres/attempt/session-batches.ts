import type { NewSession, Reservation, SessionStore } from '../../session.js'
import { byteaArray, type Database, textArray } from '../connection/client.js'
import { shareStatement } from '../connection/shared-statement.js'
import { accountColumns, type PersonRow, toPerson } from '../person/account-row.js'
import { type PrefixedSetRow, prefixedSetColumns, setOfPrefixed } from '../person/comparison-set.js'
import { memberColumns } from '../person/member.js'
import { type SessionRow, sessionBytes, sessionColumns, toSession } from './session-row.js'

/** Largest number of sessions in one statement. */
const BATCH_MAX = 32
/** While one statement is under way, another one begins with this many calls, because no call waits for a disk. */
const WORTH_ANOTHER = 8

interface Minted extends NewSession {
  readonly organizationId: string
}

/** Implements `mint`: concurrent calls share a statement. */
export function mintTogether(database: Database): SessionStore['mint'] {
  const mint = shareStatement<Minted, null>({
    async run(sessions) {
      await database.call(
        (sql) => sql`
          select keystride.mint_sessions(${listOf(sessions.map(({ organizationId }) => organizationId))}::uuid[],
            ${textArray(sessions.map(({ userRef }) => userRef))}::text[],
            ${byteaArray(sessions.map(({ sha256 }) => sessionBytes(sha256)))}::bytea[],
            ${textArray(sessions.map(({ memberRef }) => memberRef))}::text[],
            ${listOf(sessions.map(({ memberVersion }) => memberVersion ?? null))}::bigint[],
            ${textArray(sessions.map(({ words }) => words ?? null))}::text[],
            ${listOf(sessions.map(({ lifetimeMs }) => lifetimeMs))}::float8[])`,
      )
      return sessions.map(() => null)
    },
    take: (queue) => queue.splice(0, BATCH_MAX),
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })
  return async (organizationId, session) => void (await mint({ organizationId, ...session }))
}

type Reserving = Parameters<SessionStore['reserve']>[3] & {
  readonly organizationId: string
  readonly userRef: string
  readonly sha256: string
}

type ReservedRow = SessionRow &
  PersonRow &
  PrefixedSetRow & { nth: number; outcome: 'reserved' | 'exhausted' | 'empty' | 'absent'; recent: number }

/** Implements `reserve`: concurrent calls share a statement, which also reads the person. */
export function reserveTogether(database: Database): SessionStore['reserve'] {
  const reserve = shareStatement<Reserving, Reservation | null>({
    run: (attempts) => reserveAll(database, attempts),
    take: (queue) => queue.splice(0, BATCH_MAX),
    worthWaitingFor: BATCH_MAX,
    worthAnother: WORTH_ANOTHER,
  })
  return (organizationId, userRef, sha256, attempt) => reserve({ organizationId, userRef, sha256, ...attempt })
}

const reserveAll = (database: Database, attempts: readonly Reserving[]): Promise<(Reservation | null)[]> =>
  database.call(async (sql) => {
    const rows = await sql<ReservedRow[]>`
      select r.nth, r.outcome, r.recent, ${sessionColumns(sql)}, ${accountColumns(sql)}, ${memberColumns(sql)},
        ${prefixedSetColumns(sql)}
      from keystride.reserve_attempts(${listOf(attempts.map(({ organizationId }) => organizationId))}::uuid[],
        ${textArray(attempts.map(({ userRef }) => userRef))}::text[],
        ${byteaArray(attempts.map(({ sha256 }) => sessionBytes(sha256)))}::bytea[],
        ${listOf(attempts.map(({ kind }) => kind === 'biometric'))}::boolean[],
        ${listOf(attempts.map(({ budget }) => budget))}::int[],
        ${listOf(attempts.map(({ withPerson = false }) => withPerson))}::boolean[]) r,
        lateral (select (r.found_session).*) session, lateral (select (r.found_account).*) a,
        lateral (select (r.found_member).*) m, lateral (select (r.found_set).*) s`
    const found = new Map(rows.map((row) => [row.nth, row]))
    const answers = attempts.map(({ withPerson = false }, i) => reservationOf(found.get(i + 1), withPerson))
    // Otherwise the rows stay in memory after the call, for the reason given at `ask`.
    rows.length = 0
    return answers
  })

function reservationOf(row: ReservedRow | undefined, withPerson: boolean): Reservation | null {
  if (row === undefined || row.outcome === 'absent') return null
  const { outcome } = row
  const session = toSession(row)
  if (outcome !== 'reserved') return { outcome, session }
  const person = withPerson ? toPerson(row) : null
  const read = person === null ? {} : { person: { read: { ...person, comparisonSet: setOfPrefixed(row) } } }
  return { outcome, session, nth: row.recent, ...read }
}

const listOf = (values: readonly (string | number | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join()}}`
