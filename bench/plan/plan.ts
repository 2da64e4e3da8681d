import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sharedMachineRate } from '../../src/capacity/sizes.js'
import { packageRoot } from '../../src/scoring/artifacts.js'
import type { Report } from '../load/report-schema.js'
import { costTable, measureCosts } from '../path/costs.js'
import { measurePath } from '../path/steps.js'
import { startGenerators } from '../ratio/generators.js'
import { closeOnSignal, type Deployment, deploy, type Running } from '../shared/deployment.js'
import { machine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { median } from '../shared/spread.js'

const HELP = `Whether the planner's arithmetic holds: the highest rate it predicts from measured costs, and the load tester's, in one run.

  npm run bench -- plan [options]

  --rounds N        rounds of the costs, and of the load test (3)
  --seconds N       seconds of each of their loops (5)
  --people N        people who sign in (200)
  --fronts N        processes that serve (the cores)
  --json FILE       also write the figures to a file

Costs are measured request by request, as the bench path does; what the load tester itself uses, by a run of it. From these
follows the rate at which every core of this machine is busy. Then the load tester signs people in over 64 connections as
fast as answers come. Exit status 1 where both are more than 20 % apart.
`
const OFF_MAX = 0.2
/** Exit status of the load tester where its generator was strained; the report is written all the same. */
const INCONCLUSIVE = 3
const TRIES = 3
/** Bootstraps and verifies alone: codes are a hash of 50 ms that would hide everything else. */
const MIX = ['--codes', '0', '--by-code', '0', '--enroll', '0', '--impostors', '0']

await runBench('plan', async () => {
  const defaults = { rounds: 3, seconds: 5, people: 200, fronts: availableParallelism() }
  const { numbers: options, files } = benchOptions('plan', HELP, defaults)
  const facts = machine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const { fronts } = options
    const start = (env: Record<string, string>) =>
      deployment.service({ processes: fronts, scoring: 'inline', redis: true, env })
    const [remembering, forgetful] = [await start({}), await start({ PROFILE_CACHE_MB: '1' })]
    const reader = await deployment.program('ratio/read-only-server.js')
    const presses = 44
    const generators = startGenerators(fronts)
    const measured = { ...options, presses }
    const found = await measureCosts({
      deployment,
      service: remembering,
      forgetful,
      fronts,
      generators,
      options: measured,
      say,
    })
    const path = await measurePath(deployment, { service: remembering, reader }, { ...measured, calls: 20 })
    await generators.close()
    const costs = costTable(found, path, facts, presses)
    for (const running of [remembering, forgetful, reader]) await running.stop()

    const service = await deployment.service({ processes: fronts, scoring: 'inline', redis: true })
    say('what the load tester itself uses ...')
    const own = stepOf(await load(deployment, service, 64, options))
    const signIns = own.operations.signin?.answers ?? 0
    const each = (name: 'bootstrap' | 'verify') => (own.operations[name]?.answers ?? 0) / signIns
    const requests = {
      bootstrap: each('bootstrap'),
      create: 0,
      verify_first: 0,
      verify: each('verify'),
      code: 0,
      enroll: 0,
    }
    const generatorUs = (1e6 * own.health.generator_cores) / own.goodput_per_s
    const predicted = sharedMachineRate(costs, requests, facts.cores, generatorUs)
    say(`predicted: ${Math.round(predicted.typical)} sign-ins a second`)
    const runs: number[] = []
    for (let round = 0; round < options.rounds; round++) {
      runs.push(stepOf(await load(deployment, service, 64, options)).goodput_per_s)
      say(`round ${round + 1} of ${options.rounds}: ${Math.round(runs.at(-1) ?? 0)} sign-ins a second`)
    }
    const off = predicted.typical / median(runs) - 1
    const held = Math.abs(off) <= OFF_MAX
    const report = {
      predicted_per_s: predicted,
      measured_per_s: median(runs),
      off: Number(off.toFixed(3)),
      held,
      runs,
      generator_us: Math.round(generatorUs),
      requests,
      costs,
      options,
      machine: facts,
      at: new Date().toISOString(),
    }
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
    if (!held) process.exitCode = 1
  } finally {
    await deployment.close()
  }
})

function stepOf({ steps }: Report): Report['steps'][number] {
  const [step] = steps
  if (step === undefined) throw new Error('the load tester measured nothing')
  return step
}

async function load(
  deployment: Pick<Deployment, 'apikey'>,
  running: Pick<Running, 'port'>,
  connections: number,
  options: { readonly seconds: number; readonly people: number },
  tries = 1,
): Promise<Report> {
  const { seconds, people } = options
  const folder = mkdtempSync(join(tmpdir(), 'keystride-bench-plan-'))
  const json = join(folder, 'load.json')
  try {
    const flags = [
      '--url',
      `http://127.0.0.1:${running.port}`,
      '--connections',
      String(connections),
      '--people',
      String(people),
    ]
    const times = ['--duration', `${Math.max(1, Math.round(seconds))}s`, '--warmup', '3s', '--json', json]
    await promisify(execFile)(
      process.execPath,
      [join(packageRoot(), 'build/bench/load/load.js'), ...flags, ...times, ...MIX],
      { env: { ...process.env, KEYSTRIDE_APIKEY: deployment.apikey } },
    ).catch((error: { code?: unknown }) => {
      // A closed loop takes all that a shared machine has: that the generator is strained is what is measured here.
      if (error.code !== INCONCLUSIVE) throw error
    })
    // Sound: the load tester writes nothing that does not fit its schema.
    return JSON.parse(readFileSync(json, 'utf8')) as Report
  } catch (error) {
    // A crowded machine has the service say 503 now and then while people are enrolled: another run has others.
    if (tries === TRIES) throw error
    return await load(deployment, running, connections, options, tries + 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
