import { withClient } from './with-client.js'

/**
 * Whether a pooler such as PgBouncer is between this process and the server. A pooler invents the process id that a new
 * connection receives. Rejects as the driver does.
 */
export async function poolerBetween(url: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // Sound: the driver stores it at the start of the protocol; its types lack it.
    return rows[0]?.pid !== (client as unknown as { processID: number | null }).processID
  })
}
