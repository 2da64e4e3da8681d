import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { table } from '../../src/cli/table.js'
import { bodyOf, enroll, userRef } from '../ratio/people.js'
import { mintIn, unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, type Deployment, deploy, type Running } from '../shared/deployment.js'
import { type Connection, openConnection, request } from '../shared/drive.js'
import { servingMachine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { median, type Spread, spreadOf } from '../shared/spread.js'

const HELP = `How much slower the first verifies after a start of the service are than later ones. Each start: waits for /readyz, then sends
verifies of enrolled people over one connection, one at a time.

  npm run bench -- start [options]

  --starts N        starts of the service (10)
  --verifies N      verifies of a start (3000); the later half counts as warm
  --fronts N        serving processes (1)
  --presses N       key presses of the patterns (31)
  --json FILE       also write the report to a file

Starts PostgreSQL, Redis and the service with scoring threads, as by default. Needs redis-server on the PATH.
`

/** People whom the process verifies from its start on, and people whom it verifies for the first time when it is warm. */
const [PEOPLE, LATE_PEOPLE] = [96, 48]
const READY_EVERY_MS = 5

interface Options {
  readonly verifies: number
  readonly presses: number
}

/** Times of one start, ms. */
interface Start {
  readonly ready: number
  /** Verifies in order: each of the first `PEOPLE` is its person's first. */
  readonly all: readonly number[]
  /** First verifies of further people, after all others. */
  readonly firstOfPerson: readonly number[]
}

await runBench('start', async () => {
  const defaults = { starts: 10, verifies: 3000, fronts: 1, presses: 31 }
  const { numbers: options, files } = benchOptions('start', HELP, defaults, ['json'])
  const facts = servingMachine()
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const start = () => deployment.service({ processes: options.fronts, scoring: 'pool', redis: true })
    const enrolling = await start()
    await enroll({ port: enrolling.port, apikey: deployment.apikey, people: PEOPLE + LATE_PEOPLE })
    await enrolling.stop()
    const requests = requestsOf(deployment, options)
    const starts: Start[] = []
    for (let n = 0; n < options.starts; n++) starts.push(await oneStart(start, await requests()))
    const report = summary(starts)
    process.stdout.write(`${shown(report)}\n`)
    const all = { report, options, machine: facts, at: new Date().toISOString() }
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(all, null, 2)}\n`)
  } finally {
    await deployment.close()
  }
})

interface Requests {
  readonly all: readonly Buffer[]
  readonly late: readonly Buffer[]
}

/** Makes the requests of one start, so that nothing is prepared between the start and the first verify. */
function requestsOf({ stores, organizationId, apikey }: Deployment, { verifies, presses }: Options) {
  const mint = mintIn(stores.sessions, organizationId)
  const [people, late] = [unitsFor(PEOPLE), unitsFor(LATE_PEOPLE, PEOPLE)]
  const made = async (units: typeof people, count: number) =>
    (await units(Math.ceil(count / PEOPLE) * PEOPLE, mint, 1)).slice(0, count).map(({ person, session, ordinals }) => {
      const headers = { apikey, 'content-type': 'application/json', 'x-service-session': session }
      const body = bodyOf(person, ordinals[0] ?? 0, presses)
      return request('POST', `/core/users/${userRef(person)}/verify`, headers, body)
    })
  return async (): Promise<Requests> => ({ all: await made(people, verifies), late: await made(late, LATE_PEOPLE) })
}

async function oneStart(start: () => Promise<Running>, { all, late }: Requests): Promise<Start> {
  const begun = performance.now()
  const service = await start()
  try {
    const address = `http://127.0.0.1:${service.port}/readyz`
    while (!(await fetch(address)).ok) await delay(READY_EVERY_MS)
    const ready = performance.now() - begun
    const connection = await openConnection(service.port)
    const times = { all: await asked(connection, all), firstOfPerson: await asked(connection, late) }
    connection.close()
    return { ready, ...times }
  } finally {
    await service.stop()
  }
}

/** Sends the requests one after another; returns their times. */
async function asked(connection: Connection, requests: readonly Buffer[]): Promise<number[]> {
  const times: number[] = []
  for (const bytes of requests) {
    const begun = performance.now()
    await answered(connection, bytes)
    times.push(performance.now() - begun)
  }
  return times
}

function answered(connection: Connection, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.onLost(reject)
    connection.ask(bytes, (status, body) => {
      if (status === 200) resolve()
      else reject(new Error(`an answer was not 200 but ${status}: ${body.toString()}`))
    })
  })
}

/** Each figure of all starts: ms, and ratios within a start. */
function summary(starts: readonly Start[]): Record<string, Spread> {
  const of = (figure: (start: Start) => number): Spread => spreadOf(starts.map(figure))
  const nth = ({ all }: Start, n: number) => all[n - 1] ?? Number.NaN
  const known = ({ all }: Start) => median(all.slice(all.length / 2))
  const firstOfPerson = (start: Start) => median(start.firstOfPerson)
  return {
    'start until ready': of(({ ready }) => ready),
    first: of((start) => nth(start, 1)),
    second: of((start) => nth(start, 2)),
    '2nd to 5th, median': of(({ all }) => median(all.slice(1, 5))),
    '10th': of((start) => nth(start, 10)),
    '100th, a known person': of((start) => nth(start, 100)),
    'warm, first of a person': of(firstOfPerson),
    'warm, a known person': of(known),
    'first / warm first of a person': of((start) => nth(start, 1) / firstOfPerson(start)),
    'first / warm known person': of((start) => nth(start, 1) / known(start)),
  }
}

function shown(found: Readonly<Record<string, Spread>>): string {
  const rows = Object.entries(found).map(([name, { median, min, max }]) => [
    name,
    ...[median, min, max].map((value) => value.toFixed(2)),
  ])
  return table(['verify after a start, ms', 'median', 'low', 'high'], rows)
}
