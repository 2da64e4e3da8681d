import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { planCapacity } from '../../src/capacity/capacity.js'
import { CapacityCosts } from '../../src/capacity/costs.js'
import { costsFile } from '../../src/scoring/artifacts.js'

const document = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8')
const costs = CapacityCosts.parse(JSON.parse(readFileSync(costsFile(), 'utf8')))

/** The typical values of `keystride plan` for a rate, with its defaults and 2,000 people for each sign-in per second. */
function planned(peakPerS: number): Record<string, number> {
  const result = planCapacity(costs, {
    people: 2000 * peakPerS,
    peakPerS,
    p99Ms: 150,
    retentionDays: 400,
    growthPerYear: 0,
    years: 1,
    signInsPerDay: 1,
    retypes: 0.1,
    remembered: 0,
    codes: 0.02,
    newcomers: 0.01,
    spare: 1,
    pool: 10,
    cores: 8,
  })
  if (!result.ok) throw new Error(result.message)
  return Object.fromEntries(result.plan.lines.map(({ name, value }) => [name, value.typical]))
}

describe('docs/scaling.md', () => {
  it('has the costs and rows that the planner computes from the shipped costs', () => {
    const digits = (value = Number.NaN) => Math.round(value).toLocaleString('en')
    const two = (value: number) => (value < 9.95 ? value.toFixed(1) : value.toFixed(0)).replace(/\.0$/, '')
    const BUSY = 0.7
    const rows = [100, 1000, 5000, 30_000, 150_000].map((rate) => {
      const plan = planned(rate)
      const masters = Math.ceil((rate * (plan['Redis, a sign-in'] ?? 0)) / 1e6 / BUSY)
      const connections = plan['connections to PostgreSQL'] ?? 0
      return `| ${[
        digits(rate),
        digits(plan.processes),
        masters === 2 ? 3 : masters,
        Math.ceil(plan['cores of PostgreSQL'] ?? 0),
        two(plan['write-ahead log'] ?? 0),
        `${digits(connections)}${connections > 97 ? ': PgBouncer' : ''}`,
        `${two((plan['storage of PostgreSQL'] ?? 0) / 1024)} TiB`,
      ].join(' | ')} |`
    })
    expect(document.split('\n').filter((line) => /^\| [\d,]+ \| \d+ \|/.test(line))).toEqual(rows)
    const { 'front, a sign-in': front, 'PostgreSQL, a sign-in': database, 'Redis, a sign-in': redis } = planned(100)
    for (const cost of [front, database, redis]) expect(document).toContain(`rate x ${digits(cost)} µs / 0.7`)
    expect(document).toContain(costs.measured_at)
  })
})
