import { Policy } from '../../../domain/policy.js'
import type { PolicyRecord, PolicyStore } from '../../policies.js'
import type { Database, Transaction } from '../connection/client.js'

interface PolicyRow {
  id: string
  policy: unknown
  groups: string[]
  is_default: boolean
  is_shadow: boolean
  created_at: Date
  updated_at: Date | null
  archived_at: Date | null
}

/** Policies in PostgreSQL. */
export function postgresPolicies(database: Database): PolicyStore {
  return {
    list: (organizationId, archived) =>
      database.scoped(organizationId, async (sql) => {
        const rows = await sql<PolicyRow[]>`
          select ${columns(sql)} from keystride.policy
          where organization_id = ${organizationId} and (${archived} or archived_at is null) order by created_at, id`
        return rows.map(toRecord)
      }),

    find: (organizationId, id) =>
      database.scoped(organizationId, async (sql) =>
        first(
          await sql<PolicyRow[]>`
          select ${columns(sql)} from keystride.policy where organization_id = ${organizationId} and id = ${id}`,
        ),
      ),

    create: (organizationId, id, { policy, groups }, at) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<PolicyRow[]>`
          insert into keystride.policy (organization_id, id, policy, groups, created_at)
          values (${organizationId}, ${id}, ${json(policy)}::text::jsonb, ${json(groups)}::text::jsonb, ${new Date(at)})
          returning ${columns(sql)}`
        if (row === undefined) throw new Error('an inserted policy came back without its row')
        return toRecord(row)
      }),

    update: (organizationId, id, { policy, groups }, at) =>
      database.scoped(organizationId, async (sql) =>
        first(
          await sql<PolicyRow[]>`
          update keystride.policy set policy = ${json(policy)}::text::jsonb, groups = ${json(groups)}::text::jsonb,
            updated_at = ${new Date(at)}
          where organization_id = ${organizationId} and id = ${id} and archived_at is null returning ${columns(sql)}`,
        ),
      ),

    archive: (organizationId, id, at) =>
      database.scoped(organizationId, async (sql) => {
        const { count } = await sql`
          update keystride.policy set archived_at = ${new Date(at)}, is_shadow = false
          where organization_id = ${organizationId} and id = ${id} and not is_default and archived_at is null`
        return count === 1
      }),

    makeDefault: (organizationId, id) =>
      database.scoped(organizationId, async (sql) => {
        if (!(await lockLive(sql, organizationId, id))) return null
        await sql`
          update keystride.policy set is_default = false
          where organization_id = ${organizationId} and is_default and id <> ${id}`
        return first(
          await sql<PolicyRow[]>`
          update keystride.policy set is_default = true where organization_id = ${organizationId} and id = ${id}
          returning ${columns(sql)}`,
        )
      }),

    setShadow: (organizationId, id, on) =>
      database.scoped(organizationId, async (sql) => {
        if (!(await lockLive(sql, organizationId, id))) return null
        if (on)
          await sql`
            update keystride.policy set is_shadow = false
            where organization_id = ${organizationId} and is_shadow and id <> ${id}`
        return first(
          await sql<PolicyRow[]>`
          update keystride.policy set is_shadow = ${on} where organization_id = ${organizationId} and id = ${id}
          returning ${columns(sql)}`,
        )
      }),
  }
}

/** Locks all policies of the organization in one order, and returns whether this one is live. */
async function lockLive(sql: Transaction, organizationId: string, id: string): Promise<boolean> {
  const rows = await sql<{ id: string; live: boolean }[]>`
    select id, archived_at is null as live from keystride.policy
    where organization_id = ${organizationId} order by id for update`
  return rows.some((row) => row.id === id && row.live)
}

const columns = (sql: Transaction) => sql`
  id, policy, groups, is_default, is_shadow, created_at, updated_at, archived_at`

const json = (value: unknown): string => JSON.stringify(value)

const first = ([row]: readonly PolicyRow[]): PolicyRecord | null => (row === undefined ? null : toRecord(row))

const toRecord = (row: PolicyRow): PolicyRecord => ({
  id: row.id,
  policy: Policy.parse(row.policy),
  groups: row.groups,
  isDefault: row.is_default,
  isShadow: row.is_shadow,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at?.getTime() ?? null,
  archivedAt: row.archived_at?.getTime() ?? null,
})
