import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CapacityPlan, planCapacity } from '../../src/capacity/capacity.js'
import { CapacityCosts, type Range, type RequestCost } from '../../src/capacity/costs.js'
import {
  busyAllowed,
  type CapacityTarget,
  POOLER_US,
  PROXY_US,
  requestsOf,
  sharedMachineRate,
} from '../../src/capacity/sizes.js'

const range = (typical: number, off = 0): Range => ({ low: typical * (1 - off), typical, high: typical * (1 + off) })
const request = (front: number, postgres: number, redis: number, commands: number, off = 0): RequestCost => ({
  front_us: range(front, off),
  postgres_us: range(postgres, off),
  redis_us: range(redis, off),
  redis_commands: commands,
})
/** Round numbers, so that a plan can be computed by hand; `off` is the relative spread of the measured rounds. */
const costsWith = (off = 0): CapacityCosts =>
  CapacityCosts.parse({
    schema: 'keystride-costs/2',
    measured_at: '2026-01-01',
    machine: 'a machine made up for tests',
    scoring: 'inline',
    presses: 31,
    requests: {
      signin: request(600, 200, 30, 3, off),
      verify: request(500, 250, 20, 3, off),
      code: request(10_000, 100, 20, 2, off),
      bootstrap: request(200, 50, 10, 1, off),
      create: request(300, 400, 5, 1, off),
      enroll: request(1000, 300, 10, 1, off),
    },
    blocks_read: 3,
    commit_ms: range(2, off),
    unloaded_p99_ms: range(10, off),
    bytes: {
      attempt: 1000,
      replay_mark: 200,
      person: 10_000,
      comparison_set: 15_000,
      wal: 2048,
      session: 1000,
      carried: 9000,
      process: 128 * 2 ** 20,
    },
  })
const TARGET: CapacityTarget = {
  ...{ people: 100_000, peakPerS: 1000, p99Ms: 100, retentionDays: 100, growthPerYear: 0, years: 0, signInsPerDay: 1 },
  ...{ retypes: 0, codes: 0, newcomers: 0, spare: 1, pool: 10, cores: 8 },
}

function planOf(target: Partial<CapacityTarget>, costs = costsWith()): CapacityPlan {
  const planned = planCapacity(costs, { ...TARGET, ...target })
  if (!planned.ok) throw new Error(planned.message)
  return planned.plan
}
const typical = (plan: CapacityPlan, name: string): number => {
  const line = plan.lines.find((one) => one.name === name)
  if (line === undefined) throw new Error(`no line ${name}`)
  return line.value.typical
}

describe('the capacity planner', () => {
  it.each<[string, Partial<CapacityTarget>, Record<string, number>]>([
    [
      // A sign-in takes 600 µs of a front; 1,000 a second take 0.6 s; 0.6 / 0.7 needs one process, and one is spare.
      'plain sign-ins',
      {},
      {
        ...{ 'front, a sign-in': 600, 'utilisation of a front': 0.7, processes: 2, 'connections to PostgreSQL': 20 },
        // 1,000 writes a second; two processes can commit every 2 ms each.
        ...{ 'cores of PostgreSQL': (1000 * 200) / 1e6 / 0.7, commits: 1000, 'Redis commands': 3000 },
        ...{ 'memory of Redis': (1000 * (900 * 1000 + 60 * 9000)) / 2 ** 20, 'attempts kept': 1e7 },
        // A sign-in is two requests, of which the verify is committed.
        ...{ 'cores of the proxy': (2000 * PROXY_US) / 7e5, 'write-ahead log': (1000 * 2048) / 2 ** 20 },
        ...{ 'reads of the disk': 3000, 'memory of the processes': 0.25 },
        'storage of PostgreSQL': (1.3 * (1e5 * (10_000 + 15_000) + 1e7 * 1200)) / 2 ** 30,
      },
    ],
    [
      // 600 µs and a tenth of 10,000 are 1,600 µs; 4,500 a second take 7.2 s; 7.2 / 0.7 needs eleven. 4,500 verifies and 450 codes.
      'growth, spare processes and codes',
      { peakPerS: 2000, growthPerYear: 0.5, years: 2, spare: 3, codes: 0.1 },
      { peak: 4500, processes: 11 + 3, commits: 4950 },
    ],
    ['writes that share commits: two processes commit 1,000', { peakPerS: 2000, spare: 0 }, { commits: 1000 }],
    [
      // 600 + 0.5 x 500 µs; each verify has a row, a mark and a commit, and the sessions are those of the sign-ins.
      'a second typing in half of the sign-ins',
      { retypes: 0.5 },
      {
        ...{ 'front, a sign-in': 850, commits: 1500, 'attempts kept': 1.5e7, 'replay marks kept': 1.5e7 },
        ...{
          'cores of the proxy': (2500 * PROXY_US) / 7e5,
          'memory of Redis': (1000 * (900 * 1000 + 60 * 9000)) / 2 ** 20,
        },
        'Redis commands': 4500,
      },
    ],
    [
      // A tenth also has another bootstrap, a creation and five enrollments: 2 + 0.7 requests, and 0.1 x (200 + 300 + 5 x 1,000) µs.
      'newcomers',
      { newcomers: 0.1, cores: 4 },
      {
        ...{ 'account creations': 100, processes: 3, machines: 2 + 2 + 2 + 2, 'masters of Redis': 1 },
        ...{ 'cores of the proxy': (2700 * PROXY_US) / 7e5, 'cores of PgBouncer': (2700 * POOLER_US) / 7e5 },
      },
    ],
    // 30 µs of Redis a sign-in: 4.3 masters at utilisation 0.7.
    ['several masters of Redis', { peakPerS: 100_000 }, { 'masters of Redis': 5 }],
    // Regression: a plan for 50 million people gave each process a profile cache of 49 GB. 25 processes and a spare one.
    [
      'processes of one size for any number of people',
      { people: 5e7, peakPerS: 29_000 },
      { 'memory of the processes': 3.25 },
    ],
  ])('equals the same arithmetic done by hand: %s', (_, target, wanted) => {
    const plan = planOf(target)
    for (const [name, value] of Object.entries(wanted))
      expect([name, typical(plan, name)]).toEqual([name, expect.closeTo(value)])
  })

  it('places the organizations over as many databases as machines hold the cores of PostgreSQL', () => {
    const { lines, advice, configuration } = planOf({ peakPerS: 70_000, cores: 8 })
    const typical = (name: string) => lines.find((line) => line.name === name)?.value.typical
    // 70,000 x 200 us / 0.7 = 20 cores.
    expect([typical('cores of PostgreSQL'), typical('databases')]).toEqual([20, 3])
    // 8 cores x 0.7 / 200 us.
    expect(advice.join('\n')).toContain('at most 28,000 sign-ins a second may be of the same one')
    expect(configuration.find((line) => line.startsWith('DATABASE_URLS'))).toContain('d3=postgres://')
    expect(planOf({}).lines.find(({ name }) => name === 'databases')?.value.typical).toBe(1)
  })

  it('counts every request of a sign-in', () => {
    expect(requestsOf({ retypes: 0.25, codes: 0.02, newcomers: 0.01 })).toEqual({
      ...{ signin: 1, verify: 0.25, code: 0.02, bootstrap: 0.01, create: 0.01, enroll: 0.05 },
    })
  })

  it('allows a front the utilisation at which waiting stays within the p99', () => {
    // The first has no time to wait, the second has ample time.
    expect(busyAllowed(1, 10, 10)).toBeNull()
    expect(busyAllowed(0.001, 10, 1000)).toBe(0.7)
    // At this utilisation P(wait > 5 ms) behind verifies of 1 ms is 1 %.
    const busy = busyAllowed(1, 10, 15) ?? Number.NaN
    expect(busy).toBeLessThan(0.7)
    expect(busy * Math.exp(-(1 - busy) * 5)).toBeCloseTo(0.01, 6)
  })

  it('lets a verify wait for a bootstrap or a verify, not for a whole sign-in', () => {
    // 200 µs of a bootstrap and the other 400 of a sign-in of 600: (0.2 ^ 2 + 0.4 ^ 2) / 0.6 ms are left of the request in service.
    const line = planOf({ p99Ms: 25 }).lines.find(({ name }) => name === 'utilisation of a front')
    expect(line?.because).toContain('for requests with 0.333 ms left')
  })

  it('plans more processes for a shorter p99 if long requests can precede a verify', () => {
    const mixed = { codes: 0.02, newcomers: 0.01, peakPerS: 5000 }
    const processes = [200, 25, 20, 15].map((p99Ms) => typical(planOf({ ...mixed, p99Ms }), 'processes'))
    expect(processes).toEqual([...new Set(processes)].sort((a, b) => a - b))
    // Shorter requests before a verify allow a higher utilisation: 3 x 1,000 µs of 5 enrollments weigh less than a code of 10,000.
    const busy = (changes: Partial<CapacityTarget>) =>
      typical(planOf({ p99Ms: 25, ...changes }), 'utilisation of a front')
    expect(busy({ codes: 0.02 })).toBeLessThan(busy({ newcomers: 0.02 }))
  })

  it('refuses a p99 below that of an idle service, which is the same in the plan for any spread of the bench rounds', () => {
    const costs = { ...costsWith(), unloaded_p99_ms: { low: 5, typical: 10, high: 40 } }
    expect(typical(planOf({ p99Ms: 30 }, costs), 'utilisation of a front')).toBeGreaterThan(0)
    for (const given of [costs, costsWith()]) expect(planCapacity(given, { ...TARGET, p99Ms: 10 }).ok).toBe(false)
  })

  it('names the part that reaches its limit first, and includes a configuration to copy', () => {
    const { limits, advice, configuration } = planOf({ peakPerS: 5000 })
    const rates = limits.map(({ signInsPerS }) => signInsPerS)
    expect(rates).toEqual(rates.toSorted((a, b) => a - b))
    expect(advice[0]).toContain(limits[0]?.part)
    expect(configuration).toEqual(expect.arrayContaining(['PROCESSES=3', 'DATABASE_POOL=10', 'max_connections = 100']))
  })

  it('divides the cores of one machine among all parts of a sign-in', () => {
    const { signin } = costsWith(0.5).requests
    // 600 + 200 + 30 µs, and 170 µs of the load generator: a thousand a second per core.
    const { low, typical: middle, high } = sharedMachineRate(signin, 2, 170)
    expect(middle).toBeCloseTo(2000)
    expect([low, high]).toEqual([expect.closeTo(2e6 / 1415), expect.closeTo(2e6 / 585)])
  })

  it('never plans less for a larger target', () => {
    const wanted = fc.record({
      people: fc.integer({ min: 1, max: 10_000_000 }),
      peakPerS: fc.double({ min: 0.1, max: 20_000, noNaN: true }),
      p99Ms: fc.double({ min: 15, max: 500, noNaN: true }),
      retentionDays: fc.integer({ min: 1, max: 1000 }),
      retypes: fc.double({ min: 0, max: 1, noNaN: true }),
      codes: fc.double({ min: 0, max: 0.5, noNaN: true }),
      growthPerYear: fc.double({ min: 0, max: 2, noNaN: true }),
      years: fc.integer({ min: 0, max: 5 }),
    })
    const more = fc.constantFrom('people', 'peakPerS', 'retentionDays', 'retypes', 'codes', 'growthPerYear', 'years')
    const LINES = ['processes', 'cores of PostgreSQL', 'storage of PostgreSQL', 'memory of Redis', 'Redis commands']
    fc.assert(
      fc.property(wanted, more, fc.double({ min: 1, max: 3, noNaN: true }), (target, which, factor) => {
        const [small, large] = [planOf(target), planOf({ ...target, [which]: Math.ceil(target[which] * factor) })]
        for (const name of LINES) {
          // A larger share of short requests shortens the wait of a verify, so processes may be busier.
          if (which === 'retypes' && name === 'processes') continue
          expect(typical(large, name)).toBeGreaterThanOrEqual(typical(small, name) * (1 - 1e-9))
        }
        const patient = planOf({ ...target, p99Ms: target.p99Ms * factor })
        expect(typical(patient, 'processes')).toBeLessThanOrEqual(typical(small, 'processes'))
      }),
      { seed: 1, numRuns: 200 },
    )
  })

  it('keeps typical between low and high, and the limits above the peak', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.5, noNaN: true }), fc.integer({ min: 1, max: 5000 }), (off, peakPerS) => {
        const plan = planOf({ peakPerS, p99Ms: 100 }, costsWith(off))
        for (const { value } of plan.lines) {
          expect(value.low).toBeLessThanOrEqual(value.typical)
          expect(value.typical).toBeLessThanOrEqual(value.high)
        }
        for (const { part, signInsPerS } of plan.limits)
          if (part.startsWith('processes') || part.startsWith('PostgreSQL'))
            expect(signInsPerS).toBeGreaterThanOrEqual(peakPerS * (1 - 1e-9))
      }),
      { seed: 1, numRuns: 100 },
    )
  })
})
