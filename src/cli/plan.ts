import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { check, sentenceOf } from '../base/validation.js'
import { type CapacityPlan, planCapacity } from '../capacity/capacity.js'
import { CapacityCosts, type Range } from '../capacity/costs.js'
import type { CapacityTarget } from '../capacity/sizes.js'
import { PATH_VERSION } from '../flows/attempt/path-version.js'
import { costsFile } from '../scoring/artifacts.js'
import { print } from './administer.js'
import { above0, whole } from './arguments.js'
import { table } from './table.js'

interface Options {
  readonly people: number
  readonly peak: number
  readonly p99: number
  readonly retention: number
  readonly growth: number
  readonly years: number
  readonly daily: number
  readonly retypes: number
  readonly codes: number
  readonly newcomers: number
  readonly spare: number
  readonly pool: number
  readonly cores: number
  readonly costs?: string
  readonly json?: true
}

/** `keystride plan`: the capacity that a target needs, from measured costs. Opens no store. */
export function planCommand(run: (work: () => Promise<void>) => Promise<void>): Command {
  return new Command('plan')
    .description('plan processes, memory and stores for a target, from measured costs; name the first bottleneck')
    .requiredOption('--people <n>', 'people enrolled', atLeast(1))
    .requiredOption('--peak <n>', 'sign-ins a second at the busiest time', above0())
    .option('--p99 <ms>', '99th percentile of a verify at the peak, ms', above0(), 100)
    .option('--retention <days>', 'retention of authentications, days', atLeast(1), 400)
    .option('--growth <share>', 'yearly growth of people and sign-ins, such as 0.2 or 20%', share(100), 0)
    .option('--years <n>', 'years that the plan must last', atLeast(0), 1)
    .option('--daily <n>', 'sign-ins of a person a day, averaged over the year', above0(), 1)
    .option('--retypes <share>', 'sign-ins with a second typing attempt', share(2), 0.1)
    .option('--codes <share>', 'sign-ins whose typing is followed by a security code', share(1), 0.02)
    .option('--newcomers <share>', 'sign-ins of a person who enrolls first', share(1), 0.01)
    .option('--spare <n>', 'spare processes, so that one may die or be updated', atLeast(0), 1)
    .option('--pool <n>', 'connections to PostgreSQL of each process (DATABASE_POOL)', atLeast(2), 10)
    .option('--cores <n>', 'cores of each machine', atLeast(1), 8)
    .addOption(
      new Option('--costs <file>', 'costs measured on your machine: npm run bench -- path --costs FILE').default(
        undefined,
        'the shipped table; the plan names its machine',
      ),
    )
    .option('--json', 'print the plan as JSON')
    .addHelpText('after', NOTES)
    .action((options: Options) => run(async () => show(options)))
}

const NOTES = `
The plan is for the busiest second at the end of the years. A sign-in is a bootstrap and a verify, on any processes, of a person
whom no process has cached. Each line shows its arithmetic; low and high use the best and the worst costs of the bench's rounds. A
process is a front that scores inline, on one core; the cores of PostgreSQL are extra. Measure the costs on the kind of machine
that you plan for.
Example:
  keystride plan --people 200000 --peak 120 --p99 80 --growth 25% --years 3`

function show(options: Options): void {
  const costs = costsFrom(options.costs ?? costsFile())
  const target = targetOf(options)
  const planned = planCapacity(costs, target)
  if (!planned.ok) throw new Error(planned.message)
  const { plan } = planned
  print(options.json === true ? JSON.stringify({ target, costs, ...plan }, null, 2) : report(plan, costs))
}

const targetOf = (options: Options): CapacityTarget => ({
  people: options.people,
  peakPerS: options.peak,
  p99Ms: options.p99,
  retentionDays: options.retention,
  growthPerYear: options.growth,
  years: options.years,
  signInsPerDay: options.daily,
  retypes: options.retypes,
  codes: options.codes,
  newcomers: options.newcomers,
  spare: options.spare,
  pool: options.pool,
  cores: options.cores,
})

/** The costs in a file: the bench's own table, or a report with a table under `costs`. Throws an error that names the field. */
function costsFrom(file: string): CapacityCosts {
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`--costs ${file}: ${error instanceof SyntaxError ? 'is not JSON' : (error as Error).message}`)
  }
  const inside = typeof found === 'object' && found !== null && 'costs' in found ? found.costs : found
  const parsed = check(CapacityCosts, inside)
  if (parsed.ok) return parsed.data
  throw new Error(`--costs ${file}: ${sentenceOf(parsed.problems, 'the table of costs')}`)
}

const OUTDATED = 'The service has changed since then: measure again by npm run bench -- path --costs FILE.'

function report({ lines, limits, advice, configuration }: CapacityPlan, costs: CapacityCosts): string {
  const sizes = lines.map(({ name, unit, value, because }) => [
    name,
    digits(value.typical),
    spread(value),
    unit,
    because,
  ])
  const breaks = limits.map(({ part, signInsPerS, because }) => [part, `${digits(signInsPerS)}/s`, because])
  return [
    `Costs of ${costs.measured_at}, measured on ${costs.machine}, ${costs.presses} key presses, scoring ${costs.scoring}.`,
    ...(costs.path_version < PATH_VERSION ? [OUTDATED] : []),
    '',
    table(['what', 'plan', 'low to high', 'unit', 'because'], sizes),
    '',
    'Limits, the lowest first:',
    table(['part', 'sign-ins', 'because'], breaks),
    '',
    ...advice,
    '',
    'Configuration to copy:',
    ...configuration.map((line) => `  ${line}`),
  ].join('\n')
}

const digits = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
const spread = ({ low, high }: Range): string => (low === high ? '' : `${digits(low)} to ${digits(high)}`)

const atLeast = (least: number) => whole(least, 999_999_999_999, `a whole number from ${least} up`)

/** Parses `0.2` or `20%`, up to `most`. */
function share(most: number) {
  return (text: string): number => {
    const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text.trim()) ?? []
    const value = Number(number) / (percent === '%' ? 100 : 1)
    if (number === undefined || value > most)
      throw new InvalidArgumentError(`wanted a share such as 0.2 or 20%, ${most} at the most`)
    return value
  }
}
