import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { HTTP_SERVERS, type HttpServerChoice } from '../../src/http/provider.js'
import { scanOverParse } from '../path/scan-over-parse.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { measureRatios } from './measure.js'
import { ratioReport } from './report.js'

const HELP = `Performance of the verify path as ratios within one run on one machine, which are comparable across machines.

  npm run bench -- ratio [options]

  --rounds N        rounds in which all take turns; medians are taken (5)
  --seconds N       measured seconds of each turn, after a warm-up of a quarter of that (3)
  --people N        enrolled people (512; more than connections, so that no person has two concurrent sign-ins)
  --fronts N        serving processes of each kind (the cores, at most two)
  --signin-people N people with 5 references and 48 earlier sign-ins who sign in (20000, which take minutes to create; 0 leaves
                    the turns of sign-ins out)
  --provider NAME   also run one front with another HTTP server, uws or node, and give its rate over that of one front
                    (provider_over_own); HTTP_SERVER sets the server of all others
  --json FILE       also write the report to a file

Starts PostgreSQL, Redis, the service (two fronts, one front, two without Redis, all scoring inline), the body-read-only
bound and two conventional peers, enrolls people, and generates the load on the same machine. docs/benchmarks.md explains
the meaning and limits of each figure. Needs redis-server on the PATH, or REDIS_URL.
`

function providerOf(name: string | undefined): HttpServerChoice | null {
  const found = HTTP_SERVERS.find((one) => one === name)
  if (name === undefined || found !== undefined) return found ?? null
  throw new Error(`--provider: expected one of ${HTTP_SERVERS.join(', ')}, got ${name}`)
}

await runBench('ratio', async () => {
  const fronts = Math.min(2, availableParallelism())
  const defaults = { rounds: 5, seconds: 3, people: 512, 'signin-people': 20_000, fronts }
  const { numbers, files } = benchOptions('ratio', HELP, defaults, {
    files: ['json', 'provider'],
    zero: ['signin-people'],
  })
  const { 'signin-people': signInPeople, ...others } = numbers
  const options = { ...others, signInPeople, provider: providerOf(files.provider) }
  const facts = servingMachine()
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
