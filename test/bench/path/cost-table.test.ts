import { expect, it } from 'vitest'
import { costTable } from '../../../bench/path/cost-table.js'
import { costOf } from '../../../bench/path/costs.js'
import { STEPS } from '../../../bench/path/steps.js'
import { spreadOf } from '../../../bench/shared/spread.js'

const used = (front_us: number) => ({ front_us, postgres_us: front_us / 2, redis_us: 20, redis_commands: 3 })
const cost = (front_us: number) => costOf([used(front_us)])
const MACHINE = { cpu: 'x', cores: 2, memory_gib: 1, node: 'v20.0.0', http_server: 'u' }

it('the bench path makes the costs of a plan from its requests and its whole sign-ins', () => {
  const steps_ms = Object.fromEntries(STEPS.map((step, n) => [step, spreadOf([n])]))
  const costs = costTable(
    {
      requests: {
        ...{ verify: cost(500), code: cost(10_000), bootstrap: cost(200), create: cost(300), enroll: cost(1000) },
      },
      bytes: { attempt: 1000, replay_mark: 200, person: 6000 },
    },
    {
      // Sound: an entry for each step.
      path: {
        steps_ms: steps_ms as Record<(typeof STEPS)[number], ReturnType<typeof spreadOf>>,
        whole_p99_ms: spreadOf([5]),
      },
      signIns: {
        ...{ cost: costOf([600, 700, 900].map(used)), blocks_read: 2.5, wal_bytes: 4000 },
        ...{ redis_session_bytes: 1100, redis_carried_bytes: 9000, comparison_set_bytes: 10_000, process_bytes: 1e8 },
      },
    },
    MACHINE,
    44,
  )
  expect(costs.requests.signin).toEqual({
    ...{ front_us: { low: 600, typical: 700, high: 900 }, postgres_us: { low: 300, typical: 350, high: 450 } },
    ...{ redis_us: { low: 20, typical: 20, high: 20 }, redis_commands: 3 },
  })
  expect(costs).toMatchObject({
    ...{ schema: 'keystride-costs/2', commit_ms: { typical: 4 }, unloaded_p99_ms: { typical: 5 }, blocks_read: 2.5 },
    bytes: { person: 6000, comparison_set: 10_000, wal: 4000, session: 1100, carried: 9000, process: 1e8 },
  })
})
