import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { person } from '../src/cli/made-up-person.js'
import { suggestWords } from '../src/domain/typing-words.js'
import { drive, type Outcome, quantile, request } from './drive.js'

const HELP = `Verifies a second over HTTP, durable, against reading the same bodies and doing nothing, in one run.

  npm run bench:verify -- [options]

  --connections N   keep-alive connections (64)
  --attempts N      verifies to make in each round (6000)
  --rounds N        rounds of both, taken in turn; medians are shown (3)
  --people N        enrolled people (100)
  --json FILE       also write the figures to a file

The service runs as a process of its own on an embedded PostgreSQL in a temporary folder; REDIS_URL is passed on to it.
Server, database and load generator share the machine: the ratio of the two figures is what travels.
`
const { values: options } = parseArgs({
  options: {
    connections: { type: 'string', default: '64' },
    attempts: { type: 'string', default: '6000' },
    rounds: { type: 'string', default: '3' },
    people: { type: 'string', default: '100' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const [connections, attempts, rounds, people] = (['connections', 'attempts', 'rounds', 'people'] as const).map(
  (name) => {
    const value = Number(options[name])
    if (!Number.isInteger(value) || value < 1) fail(`--${name}: wanted a whole number above 0`)
    return value
  },
) as [number, number, number, number]

function fail(message: string): never {
  process.stderr.write(`bench: ${message}\n\n${HELP}`)
  process.exit(1)
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'keystride-bench-'))
const say = (text: string) => process.stderr.write(`${text}\n`)
/** A session verifies this often. */
const A_SESSION = 3
const text = (seed: number) => suggestWords('en', seed).join(' ')

function started(
  file: string,
  env: Record<string, string>,
  pattern: RegExp,
): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [join(root, file)], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGTERM'))
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk) => {
      output += chunk
      const port = pattern.exec(output)?.[1]
      if (port !== undefined) resolve({ child, port: Number(port) })
    })
    child.on('exit', () => reject(new Error(`${file} ended:\n${output}`)))
  })
}

const service = await started(
  'bin/start.mjs',
  { PORT: '0', KEYSTRIDE_DATA: folder, LOG_LEVEL: 'warn' },
  /serves on \S+:(\d+)[\s\S]*Next:/,
)
const reader = await started('build/bench/read-only-server.js', {}, /^(\d+)\n/)
const core = `http://127.0.0.1:${service.port}/core`
const { apikey } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as { apikey: string }
const headers = { apikey, 'content-type': 'application/json' }

async function call(method: string, path: string, session = '', body?: unknown): Promise<{ session: string }> {
  const answer = await fetch(core + path, {
    method,
    headers: { ...headers, ...(session === '' ? {} : { 'x-service-session': session }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
  return { session: answer.headers.get('x-service-session') ?? '' }
}

say(`enrolling ${people} people ...`)
for (let p = 0; p < people; p++) {
  await call('POST', `/users/p${p}`)
  const { session } = await call('GET', `/users/p${p}`)
  for (let n = 0, stored = 0; stored < 5; n++) {
    const answer = await fetch(`${core}/users/p${p}/typing-patterns`, {
      method: 'POST',
      headers: { ...headers, 'x-service-session': session },
      body: JSON.stringify(person(p).types(text(n), n)),
    })
    // Made-up people are now and then taken for the machines they are: then they type once more.
    if (answer.ok) stored++
    else if (!(await answer.text()).includes('detection-bot')) throw new Error(`enrolling p${p}: ${answer.status}`)
  }
}

let typed = 100
/** Bodies are made fresh for every round: a pattern that was seen before is a replay. */
async function round(): Promise<{ verify: Outcome; read: Outcome; actions: Map<string, number>; bytes: number }> {
  const lists: Buffer[][] = Array.from({ length: connections }, () => [])
  const reads: Buffer[][] = Array.from({ length: connections }, () => [])
  let bytes = 0
  for (let i = 0; i < attempts; i += A_SESSION) {
    const p = (i / A_SESSION) % people
    const { session } = await call('GET', `/users/p${p}`)
    for (let n = 0; n < A_SESSION; n++) {
      const body = JSON.stringify(person(p).types(text(typed), typed++))
      bytes += body.length
      const list = (i / A_SESSION) % connections
      lists[list]?.push(request('POST', `/core/users/p${p}/verify`, { ...headers, 'x-service-session': session }, body))
      reads[list]?.push(request('POST', '/core/read', headers, body))
    }
  }
  const read = await drive(reader.port, reads)
  const actions = new Map<string, number>()
  const verify = await drive(service.port, lists, (body) => {
    const action = (JSON.parse(body) as { action?: string }).action ?? 'error'
    actions.set(action, (actions.get(action) ?? 0) + 1)
  })
  return { verify, read, actions, bytes: bytes / attempts }
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const done: Awaited<ReturnType<typeof round>>[] = []
for (let n = 0; n < rounds; n++) {
  say(`round ${n + 1} of ${rounds} ...`)
  done.push(await round())
}
service.child.removeAllListeners('exit').kill('SIGTERM')
reader.child.removeAllListeners('exit').kill('SIGTERM')
await new Promise((gone) => service.child.on('exit', gone))
rmSync(folder, { recursive: true, force: true })

const perSecond = (outcomes: Outcome[]) => outcomes.map(({ answers, seconds }) => answers / seconds)
const verifies = perSecond(done.map(({ verify }) => verify))
const reads = perSecond(done.map(({ read }) => read))
const figures = {
  verify_per_s: Math.round(median([...verifies])),
  verify_spread: [Math.min(...verifies), Math.max(...verifies)].map(Math.round),
  verify_p50_ms: median(done.map(({ verify }) => quantile(verify.latenciesMs, 0.5))),
  verify_p99_ms: median(done.map(({ verify }) => quantile(verify.latenciesMs, 0.99))),
  read_only_per_s: Math.round(median([...reads])),
  read_only_spread: [Math.min(...reads), Math.max(...reads)].map(Math.round),
  share_of_read_only: median(done.map((_, i) => (verifies[i] ?? 0) / (reads[i] ?? 1))),
  body_bytes: Math.round(median(done.map(({ bytes }) => bytes))),
  statuses: Object.fromEntries(done.flatMap(({ verify }) => [...verify.statuses])),
  actions: Object.fromEntries(done.flatMap(({ actions }) => [...actions])),
  connections,
  attempts,
  rounds,
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  redis: process.env.REDIS_URL === undefined ? 'none: sessions in PostgreSQL' : 'yes',
}
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
process.exit(0)
