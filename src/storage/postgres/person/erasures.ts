import type { Erasure, ErasureOutcome, ErasureStore } from '../../erasures.js'
import { type Database, NIL, type Transaction } from '../connection/client.js'
import { degraded } from '../connection/errors.js'
import { eraseMember, eraseUser } from './erasure.js'

interface ErasureRow {
  organization_id: string
  id: string
  at: Date
  of: Erasure['of']
  person: Buffer
}

/** Time-out of the erasures, for which no sign-in waits. */
const PATIENT = { statementMs: 60_000 }

/** Erasures in PostgreSQL, which the transactions that erase write. */
export function postgresErasures(database: Database): ErasureStore {
  return {
    list: (after, limit) =>
      database.asSystem(async (sql) => {
        const rows = await sql<ErasureRow[]>`
          select organization_id, id, at, of, person from keystride.erasure
          where (organization_id, id) > (${after?.organizationId ?? NIL}, ${after?.id ?? NIL})
          order by organization_id, id limit ${limit}`
        return rows.map(toErasure)
      }),

    async again(organizationId, erasures) {
      const found = await database.scoped(organizationId, (sql) => knownOf(sql, organizationId, erasures), PATIENT)
      const outcomes: ErasureOutcome[] = []
      for (const erasure of erasures) {
        const target = found?.people.get(`${erasure.of} ${erasure.person}`) ?? null
        const eraseOne = (sql: Transaction) => eraseAgain(sql, organizationId, target, erasure)
        if (found === null) outcomes.push('foreign')
        else if (found.known.has(erasure.id)) outcomes.push('known')
        else outcomes.push(await database.scoped(organizationId, eraseOne, PATIENT))
      }
      return outcomes
    },
  }
}

/** The person of an erasure. */
interface PersonToErase {
  readonly accountId: string
  readonly userRef: string
  /** Unused for the erasure of an account. */
  readonly memberId: string
}

interface KnownErasures {
  readonly known: ReadonlySet<string>
  /** People by kind and hash. */
  readonly people: ReadonlyMap<string, PersonToErase>
}

/** The ids of the known erasures, and the people whom the erasures name; null if there is no such organization. */
async function knownOf(
  sql: Transaction,
  organizationId: string,
  erasures: readonly Erasure[],
): Promise<KnownErasures | null> {
  const ids = `{${erasures.map(({ id }) => id).join(',')}}`
  const hashes = `{${erasures.map(({ person }) => `"\\\\x${person}"`).join(',')}}`
  const here = await sql`select from keystride.organization where organization_id = ${organizationId}`
  if (here.count === 0) return null
  const known = await sql<{ id: string }[]>`
    select id from keystride.erasure where organization_id = ${organizationId} and id = any (${ids}::uuid[])`
  const people = await sql<{ key: string; account_id: string; user_ref: string; member_id: string }[]>`
    select p.of || ' ' || encode(p.person, 'hex') as key, p.account_id, p.user_ref, p.member_id
    from (
      select 'account' as of, sha256(uuid_send(a.id)) as person, a.id as account_id, a.user_ref, a.id as member_id
      from keystride.account a where a.organization_id = ${organizationId}
      union all
      select 'member', sha256(uuid_send(m.id)), a.id, a.user_ref, m.id
      from keystride.member m join keystride.account a
        on a.organization_id = m.organization_id and a.id = m.account_id
      where m.organization_id = ${organizationId}) p
    where p.person in (select unnest(${hashes}::text::bytea[]))`
  return {
    known: new Set(known.map(({ id }) => id)),
    people: new Map(
      people.map((row) => [row.key, { accountId: row.account_id, userRef: row.user_ref, memberId: row.member_id }]),
    ),
  }
}

async function eraseAgain(
  sql: Transaction,
  organizationId: string,
  target: PersonToErase | null,
  { id, at, of, person }: Erasure,
): Promise<ErasureOutcome> {
  const noted = await sql`
    insert into keystride.erasure (organization_id, id, at, of, person)
    values (${organizationId}, ${id}, ${new Date(at)}, ${of}, ${Buffer.from(person, 'hex')})
    on conflict do nothing`
  if (noted.count === 0) return 'known'
  if (target === null) return 'absent'
  const { accountId, userRef, memberId } = target
  const held = await sql`
    select from keystride.account
    where organization_id = ${organizationId} and id = ${accountId} and user_ref = ${userRef} for update`
  if (held.count === 0) throw degraded('the accounts were changed meanwhile')
  if (of === 'account') await eraseUser(sql, organizationId, accountId, userRef)
  else await eraseMember(sql, organizationId, { userRef, memberId, at: new Date(at) })
  return 'erased'
}

const toErasure = (row: ErasureRow): Erasure => ({
  organizationId: row.organization_id,
  id: row.id,
  at: row.at.getTime(),
  of: row.of,
  person: row.person.toString('hex'),
})
