import type { KeyRate } from '../../../domain/key-rate.js'
import type { LanguageMode, Organization, Quotas } from '../../../domain/organization.js'
import type { License, OrganizationStore } from '../../organization.js'
import type { Database } from '../connection/client.js'
import { deleteOrganization } from './delete-organization.js'
import { lockKeyChanges } from './wrapped-key.js'

/** The rate of an organization's keys. Both columns are null, or neither is. */
export interface KeyRateRow {
  key_rate: number | null
  key_burst: number | null
}

interface OrganizationRow extends KeyRateRow {
  organization_id: string
  name: string
  default_language: string
  language_mode: LanguageMode
  words_version: number
  redirect_origins: string[]
  created_at: Date
}

interface LicenseRow {
  quota_mode: Quotas['mode']
  quota_accounts: number
  quota_shared_accounts: number
  quota_members: number
  n_accounts: number
  n_accounts_generic: number
  n_users: number
}

/**
 * Organizations in PostgreSQL. `create`, `list`, `delete`, `rename` and the methods that set quotas, origins and rates are
 * administration and act as `keystride_system`.
 */
export function postgresOrganizations(database: Database): OrganizationStore {
  return {
    create: (organization) =>
      database.asSystem(async (sql) => {
        const { id, name, policyId, policy } = organization
        const createdAt = new Date(organization.createdAt)
        await lockKeyChanges(sql)
        await sql`
          insert into keystride.organization (organization_id, name, wrapped_key, created_at)
          values (${id}, ${name}, ${organization.wrapKey()}, ${createdAt})`
        await sql`
          insert into keystride.policy (organization_id, id, is_default, policy, created_at)
          values (${id}, ${policyId}, true, ${sql.json(policy)}, ${createdAt})`
      }),

    list: () =>
      database.asSystem(async (sql) => {
        const rows = await sql<OrganizationRow[]>`
          select organization_id, name, default_language, language_mode, words_version, redirect_origins, key_rate, key_burst, created_at
          from keystride.organization order by created_at, organization_id`
        return rows.map(toOrganization)
      }),

    find: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<OrganizationRow[]>`
          select organization_id, name, default_language, language_mode, words_version, redirect_origins, key_rate, key_burst, created_at
          from keystride.organization where organization_id = ${organizationId}`
        return row === undefined ? null : toOrganization(row)
      }),

    delete: (organizationId) => deleteOrganization(database, organizationId),

    rename: (organizationId, name) =>
      database.asSystem(async (sql) => {
        const { count } = await sql`
          update keystride.organization set name = ${name} where organization_id = ${organizationId}`
        return count === 1
      }),

    setLanguage: (organizationId, { defaultLanguage, languageMode }) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<OrganizationRow[]>`
          update keystride.organization set default_language = coalesce(${defaultLanguage}, default_language),
            language_mode = coalesce(${languageMode}, language_mode)
          where organization_id = ${organizationId}
          returning organization_id, name, default_language, language_mode, words_version, redirect_origins, key_rate, key_burst, created_at`
        return row === undefined ? null : toOrganization(row)
      }),

    license: (organizationId) =>
      database.scoped(organizationId, async (sql) => {
        const [row] = await sql<LicenseRow[]>`
          select o.quota_mode, o.quota_accounts, o.quota_shared_accounts, o.quota_members, h.n_accounts,
            h.n_accounts_generic, h.n_users_nominative + h.n_users_generic as n_users
          from keystride.organization o, keystride.headcount_now(o.organization_id) h
          where o.organization_id = ${organizationId}`
        return row === undefined ? null : toLicense(row)
      }),

    setQuotas: (organizationId, { mode, accounts, sharedAccounts, membersPerSharedAccount }) =>
      database.asSystem(async (sql) => {
        const { count } = await sql`
          update keystride.organization set quota_mode = ${mode}, quota_accounts = ${accounts},
            quota_shared_accounts = ${sharedAccounts}, quota_members = ${membersPerSharedAccount}
          where organization_id = ${organizationId}`
        return count === 1
      }),

    setRedirectOrigins: (organizationId, origins) =>
      database.asSystem(async (sql) => {
        const { count } = await sql`
          update keystride.organization set redirect_origins = ${JSON.stringify(origins)}::text::jsonb
          where organization_id = ${organizationId}`
        return count === 1
      }),

    setKeyRate: (organizationId, rate) =>
      database.asSystem(async (sql) => {
        const { count } = await sql`
          update keystride.organization set key_rate = ${rate?.perSecond ?? null}, key_burst = ${rate?.burst ?? null}
          where organization_id = ${organizationId}`
        return count === 1
      }),
  }
}

export const toKeyRate = ({ key_rate, key_burst }: KeyRateRow): KeyRate | null =>
  key_rate === null || key_burst === null ? null : { perSecond: key_rate, burst: key_burst }

function toLicense(row: LicenseRow): License {
  return {
    quotas: {
      mode: row.quota_mode,
      accounts: row.quota_accounts,
      sharedAccounts: row.quota_shared_accounts,
      membersPerSharedAccount: row.quota_members,
    },
    headcount: { nAccounts: row.n_accounts, nAccountsGeneric: row.n_accounts_generic, nUsers: row.n_users },
  }
}

function toOrganization(row: OrganizationRow): Organization {
  return {
    id: row.organization_id,
    name: row.name,
    defaultLanguage: row.default_language,
    languageMode: row.language_mode,
    wordsVersion: row.words_version,
    redirectOrigins: row.redirect_origins,
    keyRate: toKeyRate(row),
    createdAt: row.created_at.getTime(),
  }
}
