import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { scanOverParse } from '../path/scan-over-parse.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { machine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { measureRatios } from './measure.js'
import { ratioReport } from './report.js'

const HELP = `Performance of the verify path as ratios within one run on one machine, which are comparable across machines.

  npm run bench -- ratio [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --seconds N       measured seconds of each turn, after a warm-up of a quarter of that (3)
  --people N        enrolled people (512; more than connections, so that no person has two concurrent sign-ins)
  --fronts N        serving processes of each kind (the cores, at most two)
  --json FILE       also write the report to a file

Starts PostgreSQL, Redis, the service (two fronts, one front, two without Redis, all scoring inline), the body-read-only
bound and two conventional peers, enrolls people, and generates the load on the same machine. docs/benchmarks.md explains
the meaning and limits of each figure. Needs redis-server on the PATH, or REDIS_URL.
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
