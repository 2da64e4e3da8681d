import { describe, expect, it } from 'vitest'
import { recorder } from '../../../bench/load/recorder.js'
import { kneeOf, stepReport, stepSeen } from '../../../bench/load/step-report.js'
import { judged, thresholds } from '../../../bench/load/thresholds.js'

interface Made {
  readonly rate?: number
  readonly verifyMs?: number
  readonly bootstrapMs?: number
  readonly refused?: number
  readonly lateMs?: number
}

/** The report of a second with 100 sign-ins, each a bootstrap and a verify. */
function step({ rate = 100, verifyMs = 20, bootstrapMs = 5, refused = 0, lateMs = 0 }: Made = {}) {
  const worker = recorder()
  for (let i = 0; i < 100; i++) {
    for (const [name, ms] of [
      ['bootstrap', bootstrapMs],
      ['verify', verifyMs],
    ] as const) {
      worker.of(name).latency.record(ms)
      worker.of(name).statuses.set('200', i + 1)
    }
    for (const name of ['arrivals', 'signins_completed', 'genuine_patterns', 'genuine_accepted'] as const)
      worker.count(name)
    worker.late.record(lateMs)
  }
  if (refused > 0) worker.of('verify').statuses.set('503', refused)
  worker.of('verify').unwanted = refused
  const seen = stepSeen()
  seen.add({ kind: 'seen', second: 0, seen: worker.take(), busy: 0.1, loopDelayMs: 0 }, 0)
  return stepReport(seen, {
    rate,
    seconds: 1,
    warmUpS: 0,
    untilLastS: 1,
    service: [],
    machine: { generator_cores: 0.1, machine_busy: 0.2 },
    connections: 10,
    together: false,
    bounds: { p99Ms: 50, errors: 0.001 },
  })
}
const verdicts = (text: string, made: Made = {}) => {
  const conditions = thresholds(text)
  if (typeof conditions === 'string') throw new Error(conditions)
  return judged(conditions, step(made)).map(({ passed }) => passed)
}

describe('a threshold', () => {
  it('fails if the figure exceeds it, and holds at it', () => {
    expect(verdicts('p99>10ms, p50>0.1s, max<1s, goodput<101, goodput<100')).toEqual([false, true, false, false, true])
    expect(verdicts('errors>0%', { refused: 1 })).toEqual([false])
    expect(verdicts('errors>1%,false-rejects>0%', { refused: 1 })).toEqual([true, true])
    expect(verdicts('bootstrap.p99.9>4ms,bootstrap.p90>6ms')).toEqual([false, true])
  })

  it('fails if its figure was never measured', () => {
    expect(verdicts('code.p99>1s,false-accepts>1%')).toEqual([false, false])
  })

  it.each(['p99', 'p99>50', 'p98>1ms', 'sleep.p99>1ms', 'errors>2', 'p99>1ms,'])(
    'is refused if it cannot be read: %s',
    (text) => expect(thresholds(text)).toMatch(/cannot be read: expected conditions such as/),
  )
})

describe('the knee of a ramp', () => {
  const held = (rate: number) => step({ rate })
  const slow = (rate: number) => step({ rate, verifyMs: 80 })

  it('is the last step that kept its bounds before two in a row broke them', () => {
    expect(kneeOf([held(10), held(20), slow(30), slow(40)])).toEqual({ rate: 20, limit: 'the service at 30/s' })
    expect(kneeOf([held(10), slow(20), held(30), slow(40), slow(50)])?.rate).toBe(30)
    expect(kneeOf([slow(10), slow(20)])?.rate).toBeNull()
    expect(kneeOf([held(10), held(20)])?.limit).toMatch(/ramp further/)
    expect(kneeOf([])).toBeNull()
  })

  it('breaks at slow bootstraps and at errors as at slow verifies', () => {
    expect(step({ bootstrapMs: 80 }).passed).toBe(false)
    expect(step({ refused: 1 }).passed).toBe(false)
    expect(step().passed).toBe(true)
  })

  it('is not blamed on the service alone if the load generator could not keep its schedule', () => {
    const late = step({ rate: 30, verifyMs: 80, lateMs: 40 })
    expect(late.health.sound).toBe(false)
    expect(kneeOf([held(20), late, late])?.limit).toMatch(
      /^the service or the load generator at 30\/s, which cannot be distinguished: sign-ins began late/,
    )
  })
})
