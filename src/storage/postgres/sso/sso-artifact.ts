import type { SsoArtifact, SsoArtifactStore } from '../../sso-artifact.js'
import type { Database, Transaction } from '../connection/client.js'

interface ArtifactRow {
  sha256: Uint8Array
  sealed: Uint8Array
  consumed: boolean
}

/** Artifacts of single sign-on in PostgreSQL, for a deployment without Redis. The server's clock keeps the time. */
export const postgresSsoArtifacts = (database: Database): SsoArtifactStore => ({
  put: (organizationId, { kind, sha256, sealed, uidSha256, grantSha256, userRef, lifetimeMs }) =>
    database.keyed(organizationId, async (sql) => {
      await sql`
        insert into keystride.sso_artifact (organization_id, kind, sha256, sealed, uid_sha256, grant_sha256, user_ref, expires_at)
        values (${organizationId}, ${kind}, ${bytes(sha256)}, ${Buffer.from(sealed)}, ${bytes(uidSha256)}, ${bytes(grantSha256)},
          ${userRef}, clock_timestamp() + ${lifetimeMs} * interval '1 millisecond')
        on conflict (organization_id, kind, sha256) do update set sealed = excluded.sealed, uid_sha256 = excluded.uid_sha256,
          grant_sha256 = excluded.grant_sha256, user_ref = excluded.user_ref, expires_at = excluded.expires_at`
    }),

  find: (organizationId, kind, sha256) =>
    database.keyed(organizationId, async (sql) => {
      const rows = await sql<ArtifactRow[]>`
        select sha256, sealed, consumed_at is not null as consumed from keystride.sso_artifact
        where ${live(sql, organizationId, kind)} and sha256 = ${bytes(sha256)}`
      return artifactOf(rows)
    }),

  findByUid: (organizationId, kind, uidSha256) =>
    database.keyed(organizationId, async (sql) => {
      const rows = await sql<ArtifactRow[]>`
        select sha256, sealed, consumed_at is not null as consumed from keystride.sso_artifact
        where ${live(sql, organizationId, kind)} and uid_sha256 = ${bytes(uidSha256)}`
      return artifactOf(rows)
    }),

  consume: (organizationId, kind, sha256) =>
    database.keyed(organizationId, async (sql) => {
      const { count } = await sql`
        update keystride.sso_artifact set consumed_at = clock_timestamp()
        where ${live(sql, organizationId, kind)} and sha256 = ${bytes(sha256)} and consumed_at is null`
      return count === 1
    }),

  end: (organizationId, kind, sha256) =>
    database.keyed(organizationId, async (sql) => {
      await sql`
        delete from keystride.sso_artifact
        where organization_id = ${organizationId} and kind = ${kind} and sha256 = ${bytes(sha256)}`
    }),

  endGrant: (organizationId, grantSha256) =>
    database.keyed(organizationId, async (sql) => {
      await sql`
        delete from keystride.sso_artifact where organization_id = ${organizationId} and grant_sha256 = ${bytes(grantSha256)}`
    }),

  endAll: (organizationId, userRef) =>
    database.keyed(organizationId, async (sql) => {
      await sql`delete from keystride.sso_artifact where organization_id = ${organizationId} and user_ref = ${userRef}`
    }),
})

const live = (sql: Transaction, organizationId: string, kind: string) => sql`
  organization_id = ${organizationId} and kind = ${kind} and expires_at > clock_timestamp()`

const artifactOf = ([row]: ArtifactRow[]): SsoArtifact | null =>
  row === undefined
    ? null
    : {
        sha256: Buffer.from(row.sha256).toString('hex'),
        sealed: new Uint8Array(row.sealed),
        consumed: row.consumed,
      }

const bytes = <T extends string | null>(sha256: T) => (sha256 === null ? null : Buffer.from(sha256, 'hex'))
