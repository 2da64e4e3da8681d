import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { table } from '../../src/cli/table.js'
import { startGenerators } from '../ratio/generators.js'
import { unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { costTable, measureCosts } from './costs.js'
import { measureParts, partsTable } from './parts.js'
import { measurePath, STEPS } from './steps.js'

const HELP = `Time of each step of a verify, their sum compared with the whole, the cost of each request of a sign-in, and the
processor time of a verify by part with its budget.

  npm run bench -- path [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --calls N         calls of each step in a round (40)
  --seconds N       seconds of each loop of the cost measurement (2)
  --people N        enrolled people (256)
  --presses N       key presses of the patterns (44: as many as words suggested for a sign-in give)
  --json FILE       also write the report to a file
  --fronts N        serving processes (the cores)
  --costs FILE      write the table of costs for \`keystride plan --costs FILE\`

Starts PostgreSQL, Redis and the service, whose fronts score inline. Needs redis-server on the PATH.
`

await runBench('path', async () => {
  const defaults = { rounds: 5, calls: 40, seconds: 2, people: 256, presses: 44, fronts: availableParallelism() }
  const { numbers: options, files } = benchOptions('path', HELP, defaults, { files: ['json', 'costs'] })
  const { fronts } = options
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const start = (env: Record<string, string>) =>
      deployment.service({ processes: fronts, scoring: 'inline', redis: true, env })
    // A cache of one megabyte holds about 130 people, so a person is evicted before the next sign-in.
    const [service, forgetful] = [await start({}), await start({ PROFILE_CACHE_MB: '1' })]
    const reader = await deployment.program('ratio/read-only-server.js')
    const generators = startGenerators(fronts)
    const units = unitsFor(options.people)
    const found = await measureCosts({ deployment, service, forgetful, fronts, generators, units, options, say })
    say('each step alone ...')
    const path = await measurePath(deployment, { service, reader }, { ...options, units })
    await Promise.all([service.stop(), forgetful.stop()])
    say('the parts of a front ...')
    const parts = await measureParts({ deployment, generators, units, options })
    const costs = costTable(found, path, facts, options.presses)
    const { steps_ms, sum_ms, whole_ms, rest_ms } = path
    const rows = STEPS.map((step) => [step, ...shown(steps_ms[step])])
    process.stdout.write(
      `${table(
        ['step, one call at a time', 'median ms', 'low', 'high'],
        [
          ...rows,
          ['sum of the steps', sum_ms.toFixed(3), '', ''],
          ['the whole over HTTP', ...shown(whole_ms)],
          ['the rest: routing, verdict, answer, waits', rest_ms.toFixed(3), '', ''],
        ],
      )}\n\n`,
    )
    const kinds = Object.entries(costs.requests).map(([kind, cost]) => [
      kind,
      ...[cost.front_us, cost.postgres_us, cost.redis_us].map(
        ({ low, typical, high }) => `${typical} (${low} to ${high})`,
      ),
      String(cost.redis_commands),
    ])
    process.stdout.write(
      `${table(['request, µs of processor', 'front', 'PostgreSQL', 'Redis', 'Redis commands'], kinds)}\n`,
    )
    process.stdout.write(`\n${partsTable(parts)}\n`)
    const report = { ...path, costs, parts, options, machine: facts, at: new Date().toISOString() }
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
    if (files.costs !== undefined) writeFileSync(files.costs, `${JSON.stringify(costs, null, 2)}\n`)
  } finally {
    await deployment.close()
  }
})

function shown({
  median,
  min,
  max,
}: {
  readonly median: number
  readonly min: number
  readonly max: number
}): string[] {
  return [median, min, max].map((ms) => ms.toFixed(3))
}
