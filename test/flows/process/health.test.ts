import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Health, watchHealth } from '../../../src/flows/process/health.js'

describe('the health check of the stores', () => {
  let pings: number
  let well: boolean
  let changes: (string | null)[]
  let reasons: string[]
  let health: Health
  beforeEach(() => {
    vi.useFakeTimers()
    pings = 0
    well = true
    changes = []
    reasons = []
    const ping = async () => {
      pings++
      if (!well) throw new Error('away', { cause: new Error('ECONNREFUSED') })
    }
    health = watchHealth([{ name: 'PostgreSQL', ping }], (why, reason) => {
      changes.push(why)
      reasons.push(reason)
    })
  })
  afterEach(() => {
    health.stop()
    vi.useRealTimers()
  })
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  /** Calls `degraded` at this interval. */
  async function asked(everyMs: number, forMs: number) {
    for (let ms = 0; ms < forMs; ms += everyMs) {
      health.degraded()
      await pass(everyMs)
    }
  }

  it('pings often while calls arrive, and rarely otherwise', async () => {
    await asked(500, 5_000)
    expect(pings).toBeGreaterThan(45)
    await pass(2_000)
    const before = pings
    await pass(60_000)
    expect(pings - before).toBeGreaterThanOrEqual(19)
    expect(pings - before).toBeLessThanOrEqual(21)
  })

  it('pings often from the first call on, and detects a loss within a second of this call', async () => {
    await pass(10_000)
    await pass(100)
    well = false
    expect(health.degraded()).toBeNull()
    await pass(650)
    expect(health.degraded()).toBe('degraded: PostgreSQL out of reach')
    expect(changes).toEqual(['degraded: PostgreSQL out of reach'])
    expect(reasons).toEqual(['away (ECONNREFUSED)'])
  })

  it('pings often without calls while a store does not answer', async () => {
    await pass(10_000)
    well = false
    await pass(3_200)
    expect(changes).toEqual(['degraded: PostgreSQL out of reach'])
    well = true
    await pass(150)
    expect(changes).toEqual(['degraded: PostgreSQL out of reach', null])
  })

  it('does not count one lost ping as a loss', async () => {
    await pass(10_000)
    well = false
    health.degraded()
    await pass(20)
    well = true
    await pass(5_000)
    expect(changes).toEqual([])
  })
})

describe('the health of a service with two databases', () => {
  const away = new Set<string>()
  const check = (name: string, group?: string) => ({
    name,
    ping: async () => {
      if (away.has(name)) throw new Error('away')
    },
    ...(group === undefined ? {} : { group }),
  })
  let health: Health
  const parts: (string | null)[] = []
  beforeEach(() => {
    vi.useFakeTimers()
    away.clear()
    parts.length = 0
    health = watchHealth([check('one', 'databases'), check('two', 'databases'), check('Redis')], () => {})
    health.listenTo(['two'], (why, reason) => parts.push(why === null ? null : `${why}: ${reason}`))
  })
  afterEach(() => {
    health.stop()
    vi.useRealTimers()
  })
  const lose = async (...names: string[]) => {
    away.clear()
    for (const name of names) away.add(name)
    health.degraded()
    await vi.advanceTimersByTimeAsync(650)
  }

  it('degrades only when all databases are lost, or a store of which there is one', async () => {
    await lose('two')
    expect([health.degraded(), health.lost('one'), health.lost('two')]).toEqual([null, null, 'away'])
    await lose('one', 'two')
    expect(health.degraded()).toBe('degraded: one and two out of reach')
    await lose('one')
    expect(health.degraded()).toBeNull()
    await lose('Redis')
    expect(health.degraded()).toBe('degraded: Redis out of reach')
  })

  it('tells the listeners of one store when it is lost, and when it is back', async () => {
    await lose('one')
    await lose('two')
    await lose()
    expect(parts).toEqual(['two out of reach: away', null])
  })
})
