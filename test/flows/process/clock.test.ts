import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/calibration/random.js'
import { type Clock, createClock } from '../../../src/flows/process/clock.js'

const BEGAN = Date.UTC(2026, 5, 15)

/** A database, this machine and Redis, each with its own clock. */
function machines() {
  let time = 0
  const off = { database: 0, here: 0, redis: 0 }
  const told: string[] = []
  const clock = createClock({
    monotonicMs: () => time,
    wallMs: () => BEGAN + time + off.here,
    onSkew: (whose, _, isOff) => void told.push(`${whose} ${isOff ? 'off' : 'agrees'}`),
  })
  const ping = (there: number, back: number, whose: 'database' | 'redis') => async () => {
    time += there
    const theirs = BEGAN + time + off[whose]
    time += back
    return theirs
  }
  return {
    clock,
    off,
    told,
    database: () => BEGAN + time + off.database,
    pass: (ms: number) => {
      time += ms
    },
    pingDatabase: (there = 1, back = 1) => clock.setBy(ping(there, back, 'database'))(),
    pingRedis: () => clock.compared('Redis', async () => [await ping(1, 1, 'redis')()])(),
  }
}

describe('the clock', () => {
  it('follows the database’s clock within the shortest round trip, for any jump of this machine’s clock', async () => {
    const draw = seededRandom(7)
    for (let run = 0; run < 200; run++) {
      const m = machines()
      m.off.database = Math.round((draw() - 0.5) * 2 * 86_400_000)
      let shortest = Number.POSITIVE_INFINITY
      let before = 0
      for (let n = 0; n < 50; n++) {
        const [there, back] = [draw() * 40, draw() * 40]
        shortest = Math.min(shortest, there + back)
        await m.pingDatabase(there, back)
        m.off.here = Math.round((draw() - 0.5) * 2 * 86_400_000)
        m.pass(100)
        const now = m.clock.now()
        expect(Math.abs(now - m.database())).toBeLessThanOrEqual(Math.max(1, shortest) + 1)
        expect(now).toBeGreaterThanOrEqual(before)
        before = now
      }
    }
  })

  it('continues while the database is away, and follows a database clock that is set back', async () => {
    const m = machines()
    await m.pingDatabase()
    m.pass(600_000)
    expect(Math.abs(m.clock.now() - m.database())).toBeLessThanOrEqual(2)
    m.off.database = -3_600_000
    await m.pingDatabase()
    expect(Math.abs(m.clock.now() - m.database())).toBeLessThanOrEqual(2)
  })

  it('is this machine’s clock until the first reply of the database', () => {
    const m = machines()
    expect(m.clock.now()).toBe(BEGAN)
    expect(m.clock.skewed()).toBeNull()
  })
})

describe('a clock with skew', () => {
  const seen = (clock: Clock) => [Math.round(clock.skewMs() / 1000), clock.skewed()]

  it('is reported once above 5 s, and makes the service refuse above a minute', async () => {
    const m = machines()
    await m.pingDatabase()
    m.off.here = 4000
    await m.pingDatabase()
    expect([...seen(m.clock), ...m.told]).toEqual([4, null])
    m.off.here = -7000
    await m.pingDatabase()
    await m.pingDatabase()
    expect([...seen(m.clock), ...m.told]).toEqual([7, null, 'this machine off'])
    m.off.here = 90_000
    await m.pingDatabase()
    expect(seen(m.clock)).toEqual([90, "the clock of this machine is 90 s off the database's"])
    expect(m.clock.skewedHere()).toBe(m.clock.skewed())
    m.off.here = 0
    await m.pingDatabase()
    expect([...seen(m.clock), ...m.told]).toEqual([0, null, 'this machine off', 'this machine agrees'])
  })

  it('may be the clock of the session store', async () => {
    const m = machines()
    m.off.redis = -61_000
    await m.pingDatabase()
    await m.pingRedis()
    expect(m.clock.skewed()).toBe("the clock of the machine of Redis is 61 s off the database's")
    expect(m.clock.skewedHere()).toBeNull()
    expect(m.told).toEqual(['the machine of Redis off'])
  })

  it('is not inferred from a slow reply', async () => {
    const m = machines()
    await m.pingDatabase(70_000, 1)
    await m.pingDatabase(1, 70_000)
    expect(m.clock.skewMs()).toBe(0)
    expect(m.told).toEqual([])
  })
})
