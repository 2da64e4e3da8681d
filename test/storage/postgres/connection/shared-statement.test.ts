import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../../src/domain/refusal.js'
import { shareStatement } from '../../../../src/storage/postgres/connection/shared-statement.js'

/** Doubles its numbers; the test ends each statement. */
function doubling({ worthWaitingFor = 10, worthAnother = 4, max = 10, fail = (_: readonly number[]) => {} } = {}) {
  const batches: (readonly number[])[] = []
  const ends: (() => void)[] = []
  const ask = shareStatement<number, number>({
    async run(batch) {
      batches.push(batch)
      await new Promise<void>((resolve) => ends.push(resolve))
      fail(batch)
      return batch.map((n) => 2 * n)
    },
    take: (queue) => queue.splice(0, max),
    worthWaitingFor,
    worthAnother,
  })
  const turns = async () => {
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  /** Ends statements until none is left. */
  const endAll = async () => {
    for (await turns(); ends.length > 0; await turns()) ends.shift()?.()
  }
  return { ask, batches, turns, endAll }
}

const each = (ask: (n: number) => Promise<number>, ns: readonly number[]) => Promise.allSettled(ns.map(ask))
const told = (ns: readonly number[]) => ns.map((n) => ({ status: 'fulfilled', value: 2 * n }))

describe('a shared statement', () => {
  it('has all concurrent calls, and gives each call its own answer', async () => {
    const { ask, batches, endAll } = doubling()
    const all = each(ask, [1, 2, 3])
    await endAll()
    expect(await all).toEqual(told([1, 2, 3]))
    expect(batches).toEqual([[1, 2, 3]])
  })

  it('is followed by one with all calls that came meanwhile, or runs with another one if they are many', async () => {
    const { ask, batches, turns, endAll } = doubling()
    const all = [each(ask, [1])]
    await turns()
    all.push(each(ask, [2, 3, 4]))
    await turns()
    expect(batches).toEqual([[1]])
    all.push(each(ask, [5]))
    await turns()
    expect(batches).toEqual([[1], [2, 3, 4, 5]])
    all.push(each(ask, [6, 7, 8, 9]))
    await turns()
    expect(batches).toHaveLength(2)
    await endAll()
    expect((await Promise.all(all)).flat()).toEqual(told([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    expect(batches).toEqual([[1], [2, 3, 4, 5], [6, 7, 8, 9]])
  })

  it('has no more calls than `take` returns', async () => {
    const { ask, batches, endAll } = doubling({ max: 2 })
    const all = each(ask, [1, 2, 3, 4, 5])
    await endAll()
    expect(await all).toEqual(told([1, 2, 3, 4, 5]))
    expect(batches.map((batch) => batch.length)).toEqual([2, 2, 1])
  })

  it('that fails is retried call by call, so that only the bad call fails', async () => {
    const bad = new Error('two is bad')
    const fail = (batch: readonly number[]) => {
      if (batch.includes(2)) throw bad
    }
    const { ask, batches, endAll } = doubling({ fail })
    const all = each(ask, [1, 2, 3])
    await endAll()
    expect(await all).toEqual([told([1])[0], { status: 'rejected', reason: bad }, told([3])[0]])
    expect(batches).toEqual([[1, 2, 3], [1], [2], [3]])
  })

  it('that is refused rejects all its calls at once', async () => {
    const degraded = new Refusal('degraded', 'the database is away', 1)
    const fail = () => {
      throw degraded
    }
    const { ask, batches, endAll } = doubling({ fail })
    const all = each(ask, [1, 2])
    await endAll()
    expect(await all).toEqual([1, 2].map(() => ({ status: 'rejected', reason: degraded })))
    expect(batches).toHaveLength(1)
    const after = each(ask, [3])
    await endAll()
    expect(await after).toMatchObject([{ status: 'rejected' }])
    expect(batches).toHaveLength(2)
  })
})
