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
import { unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, type Deployment, deploy, type Running } from '../shared/deployment.js'
import { type ServingMachine, servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { median } from '../shared/spread.js'

const HELP = `Compares the highest rate that the planner predicts from measured costs with the rate that the load tester measures.

  npm run bench -- plan [options]

  --rounds N        rounds of the costs, and of the load test (3)
  --seconds N       seconds of each of their loops (5)
  --people N        people who sign in (200)
  --fronts N        serving processes (the cores)
  --json FILE       also write the figures to a file

Measures the cost of each request, as the bench path does, and the load tester's own cost, by a run of it. The planner
computes the rate at which every core of this machine is busy. Then the load tester signs people in over 64 connections as
fast as answers arrive. Exit status 1 if the rates differ by more than 20 %.
`
const OFF_MAX = 0.2
/** Exit status of the load tester if its generator was overloaded; it still writes the report. */
const INCONCLUSIVE = 3
const TRIES = 3
const CONNECTIONS = 64
/** Bootstraps and verifies only: the 50 ms hash of a code would dominate all other costs. */
const MIX = ['--codes', '0', '--by-code', '0', '--enroll', '0', '--impostors', '0']

await runBench('plan', async () => {
  const defaults = { rounds: 3, seconds: 5, people: 200, fronts: availableParallelism() }
  const { numbers: options, files } = benchOptions('plan', HELP, defaults)
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const costs = await costsOf(deployment, options, facts, say)
    const service = await deployment.service({ processes: options.fronts, scoring: 'inline', redis: true })
    say('measuring the cost of the load tester ...')
    const { requests, generatorUs } = usageOf(stepOf(await load(deployment, service, options)))
    const predicted = sharedMachineRate(costs, requests, facts.cores, generatorUs)
    say(`predicted: ${Math.round(predicted.typical)} sign-ins a second`)
    const runs: number[] = []
    for (let round = 0; round < options.rounds; round++) {
      runs.push(stepOf(await load(deployment, service, options)).goodput_per_s)
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

interface PlanOptions {
  readonly rounds: number
  readonly seconds: number
  readonly people: number
  readonly fronts: number
}

/** Measures the table of costs on services that are stopped afterwards. */
async function costsOf(
  deployment: Deployment,
  options: PlanOptions,
  facts: ServingMachine,
  say: (line: string) => void,
) {
  const { fronts } = options
  const start = (env: Record<string, string>) =>
    deployment.service({ processes: fronts, scoring: 'inline', redis: true, env })
  const [service, forgetful] = [await start({}), await start({ PROFILE_CACHE_MB: '1' })]
  const reader = await deployment.program('ratio/read-only-server.js')
  const presses = 44
  const measured = { ...options, presses }
  const generators = startGenerators(fronts)
  const units = unitsFor(options.people)
  const found = await measureCosts({
    deployment,
    service,
    forgetful,
    fronts,
    generators,
    units,
    options: measured,
    say,
  })
  const path = await measurePath(deployment, { service, reader }, { ...measured, calls: 20, units })
  await generators.close()
  for (const running of [service, forgetful, reader]) await running.stop()
  return costTable(found, path, facts, presses)
}

/** Requests per sign-in of the load tester, and its own processor time per sign-in, µs. */
function usageOf({ operations, health, goodput_per_s }: Report['steps'][number]) {
  const signIns = operations.signin?.answers ?? 0
  const each = (name: 'bootstrap' | 'verify') => (operations[name]?.answers ?? 0) / signIns
  const requests = {
    bootstrap: each('bootstrap'),
    create: 0,
    verify_first: 0,
    verify: each('verify'),
    code: 0,
    enroll: 0,
  }
  return { requests, generatorUs: (1e6 * health.generator_cores) / goodput_per_s }
}

function stepOf({ steps }: Report): Report['steps'][number] {
  const [step] = steps
  if (step === undefined) throw new Error('the load tester measured nothing')
  return step
}

async function load(
  deployment: Pick<Deployment, 'apikey'>,
  running: Pick<Running, 'port'>,
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
      String(CONNECTIONS),
      '--people',
      String(people),
    ]
    const times = ['--duration', `${Math.max(1, Math.round(seconds))}s`, '--warmup', '3s', '--json', json]
    await promisify(execFile)(
      process.execPath,
      [join(packageRoot(), 'build/bench/load/load.js'), ...flags, ...times, ...MIX],
      { env: { ...process.env, KEYSTRIDE_APIKEY: deployment.apikey } },
    ).catch((error: { code?: unknown }) => {
      // A closed loop uses all of a shared machine, so an overloaded generator is expected.
      if (error.code !== INCONCLUSIVE) throw error
    })
    // Sound: the load tester writes only what fits its schema.
    return JSON.parse(readFileSync(json, 'utf8')) as Report
  } catch (error) {
    // On a busy machine an enrollment may fail with 503; another run enrolls other people.
    if (tries === TRIES) throw error
    return await load(deployment, running, options, tries + 1)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
