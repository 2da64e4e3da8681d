import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createClient } from 'redis'
import { freePort } from './service-process.js'

/** A Redis of a test's own, which may be flushed and stopped without anybody else noticing. */
export interface RedisProcess {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  flush(): Promise<void>
  stop(): Promise<void>
}

export const redisIsHere = () => spawnSync('redis-server', ['--version']).status === 0

export async function startRedis(): Promise<RedisProcess> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
  const gone = once(server, 'exit')
  await new Promise<void>((resolve, reject) => {
    server.stdout.on('data', (text: Buffer) => {
      if (text.toString().includes('Ready to accept connections')) resolve()
    })
    gone.then(() => reject(new Error('redis-server ended')), reject)
  })
  const url = `redis://127.0.0.1:${port}`
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return {
    url,
    port,
    process: server,
    async flush() {
      await client.flushAll()
    },
    async stop() {
      client.destroy()
      server.kill('SIGCONT')
      server.kill('SIGKILL')
      await gone
    },
  }
}
