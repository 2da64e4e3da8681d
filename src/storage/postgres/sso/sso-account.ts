import type { SsoAccount, SsoAccountStore } from '../../sso-account.js'
import type { Database, Transaction } from '../connection/client.js'

/** Accounts of upstream providers, in PostgreSQL. */
export const postgresSsoAccounts = (database: Database): SsoAccountStore => ({
  refFor: (organizationId, account, userRef) =>
    database.keyed(organizationId, (sql) => refFor(sql, organizationId, account, userRef)),

  bind: (organizationId, account, userRef) =>
    database.keyed(organizationId, async (sql) => {
      await sql`
        insert into keystride.sso_account (organization_id, issuer, sha256, user_ref)
        values (${organizationId}, ${account.issuer}, ${bytes(account)}, ${userRef})
        on conflict do nothing`
      return (await refFor(sql, organizationId, account, userRef)) === userRef
    }),

  release: (organizationId, userRef) =>
    database.keyed(organizationId, async (sql) => {
      const { count } = await sql`
        delete from keystride.sso_account
        where organization_id = ${organizationId} and (${userRef}::text is null or user_ref = ${userRef})`
      return count
    }),
})

async function refFor(sql: Transaction, organizationId: string, account: SsoAccount, userRef: string) {
  const rows = await sql<{ user_ref: string; own: boolean }[]>`
    select user_ref, sha256 = ${bytes(account)} as own from keystride.sso_account
    where organization_id = ${organizationId} and issuer = ${account.issuer}
      and (sha256 = ${bytes(account)} or user_ref = ${userRef})`
  const own = rows.find((row) => row.own)
  if (own !== undefined) return own.user_ref
  return rows.length === 0 ? userRef : null
}

const bytes = ({ sha256 }: SsoAccount) => Buffer.from(sha256, 'hex')
