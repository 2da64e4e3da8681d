import pg from 'pg'

/**
 * Whether a pooler such as PgBouncer is between this process and the server: a pooler invents the process id that a new
 * connection receives. Rejects as the driver does.
 */
export async function poolerBetween(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {}) // a lost connection rejects the statement under way; without a listener, it would end the process
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // Sound: from the protocol's start; the driver's types lack it.
    return rows[0]?.pid !== (client as unknown as { processID: number | null }).processID
  } finally {
    await client.end()
  }
}
