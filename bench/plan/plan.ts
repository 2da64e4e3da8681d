import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { sharedMachineRate } from '../../src/capacity/sizes.js'
import { measureSignIns, peopleOf, preparedSignIns, SIGN_IN_BUFFERS_MIB } from '../path/signin.js'
import { startGenerators } from '../ratio/generators.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { median } from '../shared/spread.js'

const HELP = `Compares the highest rate of sign-ins that the planner predicts from their measured cost with the rate that is measured.

  npm run bench -- plan [options]

  --rounds N        rounds of the cost, and of the rate (3)
  --seconds N       seconds of each of their loops (5)
  --signin-people N people with 5 references and 48 earlier sign-ins, who sign in in random order (5000)
  --fronts N        serving processes (the cores)
  --json FILE       also write the figures to a file

Measures the cost of whole sign-ins, 16 at once for each process, as the bench path does. The planner computes the rate at which
every core of this machine is busy, the load generator's cost included. Then other processes serve 64 sign-ins at once, as fast
as answers arrive. Exit status 1 if the rates differ by more than 20 %.
`
const OFF_MAX = 0.2
const AT_ONCE = 64

await runBench('plan', async () => {
  const defaults = { rounds: 3, seconds: 5, 'signin-people': 5000, fronts: availableParallelism() }
  const { numbers: options, files } = benchOptions('plan', HELP, defaults)
  const { fronts, 'signin-people': people } = options
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench', SIGN_IN_BUFFERS_MIB)
  closeOnSignal(deployment)
  try {
    const start = () => deployment.service({ processes: fronts, scoring: 'inline', redis: true })
    const generators = startGenerators(fronts)
    const service = await start()
    const draw = await peopleOf({ deployment, service, people, say })
    const { cost } = await measureSignIns({ deployment, service, fronts, generators, options, people, draw, say })
    await service.stop()
    const others = { deployment, service: await start(), generators, options }
    const run = async () => (await preparedSignIns(others, draw, AT_ONCE))()
    say('measuring the cost of the load generator ...')
    const generatorUs = (await run()).generator_cpu_us ?? Number.NaN
    const predicted = sharedMachineRate(cost, facts.cores, generatorUs)
    say(`predicted: ${Math.round(predicted.typical)} sign-ins a second`)
    const runs: number[] = []
    for (let round = 0; round < options.rounds; round++) {
      runs.push((await run()).per_s)
      say(`round ${round + 1} of ${options.rounds}: ${runs.at(-1)} sign-ins a second`)
    }
    const off = predicted.typical / median(runs) - 1
    const held = Math.abs(off) <= OFF_MAX
    say(`the prediction is ${(100 * off).toFixed(1)} % off; at most ${100 * OFF_MAX} % are accepted`)
    const report = {
      predicted_per_s: predicted,
      measured_per_s: median(runs),
      off: Number(off.toFixed(3)),
      held,
      runs,
      generator_us: generatorUs,
      cost,
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
