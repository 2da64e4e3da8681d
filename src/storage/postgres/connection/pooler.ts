import { withClient } from './with-client.js'

/**
 * Whether a pooler such as PgBouncer is between this process and the server: a pooler invents the process id that a new
 * connection receives. Rejects as the driver does.
 */
export async function poolerBetween(url: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // Sound: from the protocol's start; the driver's types lack it.
    return rows[0]?.pid !== (client as unknown as { processID: number | null }).processID
  })
}
