import { appendFileSync } from 'node:fs'
import { it } from 'vitest'
import { startOwnPostgres, startOwnRedis } from '../harness/stores.js'

it('never ends, with two servers of its own', { timeout: 0 }, async () => {
  await Promise.all([startOwnRedis(), startOwnPostgres()])
  appendFileSync(process.env.INTERRUPTED_FILE ?? '', `${process.pid}\n`)
  await new Promise(() => {})
})
