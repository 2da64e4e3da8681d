import type { LanguageMode, Organization } from '../../domain/organization.js'
import { Policy } from '../../domain/policy.js'
import type { OrganizationStore } from '../organization.js'
import type { Database } from './client.js'

interface OrganizationRow {
  organization_id: string
  name: string
  default_language: string
  language_mode: LanguageMode
  created_at: Date
}

/** Organizations in PostgreSQL. `create` and `list` are administration and act as `keystride_system`. */
export function postgresOrganizations(database: Database): OrganizationStore {
  return {
    create: (organization) =>
      database.asSystem(async (sql) => {
        const { id, name, wrappedKey, policyId, policy } = organization
        const createdAt = new Date(organization.createdAt)
        await sql`
          insert into keystride.organization (organization_id, name, wrapped_key, created_at)
          values (${id}, ${name}, ${wrappedKey}, ${createdAt})`
        await sql`
          insert into keystride.policy (organization_id, id, is_default, policy, created_at)
          values (${id}, ${policyId}, true, ${sql.json(policy)}, ${createdAt})`
      }),

    list: () =>
      database.asSystem(async (sql) => {
        const rows = await sql<OrganizationRow[]>`
          select organization_id, name, default_language, language_mode, created_at
          from keystride.organization order by created_at, organization_id`
        return rows.map(toOrganization)
      }),

    find: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<OrganizationRow[]>`
          select organization_id, name, default_language, language_mode, created_at
          from keystride.organization where organization_id = ${organizationId}`
        return row === undefined ? null : toOrganization(row)
      }),

    wrappedKey: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ wrapped_key: Uint8Array }[]>`
          select wrapped_key from keystride.organization where organization_id = ${organizationId}`
        return row?.wrapped_key ?? null
      }),

    headcount: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ accounts: number; generic: number; users: number }[]>`
          select count(*)::int as accounts, (count(*) filter (where type = 'generic'))::int as generic,
            (select count(*)::int from keystride.member where organization_id = ${organizationId}) as users
          from keystride.account where organization_id = ${organizationId}`
        return { nAccounts: row?.accounts ?? 0, nAccountsGeneric: row?.generic ?? 0, nUsers: row?.users ?? 0 }
      }),

    defaultPolicy: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<{ id: string; policy: unknown }[]>`
          select id, policy from keystride.policy where organization_id = ${organizationId} and is_default`
        return row === undefined ? null : { id: row.id, policy: Policy.parse(row.policy) }
      }),
  }
}

function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.organization_id,
    name: row.name,
    defaultLanguage: row.default_language,
    languageMode: row.language_mode,
    createdAt: row.created_at.getTime(),
  }
}
