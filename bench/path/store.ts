import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { table } from '../../src/cli/table.js'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import type { AttemptRecord } from '../../src/storage/authentication.js'
import type { SessionStore } from '../../src/storage/session.js'
import { bodyOf, enroll, userRef, VERIFIED_FROM } from '../ratio/people.js'
import { mintIn, unitsFor } from '../ratio/sessions.js'
import { closeOnSignal, type Deployment, deploy } from '../shared/deployment.js'
import { quantile } from '../shared/drive.js'
import { machine } from '../shared/machine.js'
import { benchOptions, runBench } from '../shared/options.js'
import { type Spread, spreadOf } from '../shared/spread.js'
import { attemptLike, recorded } from './attempts.js'

const HELP = `Cost of the stores' operations in a sign-in: sequential, and concurrent.

  npm run bench -- store [options]

  --rounds N        rounds in which all operations alternate; medians are reported (5)
  --calls N         calls of each operation in a round (400; to record an attempt, at most one a person)
  --at-once N       concurrent calls in the second figure (64)
  --people N        enrolled people, whose rows are used in rotation (256)
  --json FILE       also write the figures to a file

Each operation is that of the store's interface, on Redis and on PostgreSQL if both implement it, over one connection pool of
one process. Latency is of sequential calls; operations a second are of concurrent calls. The rows of Redis need redis-server
on the PATH, or REDIS_URL.
`

/** `prepare` does the untimed work and returns the timed calls. */
interface Operation {
  readonly name: string
  prepare(count: number): Promise<readonly (() => Promise<unknown>)[]>
}

await runBench('store', async () => {
  const defaults = { rounds: 5, calls: 400, 'at-once': 64, people: 256 }
  const { numbers: options, files } = benchOptions('store', HELP, defaults)
  const facts = machine()
  const say = (line: string) => process.stderr.write(`${line}\n`)
  const deployment = await deploy('Bench')
  closeOnSignal(deployment)
  try {
    const operations = await operationsOf(deployment, options.people, say)
    const figures = new Map(operations.map(({ name }) => [name, { p50: [], p99: [], perS: [] } as Figures]))
    for (let round = -1; round < options.rounds; round++) {
      say(round < 0 ? 'a warm-up round ...' : `round ${round + 1} of ${options.rounds} ...`)
      for (const { name, prepare } of operations) {
        const alone = await inTurns(await prepare(options.calls))
        const perS = await atOnce(await prepare(options.calls), options['at-once'])
        if (round < 0) continue
        figures.get(name)?.p50.push(quantile(alone, 0.5))
        figures.get(name)?.p99.push(quantile(alone, 0.99))
        figures.get(name)?.perS.push(perS)
      }
    }
    const found = [...figures].map(([name, { p50, p99, perS }]) => ({
      name,
      p50_ms: spreadOf(p50),
      p99_ms: spreadOf(p99),
      per_s: spreadOf(perS),
    }))
    const ms = ({ median, min, max }: Spread) => `${median.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)})`
    const rows = found.map(({ name, p50_ms, p99_ms, per_s }) => [
      name,
      ms(p50_ms),
      ms(p99_ms),
      `${Math.round(per_s.median).toLocaleString('en')} (${Math.round(per_s.min).toLocaleString('en')} to ${Math.round(per_s.max).toLocaleString('en')})`,
    ])
    process.stdout.write(
      `${table(['operation', 'p50 ms', 'p99 ms', `a second, ${options['at-once']} at once`], rows)}\n`,
    )
    const report = { operations: found, options, machine: facts, at: new Date().toISOString() }
    if (files.json !== undefined) writeFileSync(files.json, `${JSON.stringify(report, null, 2)}\n`)
  } finally {
    await deployment.close()
  }
})

interface Figures {
  readonly p50: number[]
  readonly p99: number[]
  readonly perS: number[]
}

/** Makes the calls one after the other. Returns sorted milliseconds. */
async function inTurns(calls: readonly (() => Promise<unknown>)[]): Promise<Float64Array> {
  const times = new Float64Array(calls.length)
  for (const [i, call] of calls.entries()) {
    const begun = performance.now()
    await call()
    times[i] = performance.now() - begun
  }
  return times.sort()
}

/** Makes the calls with `many` concurrent. Returns calls a second. */
async function atOnce(calls: readonly (() => Promise<unknown>)[], many: number): Promise<number> {
  let next = 0
  const lane = async () => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) await call()
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: Math.min(many, calls.length) }, lane))
  return (1000 * calls.length) / (performance.now() - begun)
}

async function operationsOf(
  deployment: Deployment,
  people: number,
  say: (line: string) => void,
): Promise<readonly Operation[]> {
  const { stores, withoutRedis, organizationId, apikey, redisUrl } = deployment
  const service = await deployment.service({ processes: 1, scoring: 'inline', redis: redisUrl !== null })
  say(`enrolling ${people} people ...`)
  await enroll({ port: service.port, apikey, people })
  await verifyOnce(deployment, service.port)
  await service.stop()
  const like = await recorded(stores, organizationId, 0)
  const units = unitsFor(people)
  let next = 0
  const person = () => next++ % people
  const many = (count: number, call: (index: number) => Promise<unknown>) =>
    Array.from({ length: count }, () => person()).map((index) => () => call(index))

  const ofSessions = (backEnd: string, sessions: SessionStore): Operation[] => {
    const minted = mintIn(sessions, organizationId)
    const onSessions = (name: string, call: (who: string, sha256: string) => Promise<unknown>): Operation => ({
      name: `${backEnd}: session ${name}`,
      prepare: async (count) =>
        (await units(count, minted, 1)).map(
          ({ person: of, session }) =>
            () =>
              call(userRef(of), sha256Hex(session)),
        ),
    })
    return [
      {
        name: `${backEnd}: session mint`,
        prepare: async (count) => many(count, (of) => minted(randomBytes(32).toString('base64url'), userRef(of))),
      },
      onSessions('find', (who, sha256) => sessions.find(organizationId, who, sha256)),
      onSessions('reserve', (who, sha256) => sessions.reserve(organizationId, who, sha256, 'biometric', 3)),
    ]
  }
  return [
    ...(redisUrl === null ? [] : ofSessions('Redis', stores.sessions)),
    ...ofSessions('PostgreSQL', withoutRedis.sessions),
    {
      name: 'PostgreSQL: find a person',
      prepare: async (count) => many(count, (of) => stores.accounts.find(organizationId, userRef(of), null)),
    },
    {
      name: 'PostgreSQL: references',
      prepare: async (count) => many(count, () => stores.profiles.references(organizationId, like.memberId)),
    },
    {
      name: 'PostgreSQL: record an attempt',
      // At most one a person: a second attempt would use counters that the first one changed.
      async prepare(count) {
        const attempts: AttemptRecord[] = []
        while (attempts.length < Math.min(count, people))
          attempts.push(await attemptLike(stores, organizationId, person(), like))
        return attempts.map((attempt) => () => stores.authentications.record(organizationId, attempt))
      },
    },
  ]
}

/** Creates the record that others are modelled on. */
async function verifyOnce({ apikey, stores, organizationId }: Deployment, port: number): Promise<void> {
  const session = randomBytes(32).toString('base64url')
  await mintIn(stores.sessions, organizationId)(session, userRef(0))
  const answer = await fetch(`http://127.0.0.1:${port}/core/users/${userRef(0)}/verify`, {
    method: 'POST',
    headers: { apikey, 'content-type': 'application/json', 'x-service-session': session },
    body: bodyOf(0, VERIFIED_FROM),
  })
  if (!answer.ok) throw new Error(`verify: ${answer.status} ${await answer.text()}`)
}
