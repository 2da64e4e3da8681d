import { readFileSync, rmSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { table } from '../../src/cli/table.js'
import type { Generators } from '../ratio/generators.js'
import { mintIn, type unitsFor } from '../ratio/sessions.js'
import { type Deployment, partsOf, type Running } from '../shared/deployment.js'
import { mainThreadS } from '../shared/machine.js'
import { type Spread, spreadOf } from '../shared/spread.js'
import { A_SECOND } from './costs.js'

interface Part {
  readonly name: string
  /** Budget, µs of processor a verify. */
  readonly budget_us: number
  /** Files of the part. A file belongs to the first part that matches it. */
  readonly files: RegExp
}

const SCAN = 'scan of the body'
const HTTP = 'HTTP in and out, head, admission, deadlines'
const COLLECTOR = 'collector, allocator, compiler'

/** The parts of a front in the order in which their files are tried. */
const PARTS: readonly Part[] = [
  { name: SCAN, budget_us: 22, files: /src\/scoring\/(kernel-scan|pattern-metadata|user-agent)/ },
  { name: 'features, score, replay mark', budget_us: 50, files: /src\/scoring\// },
  { name: 'sealing', budget_us: 8, files: /storage\/(crypto|vault)/ },
  { name: 'Redis client', budget_us: 8, files: /storage\/redis|@redis/ },
  { name: 'record, PostgreSQL client', budget_us: 20, files: /storage\/postgres|node_modules\/(pg|postgres)/ },
  {
    name: 'answer',
    budget_us: 7,
    files: /src\/http\/(answering|answer-log|envelope)|src\/api\/|flows\/attempt\/answer/,
  },
  {
    name: HTTP,
    budget_us: 20,
    files: /src\/http\/|domain\/validation|node_modules\/zod|process\/new-id|flows\/session\/authenticate/,
  },
  {
    name: 'context, verdict, counters, habits, facts',
    budget_us: 15,
    files: /src\/domain\/|attempt\/decide|geography/,
  },
  { name: 'person, settings, promises', budget_us: 15, files: /src\/|node_modules\/uuid|node:internal\/process/ },
]

/** µs of processor a verify. */
interface PartsMeasured {
  /** Shares of the front's median. */
  readonly parts: readonly { readonly name: string; readonly us: number; readonly budget_us: number }[]
  readonly front: Spread
  /** The main thread of the front; the rest are the collector's and the compiler's threads. */
  readonly main: Spread
  readonly postgres: Spread
  readonly redis: Spread
}

type Used = Readonly<Record<'front' | 'main' | 'postgres' | 'redis', number>>

interface Needs {
  readonly deployment: Deployment
  readonly generators: Generators
  readonly units: ReturnType<typeof unitsFor>
  readonly options: { readonly rounds: number; readonly seconds: number; readonly presses: number }
}

const CONNECTIONS = 64

/**
 * Profiles one front under verifies of known people, 64 at once, and divides its processor time among the parts by the files
 * of the sampled stacks. The profile costs the front about a tenth, so the time itself is of rounds without it.
 */
export async function measureParts({ deployment, generators, units, options }: Needs): Promise<PartsMeasured> {
  const file = join(tmpdir(), `keystride-profile-${process.pid}.json`)
  const env = {
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('./profiled.js', import.meta.url))}`,
    KEYSTRIDE_PROFILE: file,
  }
  const service = await deployment.service({ processes: 1, scoring: 'inline', redis: true, env })
  const round = () => oneRound(service, { deployment, generators, units, options })
  const found: Used[] = []
  try {
    // The first rounds compile code and fill the cache.
    for (let n = -2; n < options.rounds; n++) {
      const used = await round()
      if (n >= 0) found.push(used)
    }
    process.kill(service.pid, 'SIGUSR2')
    await round()
    process.kill(service.pid, 'SIGUSR2')
    const profile = await written(file)
    const of = (what: keyof Used) => spreadOf(found.map((used) => used[what]))
    const [front, main] = [of('front'), of('main')]
    const parts = divided(profile, front.median, main.median)
    return { parts, front, main, postgres: of('postgres'), redis: of('redis') }
  } finally {
    await service.stop()
    rmSync(file, { force: true })
  }
}

async function oneRound(service: Running, { deployment, generators, units, options }: Needs): Promise<Used> {
  const { stores, organizationId, apikey } = deployment
  const made = await units((A_SECOND * options.seconds) / 3, mintIn(stores.sessions, organizationId))
  await generators.prepare({
    ...{ kind: 'prepare', units: made, apikey, method: 'POST', path: '/core/users/{userRef}/verify' },
    ...{ presses: options.presses, reuse: false },
  })
  const mainBefore = mainThreadS(service.pid)
  const { answers, statuses, server_cpu_us, postgres_cpu_us, redis_cpu_us } = await generators.go({
    ...{ port: service.port, parts: partsOf(deployment, [service]), connections: CONNECTIONS },
    ...{ rate: null, warmUpS: 0, seconds: options.seconds },
  })
  const main = (mainThreadS(service.pid) ?? Number.NaN) - (mainBefore ?? Number.NaN)
  // A refused verify costs little.
  if ((statuses[200] ?? 0) < 0.99 * answers || answers === 0)
    throw new Error(`verify: answers were not 200 but ${JSON.stringify(statuses)}`)
  const known = (us: number | null) => us ?? Number.NaN
  return {
    front: known(server_cpu_us),
    main: (1e6 * main) / answers,
    postgres: known(postgres_cpu_us),
    redis: known(redis_cpu_us),
  }
}

async function written(file: string): Promise<Profiler.Profile> {
  for (let tries = 0; tries < 100; tries++) {
    await delay(200)
    try {
      // Sound: only profiled.ts writes the file.
      return JSON.parse(readFileSync(file, 'utf8')) as Profiler.Profile
    } catch {
      // The profile is not written, or not to its end.
    }
  }
  throw new Error('the service wrote no profile')
}

/** Divides the main thread's time by the samples. */
function divided(
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile,
  front: number,
  main: number,
): PartsMeasured['parts'] {
  const self = new Map<number, number>()
  for (const [i, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + (timeDeltas[i] ?? 0))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const sums = new Map<string, number>()
  const walk = (id: number, above: string): void => {
    const node = byId.get(id)
    if (node === undefined) return
    const { functionName, url } = node.callFrame
    // Node's own functions and WebAssembly belong to the part that called them.
    const part = PARTS.find(({ files }) => files.test(url))?.name ?? above
    const mine = functionName === '(garbage collector)' ? COLLECTOR : part
    if (functionName !== '(idle)') sums.set(mine, (sums.get(mine) ?? 0) + (self.get(id) ?? 0))
    for (const child of node.children ?? []) walk(child, part)
  }
  walk(nodes[0]?.id ?? 0, HTTP)
  const busy = [...sums.values()].reduce((sum, us) => sum + us, 0)
  const usOf = (name: string) => (main * (sums.get(name) ?? 0)) / busy
  return [
    ...PARTS.map(({ name, budget_us }) => ({ name, us: usOf(name), budget_us })),
    { name: COLLECTOR, us: usOf(COLLECTOR) + front - main, budget_us: 25 },
  ]
}

const BUDGETS = { front: 190, postgres: 100, redis: 12 } as const

/** The table of the parts with their budgets. */
export function partsTable({ parts, front, main, postgres, redis }: PartsMeasured): string {
  const whole = ({ median, min, max }: Spread) => `${Math.round(median)} (${Math.round(min)} to ${Math.round(max)})`
  return table(
    ['verify of a known person, 64 at once', 'µs of processor', 'budget'],
    [
      ...parts.map(({ name, us, budget_us }) => [name, us.toFixed(0), String(budget_us)]),
      ['front', whole(front), String(BUDGETS.front)],
      ['  its main thread', whole(main), ''],
      ['PostgreSQL', whole(postgres), String(BUDGETS.postgres)],
      ['Redis', whole(redis), String(BUDGETS.redis)],
    ],
  )
}
