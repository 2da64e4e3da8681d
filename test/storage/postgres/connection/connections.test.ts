import postgres from 'postgres'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Connections, openConnections } from '../../../../src/storage/postgres/connection/connections.js'
import { until } from '../../../harness/patience.js'
import { sharedDatabase } from '../../../servers/database.js'

/** Work that the test ends. */
function work() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ended, end: () => end() }
}

/** Waits until ended work is noticed. */
const noticed = () => new Promise((resolve) => setImmediate(resolve))

describe('the connections to one server', () => {
  let opened: number
  let ended: number[]
  let begun: number[]
  let connections: Connections
  /** Each client is its number, from 1. */
  const numberOf = (sql: unknown): number => (sql as { readonly number: number }).number
  const use = (piece?: ReturnType<typeof work>) =>
    connections.use(async (sql) => {
      begun.push(numberOf(sql))
      await piece?.ended
      return numberOf(sql)
    })
  beforeEach(() => {
    opened = 0
    ended = []
    begun = []
    const open = () => {
      const number = ++opened
      return { number, end: async () => void ended.push(number) }
    }
    // Sound: nothing else of a client is used.
    connections = openConnections(open as never, 3)
  })

  it('are opened on demand, and reused in the order in which they were opened', async () => {
    expect([await use(), await use()]).toEqual([1, 1])
    const [quick, slow] = [work(), work()]
    const [first, second] = [use(quick), use(slow)]
    quick.end()
    expect(await first).toBe(1)
    slow.end()
    expect(await second).toBe(2)
    const [next, other] = [use(), use()]
    expect(await Promise.all([next, other])).toEqual([1, 2])
    expect(opened).toBe(2)
  })

  it('have one piece of work each, up to the maximum of connections', async () => {
    const pieces = [work(), work(), work()]
    const first = pieces.map(use)
    const more = [work(), work()]
    const [fourth, fifth] = more.map(use)
    await noticed()
    expect(begun).toEqual([1, 2, 3])
    // Waiting work is next, in order, on whichever connection is free first.
    pieces[1]?.end()
    await noticed()
    expect(begun).toEqual([1, 2, 3, 2])
    pieces[0]?.end()
    await noticed()
    expect(begun).toEqual([1, 2, 3, 2, 1])
    for (const piece of [...more, ...pieces]) piece.end()
    expect(await Promise.all([...first, fourth, fifth])).toEqual([1, 2, 3, 2, 1])
    expect(opened).toBe(3)
  })

  it('are released by work that fails', async () => {
    await expect(connections.use(() => Promise.reject(new Error('no such table')))).rejects.toThrow('no such table')
    expect(await use()).toBe(1)
    expect(opened).toBe(1)
  })

  it('end together, and refuse waiting and further work', async () => {
    const pieces = [work(), work(), work()]
    const asked = pieces.map(use)
    const late = expect(use()).rejects.toMatchObject({ code: 'CONNECTION_ENDED' })
    await connections.end({ timeout: 1 })
    await late
    expect(ended).toEqual([1, 2, 3])
    await expect(use()).rejects.toMatchObject({ code: 'CONNECTION_ENDED' })
    for (const piece of pieces) piece.end()
    expect(await Promise.all(asked)).toEqual([1, 2, 3])
    expect(opened).toBe(3)
  })

  it('leave none open on the server if they end during work, with more work waiting', async () => {
    const { url } = await sharedDatabase()
    const application_name = `left behind ${process.pid}`
    const open = () => postgres(url, { max: 1, backoff: () => 0.01, connection: { application_name } })
    const real = openConnections(open, 2)
    const watcher = postgres(url, { max: 1 })
    await watcher`select pg_advisory_lock(1)`
    const busy = [1, 2].map(() => real.use((sql) => sql`select pg_advisory_lock_shared(1)`.then(() => 'locked')))
    const waiting = [1, 2, 3, 4].map(() => real.use((sql) => sql`select 1`).catch(({ code }: { code: string }) => code))
    const there = async () =>
      (await watcher`select from pg_stat_activity where application_name = ${application_name}`).count
    await until(async () => (await there()) === 2)
    const ended = real.end({ timeout: 60 })
    await watcher`select pg_advisory_unlock(1)`
    await ended
    expect(await Promise.all([...busy, ...waiting])).toEqual(['locked', 'locked', ...Array(4).fill('CONNECTION_ENDED')])
    await until(async () => (await there()) === 0)
    // A client that reconnected would be there when a further one, which begins later, is connected.
    const further = open()
    await further`select 1`
    expect(await there()).toBe(1)
    await Promise.all([further.end(), watcher.end()])
  })
})
