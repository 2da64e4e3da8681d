import { describe, expect, it } from 'vitest'
import type { Measured } from '../../../bench/ratio/generators.js'
import { SIGN_IN_TURNS, TURNS, type Turn } from '../../../bench/ratio/measure.js'
import { ratioReport } from '../../../bench/ratio/report.js'

const run = (per_s: number, p99_ms = 10, server_cpu_us = 100, postgres_cpu_us = 50): Measured => ({
  per_s,
  p50_ms: 1,
  p99_ms,
  answers: per_s,
  statuses: { 200: per_s },
  actions: {},
  server_cpu_us,
  postgres_cpu_us,
  redis_cpu_us: 10,
  generator_cpu_us: 10,
})
const turns = (changes: Partial<Record<Turn, Measured[]>>) =>
  ({ ...Object.fromEntries(TURNS.map((turn) => [turn, [run(100), run(100), run(100)]])), ...changes }) as Record<
    Turn,
    Measured[]
  >
const OPTIONS = { rounds: 3, seconds: 1, people: 1, signInPeople: 1, provider: null, fronts: 1 }
const MACHINE = { cpu: 'x', cores: 1, memory_gib: 1, node: 'v', http_server: 'u' }
const NONE = { median: 1, min: 1, max: 1 }
const SCAN = { ratio: 0.2, body_bytes: 14_000, scan_and_features_us: NONE, parse_and_schema_us: NONE }
const reportOf = (changes: Partial<Record<Turn, Measured[]>>, idleCpuPercent: number | null = 0.5) =>
  ratioReport({ turns: turns(changes), idleCpuPercent, resident: null, body_bytes: 14_000 }, SCAN, OPTIONS, MACHINE)

describe('the report of the ratios', () => {
  it('takes the median of the ratios of the rounds', () => {
    // A machine that is ten times slower for one round changes nothing.
    const report = reportOf({
      verify_64: [run(20), run(2), run(24)],
      read_only_64: [run(100), run(10), run(100)],
    })
    expect(report.verify_over_read_only_64).toBe(0.2)
    expect(report.spread.verify_over_read_only_64).toEqual({ median: 0.2, min: 0.2, max: 0.24, runs: [0.2, 0.2, 0.24] })
    expect(report.turns.verify_64?.per_s.runs).toEqual([20, 2, 24])
  })

  it('says for each bar whether it held', () => {
    const { bars } = reportOf({ verify_64: [run(8), run(8), run(8)] }, 1.5)
    expect(bars.verify_over_read_only_64).toEqual({ least: 0.08, held: true })
    expect(bars.verify_over_peer).toEqual({ least: 8, held: false })
    expect(bars.p99_over_peer_at_its_highest_rate).toEqual({ most: 0.5, held: false })
    expect(bars.idle_cpu_percent).toEqual({ most: 1, held: false })
    expect(reportOf({}, null).bars).not.toHaveProperty('idle_cpu_percent')
  })

  it('compares the processor time of a sign-in in all parts with that of a verify', () => {
    const costly = [run(100, 12, 300, 180), run(100, 9, 300, 180), run(100, 9, 300, 180)]
    const report = reportOf({ signin_64: costly, signin_half: costly, peer_signin_64: [run(10), run(20), run(10)] })
    expect(report).toMatchObject({ signin_over_peer: 10, signin_cpu_over_verify: 3.0625, signin_half_p99_ms: 9 })
    expect(report.bars).toMatchObject({
      signin_over_peer: { least: 8, held: true },
      signin_cpu_over_verify: { most: 2, held: false },
      signin_half_p99_ms: { most: 10, held: true },
      verify_16_over_64: { most: 1.6, held: true },
    })
  })

  it('has no ratio of sign-ins that were left out', () => {
    const without = Object.fromEntries(SIGN_IN_TURNS.map((turn) => [turn, []]))
    const report = reportOf(without)
    expect(report).not.toHaveProperty('signin_over_peer')
    expect(report.bars).not.toHaveProperty('signin_half_p99_ms')
    expect(report.turns).not.toHaveProperty('signin_64')
  })

  it('also compares the processor time of the servers', () => {
    const costly = [run(100, 10, 500), run(100, 10, 500), run(100, 10, 500)]
    expect(reportOf({ peer_64: costly }).by_processor_time.verify_over_peer).toBe(5)
  })
})
