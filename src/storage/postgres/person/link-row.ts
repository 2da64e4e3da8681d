import { linkOwner } from '../../../domain/profile-link.js'
import type { Transaction } from '../connection/client.js'
import { noSuccessor } from './member.js'

interface Owner {
  readonly organizationId: string
  readonly memberId: string
}

// Links are created, used and ended only under the lock of the member's row, which every caller holds.

/** Whether the member has this link and it has not expired. */
export async function isLive(sql: Transaction, { organizationId, memberId }: Owner, linkId: string): Promise<boolean> {
  const rows = await sql`
    select 1 from keystride.profile_link
    where organization_id = ${organizationId} and member_id = ${memberId} and id = ${linkId}
      and expires_at > clock_timestamp()`
  return rows.length > 0
}

/** Ends a link whose profile is complete. */
export async function endLink(sql: Transaction, { organizationId, memberId }: Owner, linkId: string): Promise<void> {
  await sql`
    delete from keystride.profile_link
    where organization_id = ${organizationId} and member_id = ${memberId} and id = ${linkId}`
}

/** Ends every link of the member, with the references that it has collected. */
export async function endLinks(sql: Transaction, { organizationId, memberId }: Owner): Promise<void> {
  const gone = await sql<{ id: string; member_id: string }[]>`
    delete from keystride.profile_link
    where organization_id = ${organizationId} and member_id = ${memberId} returning id, member_id`
  await dropCollected(sql, organizationId, gone)
}

/** Deletes the references that deleted links have collected for a new profile. The current profile is unchanged. */
export async function dropCollected(
  sql: Transaction,
  organizationId: string,
  gone: readonly { readonly id: string; readonly member_id: string }[],
): Promise<void> {
  for (const { id, member_id: memberId } of gone) {
    const [row] = await sql<{ generation: number }[]>`
      update keystride.member set ${noSuccessor(sql)}
      where organization_id = ${organizationId} and id = ${memberId} and successor_owner = ${linkOwner(id)}
      returning generation`
    if (row === undefined) continue
    await sql`
      delete from keystride.reference_pattern
      where organization_id = ${organizationId} and member_id = ${memberId} and generation > ${row.generation}`
  }
}
