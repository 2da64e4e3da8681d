import { writeFileSync } from 'node:fs'
import { table } from '../../src/cli/table.js'
import { closeOnSignal, deploy } from '../shared/deployment.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import type { Spread } from '../shared/spread.js'
import { measureKeys } from './keys.js'
import { measureMemory } from './memory.js'
import { growthPage } from './page.js'
import type { Grown } from './sign-ins.js'
import { measureStored, measureTypings, VERIFIERS } from './stored.js'

const HELP = `Cost of a sign-in as a deployment grows: by enrolled people, stored authentications, typings of one person,
references and keys; and memory.

  npm run bench -- growth [options]

  --people N            enrolled people in the largest step (100000; earlier steps: a thousandth, a hundredth, a tenth)
  --authentications N   stored authentications and replay marks in the largest step (300000; the same earlier steps)
  --typings N           typings of each of a hundred people in the last step (300; earlier steps: a thirtieth, a tenth, a third)
  --remembered N        people who sign in while memory is measured (5000: more than a process caches by default)
  --rounds N            rounds of each step; medians are taken (5)
  --calls N             sequential sign-ins in a round (100)
  --json FILE           also write the figures to a file
  --html FILE           also write plots of the sign-ins to a page

A seeded generator adds people, each with a comparison set of 8 kB, and authentications. Sign-ins are measured over HTTP, on people who were enrolled through
the service and are not in its cache, so that every table is read. The people of --typings are in the cache, because the verifies
that precede their sign-ins put them there. References (5, 10) and keys (15 to 500) affect scoring only, so scoring alone is measured. The long form takes 25 minutes and 47 GB:
  npm run bench -- growth --people 1000000 --authentications 10000000
`

await runBench('growth', async () => {
  const defaults = {
    people: 100_000,
    authentications: 300_000,
    typings: 300,
    remembered: 5000,
    rounds: 5,
    calls: 100,
  }
  const { numbers: options, files } = benchOptions('growth', HELP, defaults, { files: ['json', 'html'] })
  const facts = servingMachine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  say('references and keys ...')
  const keys = measureKeys(options.rounds)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    // Measured first, while the stores are small: filling them takes long.
    const memory = await measureMemory(deployment, { people: options.remembered, first: VERIFIERS }, say)
    const typings = await measureTypings(deployment, { ...options, first: VERIFIERS + options.remembered }, say)
    const stored = await measureStored(deployment, options, say)
    process.stdout.write(
      `${table(
        ['keys', 'references', 'body bytes', 'scan µs', 'the attempt µs', 'low', 'high'],
        keys.map(({ keys: n, references, body_bytes, scan_us, attempt_us }) => [
          String(n),
          String(references),
          String(body_bytes),
          scan_us.median.toFixed(1),
          ...shown(attempt_us, 1),
        ]),
      )}\n\n`,
    )
    const grown = { ...stored, 'typings of one person': typings }
    for (const [what, steps] of Object.entries(grown))
      process.stdout.write(
        `${table([what, 'sign-in p50 ms', 'low', 'high', 'PostgreSQL µs', 'low', 'high'], steps.map(rowOf))}\n\n`,
      )
    process.stdout.write(
      `${table(
        ['people who signed in', 'resident MiB of a process'],
        memory.map(({ people, rss_mib }) => [people.toLocaleString('en'), rss_mib?.toFixed(0) ?? '?']),
      )}\n\n`,
    )
    const report = { keys, memory, ...stored, typings, options, machine: facts, at: new Date().toISOString() }
    if (files.html !== undefined)
      writeFileSync(
        files.html,
        growthPage(grown, `${facts.cores} x ${facts.cpu}, Node ${facts.node}, ${report.at.slice(0, 10)}`),
      )
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await deployment.close()
  }
})

function shown({ median, min, max }: Spread, places: number): string[] {
  return [median, min, max].map((value) => value.toFixed(places))
}

function rowOf({ size, p50_ms, postgres_us }: Grown): string[] {
  return [size.toLocaleString('en'), ...shown(p50_ms, 3), ...shown(postgres_us, 0)]
}
