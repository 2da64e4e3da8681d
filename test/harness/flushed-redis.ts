import { spawnSync } from 'node:child_process'
import { createClient } from '@redis/client'
import { startOwnRedis } from './stores.js'

/** A Redis of a test. A flush is one cheap command, so that it can run every few milliseconds. */
export interface FlushedRedis {
  readonly url: string
  readonly port: number
  flush(): Promise<void>
  /** Sets the expiry of every key, ms from now. */
  expireAll(inMs: number): Promise<void>
  stop(): Promise<void>
}

export const redisIsHere = () => spawnSync('redis-server', ['--version']).status === 0

export async function startFlushedRedis(): Promise<FlushedRedis> {
  const own = await startOwnRedis()
  const url = `redis://127.0.0.1:${own.port}`
  const client = createClient({ url })
  client.on('error', () => {})
  await client.connect()
  return {
    url,
    port: own.port,
    async flush() {
      await client.flushAll()
    },
    async expireAll(inMs) {
      for (const key of await client.keys('*')) await client.pExpire(key, inMs)
    },
    async stop() {
      client.destroy()
      await own.close()
    },
  }
}
