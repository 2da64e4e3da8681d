import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { closeOnSignal, deploy } from './deployment.js'
import { machine } from './machine.js'
import { measureRatios } from './ratio/measure.js'
import { ratioReport } from './ratio/report.js'

const HELP = `What the verify path is worth: ratios within one run on one machine, so that they travel.

  npm run bench:ratio -- [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --seconds N       measured seconds of each turn, after a quarter of that warms up (3)
  --people N        enrolled people (512; more than connections, so that nobody signs in twice at once)
  --fronts N        processes that serve, of each kind (the cores, two at the most)
  --json FILE       also write the report to a file

Starts PostgreSQL, Redis, the service (two fronts, one front, two without Redis, all scoring inline), the body-read-only
bound and the conventional peer, enrolls people, and makes the load on the same machine. What each figure means, and what
it does not: docs/benchmarks.md. Needs redis-server on the PATH, or REDIS_URL.
`
const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    people: { type: 'string', default: '512' },
    fronts: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
})

function above0(name: 'rounds' | 'seconds' | 'people' | 'fronts', fallback = 0, whole = true): number {
  const value = Number(given[name] ?? fallback)
  if (value > 0 && (!whole || Number.isInteger(value))) return value
  process.stderr.write(`bench:ratio: --${name}: wanted a ${whole ? 'whole ' : ''}number above 0\n\n${HELP}`)
  process.exit(2)
}

async function main(): Promise<void> {
  const facts = machine()
  const options = {
    rounds: above0('rounds'),
    seconds: above0('seconds', 0, false),
    people: above0('people'),
    fronts: above0('fronts', Math.min(2, facts.cores)),
  }
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const measured = await measureRatios(deployment, options, say)
    const report = ratioReport(measured, options, facts)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await deployment.close()
  }
}

if (given.help) process.stdout.write(HELP)
else
  await main().catch((error: unknown) => {
    process.stderr.write(`bench:ratio: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 2
  })
// Threads and connections of a run that failed would keep the process.
process.exit()
