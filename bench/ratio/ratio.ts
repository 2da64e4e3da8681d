import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { scanOverParse } from '../path/scan-over-parse.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { machine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { measureRatios } from './measure.js'
import { ratioReport } from './report.js'

const HELP = `What the verify path is worth: ratios within one run on one machine, so that they travel.

  npm run bench -- ratio [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --seconds N       measured seconds of each turn, after a quarter of that warms up (3)
  --people N        enrolled people (512; more than connections, so that nobody signs in twice at once)
  --fronts N        processes that serve, of each kind (the cores, two at the most)
  --json FILE       also write the report to a file

Starts PostgreSQL, Redis, the service (two fronts, one front, two without Redis, all scoring inline), the body-read-only
bound and two conventional peers, enrolls people, and makes the load on the same machine. What each figure means, and what
it does not: docs/benchmarks.md. Needs redis-server on the PATH, or REDIS_URL.
`

await runBench('ratio', async () => {
  const defaults = { rounds: 5, seconds: 3, people: 512, fronts: Math.min(2, availableParallelism()) }
  const { numbers: options, files } = benchOptions('ratio', HELP, defaults)
  const facts = machine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const measured = await measureRatios(deployment, options, say)
    const report = `${JSON.stringify(ratioReport(measured, scanOverParse(), options, facts), null, 2)}\n`
    process.stdout.write(report)
    if (files.json !== undefined) writeFileSync(files.json, report)
  } finally {
    await deployment.close()
  }
})
