import { beforeEach, describe, expect, it } from 'vitest'
import { type Connections, openConnections } from '../../src/storage/postgres/connections.js'

/** Work that ends when the test says so. */
function work() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ended, end: () => end() }
}

/** Long enough for what has ended to be noticed. */
const noticed = () => new Promise((resolve) => setImmediate(resolve))

describe('the connections to one server', () => {
  let opened: number
  let ended: number[]
  let connections: Connections
  /** Each client is its number, from 1. */
  const numberOf = (sql: unknown): number => (sql as { readonly number: number }).number
  const use = (piece?: ReturnType<typeof work>) =>
    connections.use(async (sql) => {
      await piece?.ended
      return numberOf(sql)
    })
  beforeEach(() => {
    opened = 0
    ended = []
    const open = () => {
      const number = ++opened
      return { number, end: async () => void ended.push(number) }
    }
    // Sound: nothing else of a client is used.
    connections = openConnections(open as never, 3)
  })

  it('are opened as they are needed, and used last first', async () => {
    expect([await use(), await use()]).toEqual([1, 1])
    const [slow, quick] = [work(), work()]
    const [first, second] = [use(slow), use(quick)]
    quick.end()
    expect(await second).toBe(2)
    slow.end()
    expect(await first).toBe(1)
    expect([await use(), await use()]).toEqual([1, 1])
    expect(opened).toBe(2)
  })

  it('are at one piece of work each, and no more than so many', async () => {
    const pieces = [work(), work(), work()]
    const first = pieces.map(use)
    const more = [work(), work()]
    const [fourth, fifth] = more.map(use)
    for (const piece of [...more, ...pieces]) piece.end()
    expect(await Promise.all(first)).toEqual([1, 2, 3])
    expect(new Set([await fourth, await fifth]).size).toBe(2)
    expect(opened).toBe(3)
  })

  it('are free again only when all that waited on them has ended', async () => {
    const pieces = [work(), work(), work(), work()]
    const asked = pieces.map(use)
    pieces[0]?.end()
    await noticed()
    pieces[1]?.end()
    await noticed()
    // The first is still at the fourth piece: the second is the free one.
    expect(await use()).toBe(2)
    for (const piece of pieces) piece.end()
    expect(await Promise.all(asked)).toEqual([1, 2, 3, 1])
  })

  it('are given back by work that fails', async () => {
    await expect(connections.use(() => Promise.reject(new Error('no such table')))).rejects.toThrow('no such table')
    expect(await use()).toBe(1)
    expect(opened).toBe(1)
  })

  it('end together, and what is opened afterwards ends at once', async () => {
    const held = work()
    const asked = use(held)
    await connections.end({ timeout: 1 })
    expect(ended).toEqual([1])
    await use()
    expect(ended).toEqual([1, 2])
    held.end()
    await asked
  })
})
