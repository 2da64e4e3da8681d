import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { readByContract } from '../../src/scoring/read-pattern.js'
import { sampleBytes } from '../../src/scoring/sample.js'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { migrate } from '../../src/storage/postgres/schema/migrate.js'
import { person } from '../../src/typist/made-up-person.js'
import { figure, LONG } from '../harness/figure.js'
import { redisIsHere } from '../harness/flushed-redis.js'
import { until } from '../harness/patience.js'
import { startService, type TestService } from '../harness/service.js'
import { type OwnPostgres, type OwnRedis, startOwnPostgres, startOwnRedis } from '../harness/stores.js'
import { needlesOf } from './needles.js'
import { redisAsBytes, rowsAsText } from './stores-text.js'

/** Each has five references and one sign-in. */
const PEOPLE = LONG ? 170 : 5
const CODE = '749205'

describe('a stolen backup', { timeout: 1_200_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-stolen-'))
  let server: OwnPostgres
  let redis: OwnRedis | null = null
  let service: TestService
  let database: Database
  beforeAll(async () => {
    server = await startOwnPostgres(folder)
    redis = redisIsHere() ? await startOwnRedis() : null
    await migrate(server.url)
    const redisUrl = redis === null ? null : `redis://127.0.0.1:${redis.port}`
    service = await startService(server.url, { redisUrl, more: { LOG_LEVEL: 'silent' } })
    database = connectPostgres({ url: server.url, max: 2, patience: 10 })
  })
  afterAll(async () => {
    await database.close()
    await service.close()
    await redis?.close()
    await server.close()
  })

  const random = seededRandom(31)
  /** A text that occurs nowhere else, so that a match is a leak. */
  const newText = () =>
    Array.from({ length: 9 }, () =>
      Array.from({ length: 5 }, () => 'abcdefghijklmnopqrstuvwxyz'[Math.floor(random() * 26)]).join(''),
    ).join(' ')
  /** Eight consecutive press times, float32, as in a stored pattern. */
  const timesOf = (body: unknown): Buffer => {
    const read = readByContract(new TextEncoder().encode(JSON.stringify(body)))
    if (!read.ok) throw new Error(read.message)
    const begin = sampleBytes(read.nKeydowns) - 8 * read.nKeydowns + 4 * 5
    return Buffer.from(read.sample.subarray(begin, begin + 32))
  }

  const well = () => until(async () => (await service.call('GET', '/status')).json.status === 'OK')

  /** Every file in the data folder of PostgreSQL, its write-ahead log included, and the snapshot of Redis. */
  async function files(): Promise<string[]> {
    // A kill and a recovery write everything to the disk that was only in memory.
    await server.kill()
    await server.restart()
    await well()
    const place = join(folder, 'postgres')
    const all = readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => join(place, name))
    if (redis === null) return all
    await redis.cli('save')
    const [, where = ''] = (await redis.cli('config', 'get', 'dir')).split('\n')
    const snapshot = join(where, 'dump.rdb')
    expect(existsSync(snapshot)).toBe(true)
    return [...all, snapshot]
  }

  it('reveals neither what a person types nor how', async () => {
    const needles = new Map<string, Buffer>()
    let patterns = 0
    const known = (userRef: string, text: string, body: { kevt: unknown[] }) => {
      patterns++
      needles.set(`text ${patterns} of ${userRef}`, Buffer.from(text))
      needles.set(`times ${patterns} of ${userRef}`, timesOf(body))
      needles.set(`events ${patterns} of ${userRef}`, Buffer.from(JSON.stringify(body.kevt.slice(8, 10)).slice(1, -1)))
    }
    for (let n = 0; n < PEOPLE; n++) {
      const userRef = `kept-${n}`
      const who = person(31_000 + n)
      await service.call('POST', `/users/${userRef}`)
      const { session } = await service.bootstrap(userRef)
      for (let stored = 0, i = 0; stored < 5; i++) {
        const text = newText()
        const body = who.types(text, i)
        const { status } = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
        known(userRef, text, body)
        if (status === 200) stored++
      }
      await service.call('PUT', `/users/${userRef}/security-code`, { session, body: { securityCode: CODE } })
      const text = newText()
      const body = who.types(text, 99)
      await service.call('POST', `/users/${userRef}/verify`, { session, body })
      known(userRef, text, body)
    }
    // A name in plain text, which the scan must find.
    needles.set('a name', Buffer.from('kept-0'))
    const asText = new Map([...needles].map(([name, bytes]) => [name, Buffer.from(bytes.toString('hex'))]))
    const [raw, hex] = [needlesOf(needles), needlesOf(asText)]

    const rows = await rowsAsText(database)
    const places = [
      ...(await files()).map((file) => [file, contentOf(file)] as const),
      // The rows as a dump has them; the pages of the server hold them compressed.
      ...[...rows].map(([table, rows]) => [table, Buffer.from(rows.join('\n'))] as const),
      ...(redis === null ? [] : await redisAsBytes(`redis://127.0.0.1:${redis.port}`)),
    ]
    const found = new Set<string>()
    for (const [where, content] of places) {
      for (const name of [...raw.foundIn(content), ...hex.foundIn(content)]) {
        if (name !== 'a name') console.log(`${name} is in ${where}`)
        found.add(name)
      }
    }
    expect(found.delete('a name')).toBe(true)
    const what = `${found.size} of ${needles.size - 1} known texts and times found in ${places.length} files, tables and keys`
    figure('T31', what, '0', found.size === 0)
  })
})

/** Content of a file; nothing for a folder, and for a file that the running server has removed. */
function contentOf(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if (['EISDIR', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return Buffer.alloc(0)
    throw error
  }
}
