import cluster from 'node:cluster'
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'

/**
 * Runs a peer in cluster mode, one worker a core, and prints the port when all listen. `worker` makes the server and is called
 * only in the workers. Settings: PROCESSES.
 */
export async function runWorkers(worker: () => Promise<FastifyInstance>): Promise<void> {
  if (!cluster.isPrimary) {
    const app = await worker()
    await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
    return
  }
  const processes = Number(process.env.PROCESSES ?? '1')
  const port = await freePort()
  let listening = 0
  cluster.on('listening', () => {
    if (++listening === processes) process.stdout.write(`${port}\n`)
  })
  for (let i = 0; i < processes; i++) cluster.fork({ PORT: String(port) })
  process.on('SIGTERM', () => {
    for (const one of Object.values(cluster.workers ?? {})) one?.process.kill()
    cluster.on('exit', () => Object.keys(cluster.workers ?? {}).length === 0 && process.exit(0))
  })
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')
