import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { RequestCost } from '../../src/capacity/costs.js'
import { table } from '../../src/cli/table.js'
import { type Generators, startGenerators } from '../ratio/generators.js'
import { unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, type Deployment, deploy } from '../shared/deployment.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { costTable } from './cost-table.js'
import { measureCosts } from './costs.js'
import { measureParts, partsTable } from './parts.js'
import { measureSignIns, peopleOf, SIGN_IN_BUFFERS_MIB, signInTable } from './signin.js'
import { measurePath, type PathMeasured, STEPS } from './steps.js'

const HELP = `Time of each step of a verify, their sum compared with the whole, the cost of each request of a sign-in and of a whole
sign-in with what it reads and writes, and the processor time of a verify by part with its budget.

  npm run bench -- path [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --calls N         calls of each step in a round (40)
  --seconds N       seconds of each loop of the cost measurement (2)
  --people N        enrolled people (256)
  --presses N       key presses of the patterns (44: as many as words suggested for a sign-in give)
  --signin-people N people with 5 references and 48 earlier sign-ins, for whole sign-ins (20000, which take minutes to create; 0
                    leaves sign-ins out)
  --json FILE       also write the report to a file
  --fronts N        serving processes (the cores)
  --costs FILE      write the table of costs for \`keystride plan --costs FILE\`; needs --signin-people above 0

Starts PostgreSQL, Redis and the service, whose fronts score inline. Needs redis-server on the PATH.
`

await runBench('path', async () => {
  const numbers = { rounds: 5, calls: 40, seconds: 2, people: 256, presses: 44 }
  const defaults = { ...numbers, 'signin-people': 20_000, fronts: availableParallelism() }
  const kinds = { files: ['json', 'costs'], zero: ['signin-people'] }
  const { numbers: options, files } = benchOptions('path', HELP, defaults, kinds)
  const { fronts, 'signin-people': signInPeople } = options
  if (files.costs !== undefined && signInPeople === 0)
    throw new Error('--costs needs the cost of whole sign-ins: give --signin-people above 0')
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const generators = startGenerators(fronts)
  const measuring = { fronts, generators, say }
  const { found, path, parts } = await measureRequests({ ...measuring, options })
  const signIns = signInPeople === 0 ? null : await measureOfHistories({ ...measuring, options }, signInPeople)
  const costs = signIns === null ? null : costTable(found, { path, signIns }, facts, options.presses)
  process.stdout.write(`${stepTable(path)}\n\n`)
  process.stdout.write(`${requestTable(costs?.requests ?? found.requests)}\n\n`)
  if (signIns !== null) process.stdout.write(`${signInTable(signIns)}\n\n`)
  process.stdout.write(`${partsTable(parts)}\n`)
  const report = { ...path, costs, sign_ins: signIns, parts, options, machine: facts, at: new Date().toISOString() }
  if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
  if (files.costs !== undefined) writeFileSync(files.costs, `${JSON.stringify(costs, null, 2)}\n`)
})

interface Measuring {
  readonly fronts: number
  readonly generators: Generators
  readonly options: Readonly<Record<'rounds' | 'calls' | 'seconds' | 'people' | 'presses', number>>
  readonly say: (line: string) => void
}

/** Runs `work` on a deployment, and closes it. */
async function onDeployment<T>(sharedBuffersMib: number | undefined, work: (deployment: Deployment) => Promise<T>) {
  const deployment = await deploy('Bench', sharedBuffersMib)
  closeOnSignal(deployment)
  try {
    return await work(deployment)
  } finally {
    await deployment.close()
  }
}

/** The costs of the requests, the steps of a verify and the parts of a front. */
function measureRequests({ fronts, generators, options, say }: Measuring) {
  return onDeployment(undefined, async (deployment) => {
    const start = (env: Record<string, string>) =>
      deployment.service({ processes: fronts, scoring: 'inline', redis: true, env })
    // A cache of one megabyte holds about 40 people, so a person is evicted before the next verify.
    const [service, forgetful] = [await start({}), await start({ PROFILE_CACHE_MB: '1' })]
    const reader = await deployment.program('ratio/read-only-server.js')
    const units = unitsFor(options.people)
    const found = await measureCosts({ deployment, service, forgetful, fronts, generators, units, options, say })
    say('each step alone ...')
    const path = await measurePath(deployment, { service, reader }, { ...options, units })
    await Promise.all([service.stop(), forgetful.stop()])
    say('the parts of a front ...')
    const parts = await measureParts({ deployment, generators, units, options })
    return { found, path, parts }
  })
}

/** Whole sign-ins, on a deployment of their own with few buffers. */
function measureOfHistories({ fronts, generators, options, say }: Measuring, people: number) {
  return onDeployment(SIGN_IN_BUFFERS_MIB, async (deployment) => {
    const service = await deployment.service({ processes: fronts, scoring: 'inline', redis: true })
    const draw = await peopleOf({ deployment, service, people, say })
    return measureSignIns({ deployment, service, fronts, generators, options, people, draw, say })
  })
}

function stepTable({ steps_ms, sum_ms, whole_ms, rest_ms }: PathMeasured): string {
  return table(
    ['step, one call at a time', 'median ms', 'low', 'high'],
    [
      ...STEPS.map((step) => [step, ...shown(steps_ms[step])]),
      ['sum of the steps', sum_ms.toFixed(3), '', ''],
      ['the whole over HTTP', ...shown(whole_ms)],
      ['the rest: routing, verdict, answer, waits', rest_ms.toFixed(3), '', ''],
    ],
  )
}

function requestTable(requests: Readonly<Record<string, RequestCost>>): string {
  const rows = Object.entries(requests).map(([kind, cost]) => [
    kind,
    ...[cost.front_us, cost.postgres_us, cost.redis_us].map(
      ({ low, typical, high }) => `${typical} (${low} to ${high})`,
    ),
    String(cost.redis_commands),
  ])
  return table(['request, µs of processor', 'front', 'PostgreSQL', 'Redis', 'Redis commands'], rows)
}

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
