import type { SsoAccount, SsoAccountStore } from '../../sso-account.js'
import type { Database, Transaction } from '../connection/client.js'

/** Accounts of upstream providers, in PostgreSQL. */
export const postgresSsoAccounts = (database: Database): SsoAccountStore => ({
  refOf: (organizationId, account) =>
    database.keyed(organizationId, async (sql) => {
      const [row] = await sql<{ user_ref: string }[]>`
        select user_ref from keystride.sso_account
        where organization_id = ${organizationId} and issuer = ${account.issuer} and sha256 = ${bytes(account)}`
      return row?.user_ref ?? null
    }),

  standing: (organizationId, account, userRef) =>
    database.keyed(organizationId, (sql) => standing(sql, organizationId, account, userRef)),

  bind: (organizationId, account, userRef, alone) =>
    database.keyed(organizationId, async (sql) => {
      // Two accounts of different issuers violate no constraint.
      await sql`select pg_advisory_xact_lock(hashtextextended(${organizationId} || ' sso_account ' || ${userRef}, 0))`
      const before = await standing(sql, organizationId, account, userRef)
      if (before === 'own') return true
      if (before === null || (before === 'elsewhere' && alone)) return false
      const { count } = await sql`
        insert into keystride.sso_account (organization_id, issuer, sha256, user_ref)
        values (${organizationId}, ${account.issuer}, ${bytes(account)}, ${userRef})
        on conflict do nothing`
      return count === 1 || (await standing(sql, organizationId, account, userRef)) === 'own'
    }),

  release: (organizationId, userRef) =>
    database.keyed(organizationId, async (sql) => {
      const { count } = await sql`
        delete from keystride.sso_account
        where organization_id = ${organizationId} and (${userRef}::text is null or user_ref = ${userRef})`
      return count
    }),
})

async function standing(sql: Transaction, organizationId: string, account: SsoAccount, userRef: string) {
  const rows = await sql<{ user_ref: string; own: boolean; same: boolean }[]>`
    select user_ref, issuer = ${account.issuer} as same,
      issuer = ${account.issuer} and sha256 = ${bytes(account)} as own
    from keystride.sso_account
    where organization_id = ${organizationId}
      and ((issuer = ${account.issuer} and sha256 = ${bytes(account)}) or user_ref = ${userRef})`
  const own = rows.find((row) => row.own)
  if (own !== undefined) return own.user_ref === userRef ? ('own' as const) : null
  if (rows.some(({ same }) => same)) return null
  return rows.length === 0 ? ('free' as const) : ('elsewhere' as const)
}

const bytes = ({ sha256 }: SsoAccount) => Buffer.from(sha256, 'hex')
