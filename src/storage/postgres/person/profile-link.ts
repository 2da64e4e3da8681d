import type { LinkKind, LinkTask } from '../../../domain/profile-link.js'
import type { ProfileLinkStore, StoredLink } from '../../profile-link.js'
import type { Database, Transaction } from '../connection/client.js'
import { dropCollected } from './link-row.js'
import { lockMember } from './member.js'

/** Largest number of expired links that a sweep deletes. Each new link causes a sweep, so expired links do not accumulate. */
const SWEPT_MAX = 5

interface LinkRow {
  organization_id: string
  id: string
  kind: LinkKind
  aim: LinkTask['aim']
  redirect_uri: string | null
  user_ref: string
  member_ref: string
}

/** Profile links in PostgreSQL. Every writer locks members by id, then links. */
export function postgresProfileLinks(database: Database): ProfileLinkStore {
  return {
    make: (organizationId, link) =>
      database.keyed(organizationId, async (sql) => {
        const { id, memberId, kind, aim, sha256, redirectUri, validityS } = link
        if ((await lockMember(sql, organizationId, memberId)) === null) return false
        const older = await sql<{ id: string; member_id: string }[]>`
          delete from keystride.profile_link
          where organization_id = ${organizationId} and member_id = ${memberId} and kind = ${kind}
          returning id, member_id`
        await dropCollected(sql, organizationId, older)
        await sql`
          insert into keystride.profile_link
            (organization_id, id, member_id, kind, aim, sha256, redirect_uri, expires_at)
          values (${organizationId}, ${id}, ${memberId}, ${kind}, ${aim}, ${sha256}, ${redirectUri},
            clock_timestamp() + make_interval(secs => ${validityS}))`
        return true
      }),

    find: (sha256) =>
      database.call(async (sql) => {
        const [row] = await sql<LinkRow[]>`select * from keystride.find_profile_link(${sha256})`
        return row === undefined ? null : toLink(row)
      }),

    revoke: (organizationId, memberIds) =>
      database.keyed(organizationId, async (sql) => {
        await sql`
          select 1 from keystride.member
          where organization_id = ${organizationId} and id = any (${uuidArray(memberIds)}::uuid[]) order by id for update`
        await end(sql, organizationId, memberIds, { expired: false })
      }),

    sweep: (organizationId) =>
      database.keyed(organizationId, async (sql) => {
        const members = await sql<{ id: string }[]>`
          select m.id from keystride.member m
          where m.organization_id = ${organizationId} and m.id in (
            select l.member_id from keystride.profile_link l
            where l.organization_id = ${organizationId} and l.expires_at < clock_timestamp() limit ${SWEPT_MAX})
          for update skip locked`
        const ids = members.map(({ id }) => id)
        if (ids.length > 0) await end(sql, organizationId, ids, { expired: true })
      }),
  }
}

/** Largest number of links that a transaction of `endEveryLink` ends. */
const ENDED_AT_A_TIME = 1000

/** Ends every link of every organization, with the references that it has collected. Safe only while no process serves. */
export async function endEveryLink(database: Database): Promise<void> {
  const endSome = () =>
    database.asSystem(async (sql) => {
      const gone = await sql<{ organization_id: string; id: string; member_id: string }[]>`
        delete from keystride.profile_link
        where ctid = any (array(select ctid from keystride.profile_link limit ${ENDED_AT_A_TIME}))
        returning organization_id, id, member_id`
      for (const link of gone) await dropCollected(sql, link.organization_id, [link])
      return gone.length
    })
  while ((await endSome()) > 0);
}

/** Ends all links of locked members, or only the expired ones. */
async function end(
  sql: Transaction,
  organizationId: string,
  memberIds: readonly string[],
  { expired }: { readonly expired: boolean },
): Promise<void> {
  const gone = await sql<{ id: string; member_id: string }[]>`
    delete from keystride.profile_link
    where organization_id = ${organizationId} and member_id = any (${uuidArray(memberIds)}::uuid[])
      and (not ${expired} or expires_at < clock_timestamp())
    returning id, member_id`
  await dropCollected(sql, organizationId, gone)
}

/** A PostgreSQL array as text, because the client does not know array types. */
const uuidArray = (ids: readonly string[]): string => `{${ids.join(',')}}`

const toLink = (row: LinkRow): StoredLink => ({
  organizationId: row.organization_id,
  id: row.id,
  kind: row.kind,
  aim: row.aim,
  redirectUri: row.redirect_uri,
  userRef: row.user_ref,
  memberRef: row.member_ref,
})
