import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal } from '../../src/domain/refusal.js'
import { jsonLog } from '../../src/process/log.js'
import { createOutageLog, type OutageLog } from '../../src/process/outage-log.js'

const WHY = 'degraded: PostgreSQL out of reach'
const refused = () => new Refusal('degraded', 'the database is not reachable', undefined, new Error('ECONNREFUSED'))

describe('the log of an outage', () => {
  let lines: Record<string, unknown>[]
  let outages: OutageLog
  const fails = (times: number) => {
    for (let i = 0; i < times; i += 1) outages.log.warn({ err: refused(), round: i }, 'a round failed')
  }
  const shown = () => lines.map(({ level, msg, why, failures }) => ({ level, msg, why, failures }))

  const begin = (patience: number) => {
    outages = createOutageLog(
      jsonLog('info', (line) => lines.push(JSON.parse(line))),
      patience,
    )
  }

  beforeEach(() => {
    vi.useFakeTimers()
    lines = []
    begin(1)
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is one line at the beginning, one a minute with the failures since, and one at the end', () => {
    fails(2)
    vi.advanceTimersByTime(3900)
    outages.turn(WHY, 'ECONNREFUSED')
    expect(lines).toMatchObject([{ level: 50, msg: 'degraded', why: WHY, reason: 'ECONNREFUSED' }])
    fails(40)
    vi.advanceTimersByTime(59_999)
    expect(lines).toHaveLength(1)
    vi.advanceTimersByTime(1)
    fails(3)
    vi.advanceTimersByTime(30_000)
    outages.turn(null, '')
    vi.advanceTimersByTime(600_000)
    expect(shown().slice(1)).toEqual([
      { level: 40, msg: 'still degraded', why: WHY, failures: 42 },
      { level: 40, msg: 'all stores answer again', why: undefined, failures: 3 },
    ])
    expect(lines[2]).toMatchObject({ awayMs: 90_000 })
    expect(JSON.stringify(lines)).not.toContain('stack')
  })

  it('says nothing each minute while no work fails, and names another store that is lost', () => {
    outages.turn(WHY, 'a')
    vi.advanceTimersByTime(200_000)
    outages.turn('degraded: PostgreSQL and Redis out of reach', 'a; b')
    expect(lines).toMatchObject([
      { reason: 'a' },
      { why: 'degraded: PostgreSQL and Redis out of reach', reason: 'a; b' },
    ])
  })

  it('leaves every other line as it is, also in an outage', () => {
    outages.turn(WHY, 'a')
    outages.log.warn({ err: new TypeError('no such column') }, 'a round failed')
    outages.log.error({ err: new Refusal('internal', 'a bug') }, 'a job failed')
    outages.log.warn('a line')
    outages.log.info({ port: 1 }, 'serving')
    expect(lines.slice(1)).toMatchObject([
      { msg: 'a round failed', err: { type: 'TypeError', stack: expect.any(String) } },
      { msg: 'a job failed', err: { type: 'Refusal', message: 'a bug' } },
      { msg: 'a line' },
      { msg: 'serving', port: 1 },
    ])
  })

  it('shows a failure that no outage explains after 5 s, with its reason and without a stack', () => {
    fails(1)
    vi.advanceTimersByTime(4999)
    expect(lines).toEqual([])
    vi.advanceTimersByTime(1)
    const why = 'the database is not reachable (ECONNREFUSED)'
    expect(lines).toMatchObject([{ level: 40, msg: 'a round failed', why, round: 0 }])
    expect(lines[0]).not.toHaveProperty('err')
  })

  it('shows no failure of a call that began in the outage and failed after it', () => {
    outages.turn(WHY, 'a')
    outages.turn(null, '')
    vi.advanceTimersByTime(4999)
    fails(1)
    vi.advanceTimersByTime(60_000)
    expect(lines).toHaveLength(2)
    fails(1)
    vi.advanceTimersByTime(5000)
    expect(lines).toHaveLength(3)
  })

  // Regression: with a patience of 10 a loss shows after 11 s, and each failure until then had a line of its own.
  it('waits longer for the outage that explains a failure where calls have more patience', () => {
    begin(10)
    fails(40)
    vi.advanceTimersByTime(49_999)
    expect(lines).toEqual([])
    outages.turn(WHY, 'a')
    outages.turn(null, '')
    vi.advanceTimersByTime(49_999)
    fails(1)
    vi.advanceTimersByTime(60_000)
    expect(shown().map(({ msg, failures }) => [msg, failures])).toEqual([
      ['degraded', undefined],
      ['all stores answer again', 40],
    ])
  })
})
