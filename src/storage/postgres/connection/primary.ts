import { connectClient } from './with-client.js'

/** A server that takes writes. */
interface Primary {
  readonly url: string
  /** Counts promotions. If two servers take writes, the one on the higher timeline was promoted later. */
  readonly timeline: number
}

/** A server that does not report its role within this time counts as unreachable. */
const ASKED_MS = 1000

/**
 * The servers of one connection string, each as its own string: `postgres://user@one:5432,two:5432/name` are two. Removes
 * libpq's `target_session_attrs`, because the server that takes writes is always used.
 */
export function serversOf(url: string): string[] {
  const [, scheme = '', authority = '', rest = ''] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/i.exec(url) ?? []
  const at = authority.lastIndexOf('@') + 1
  const hosts = authority.slice(at).split(',')
  if (hosts.length === 1) return [url]
  return hosts.map((host) => {
    const one = new URL(scheme + authority.slice(0, at) + host + rest)
    one.searchParams.delete('target_session_attrs')
    // libpq reads no plus as a space.
    one.search = one.search.replaceAll('+', '%20')
    return one.href
  })
}

/** A server's answer to the question whether it takes writes. */
interface ServerAnswer {
  readonly url: string
  /** The timeline of a server that takes writes, null for a standby, or the error if there is no answer. */
  readonly answer: number | null | Error
}

/** Asks all servers concurrently whether they take writes. */
export async function askServers(servers: readonly string[]): Promise<ServerAnswer[]> {
  return await Promise.all(
    servers.map(async (url) => ({ url, answer: await timelineOf(url).catch((error: Error) => error) })),
  )
}

/**
 * The server that takes writes, or the one on the highest timeline if there are several. Null if there is none on `timelineMin` or
 * above, so that an old primary that returns does not count.
 */
export function primaryAmong(asked: readonly ServerAnswer[], timelineMin = 0): Primary | null {
  const [latest] = asked
    .flatMap(({ url, answer }) => (typeof answer === 'number' ? [{ url, timeline: answer }] : []))
    .sort((a, b) => b.timeline - a.timeline)
  return latest === undefined || latest.timeline < timelineMin ? null : latest
}

export const findPrimary = async (servers: readonly string[], timelineMin = 0): Promise<Primary | null> =>
  primaryAmong(await askServers(servers), timelineMin)

/** The timeline of a server; null for a standby. */
async function timelineOf(url: string): Promise<number | null> {
  const client = await connectClient(url, { connectMs: ASKED_MS, queryMs: ASKED_MS })
  try {
    // The first eight digits of a segment's name are its timeline.
    const { rows } = await client.query<{ timeline: string | null }>(
      `select case when not pg_is_in_recovery()
         then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`,
    )
    const timeline = rows[0]?.timeline ?? null
    return timeline === null ? null : Number.parseInt(timeline, 16)
  } finally {
    // Not awaited, because a hanging server never closes.
    void client.end().catch(() => {})
  }
}

interface Writer {
  /** Connection string of the server that was last found to take writes. */
  url(): string
  /** Searches for the server that takes writes, unless a search is running or there is only one server. */
  seek(): Promise<void>
  stop(): void
}

/**
 * Follows the server that takes writes among several; `onMove` is called when another server takes them. The driver's own support
 * for several hosts reconnects without a delay while none takes writes, and accepts a standby for `read-write` (postgres 3.4.9).
 */
export function followWriter(
  servers: readonly string[],
  first: string,
  log: (line: string) => void,
  onMove: () => void,
): Writer {
  let url = first
  let seeking = false
  let stopped = false
  /** The highest timeline found. */
  let timeline = 0
  return {
    url: () => url,
    async seek() {
      if (servers.length === 1 || seeking) return
      seeking = true
      const found = await findPrimary(servers, timeline)
      seeking = false
      if (found === null || stopped) return
      timeline = found.timeline
      if (found.url === url) return
      url = found.url
      log(`postgres: ${new URL(url).host} takes the writes now`)
      onMove()
    },
    stop() {
      stopped = true
    },
  }
}
