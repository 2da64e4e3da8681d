import pg from 'pg'

/** A server that takes writes. */
interface Primary {
  readonly url: string
  /** Counts promotions: of two servers that take writes, the one on the higher timeline was promoted later. */
  readonly timeline: number
}

/** A server that takes longer than this to say what it is counts as away. */
const ASKED_MS = 1000

/**
 * The servers of one connection string, each as a string of its own: `postgres://user@one:5432,two:5432/name` are two. What
 * libpq knows as `target_session_attrs` is left out: the one that takes writes is always wanted.
 */
export function serversOf(url: string): string[] {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/i.exec(url) ?? []
  const at = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(at).split(',')
  if (hosts.length === 1) return [url]
  return hosts.map((host) => {
    const one = new URL(scheme + authority.slice(0, at) + host + rest)
    one.searchParams.delete('target_session_attrs')
    return one.href
  })
}

/**
 * Asks every server at once which of them takes writes; of several it is the one on the highest timeline. Null where none
 * does, or none on `timelineMin` or above: an old primary that comes back is none any more.
 */
export async function findPrimary(servers: readonly string[], timelineMin = 0): Promise<Primary | null> {
  const found = await Promise.all(
    servers.map(async (url) => {
      const timeline = await timelineOf(url).catch(() => null)
      return timeline === null ? null : { url, timeline }
    }),
  )
  const [latest] = found.filter((one) => one !== null).sort((a, b) => b.timeline - a.timeline)
  return latest === undefined || latest.timeline < timelineMin ? null : latest
}

/** Null for a standby. */
async function timelineOf(url: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ASKED_MS, query_timeout: ASKED_MS })
  client.on('error', () => {}) // a lost connection rejects the statement under way; unheard, it would end the process
  try {
    await client.connect()
    // The first eight digits of a segment's name are its timeline.
    const { rows } = await client.query<{ timeline: string | null }>(
      `select case when not pg_is_in_recovery()
         then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    )
    const timeline = rows[0]?.timeline ?? null
    return timeline === null ? null : Number.parseInt(timeline, 16)
  } finally {
    // A server that hangs does not say goodbye.
    void client.end().catch(() => {})
  }
}
