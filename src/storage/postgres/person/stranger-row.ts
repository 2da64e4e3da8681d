import type { Transaction } from '../connection/client.js'

/** Ends the tries of strangers at single sign-on. No browser is the person's own until its next sign-in. */
export const forgetStrangers = (sql: Transaction, organizationId: string, memberId: string) => sql`
  update keystride.sso_stranger set typing = '{}', code = '{}', invalid = '{}', owners_from = clock_timestamp()
  where organization_id = ${organizationId} and member_id = ${memberId}`
