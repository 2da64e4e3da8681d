import { readFileSync } from 'node:fs'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { readByContract } from '../../src/scoring/read-pattern.js'
import { scoreTask } from '../../src/scoring/score.js'
import type { Deployment } from '../deployment.js'
import { type Connection, openConnection, request } from '../drive.js'
import { fillDatabase } from '../filled.js'
import { processorS } from '../machine.js'
import { inTurn } from '../micro/scan-over-parse.js'
import { bodyOf, enroll, userRef } from '../ratio/people.js'
import { mintIn, unitsFor } from '../ratio/sessions.js'
import { median, type Spread, spreadOf } from '../spread.js'

/** What an attempt of some length costs a scoring thread. */
interface KeysCost {
  readonly keys: number
  readonly references: number
  readonly body_bytes: number
  readonly scan_us: Spread
  /** Scan, signs, marks, score against a kept template. */
  readonly attempt_us: Spread
}

const KEYS = [15, 30, 50, 100, 200, 500]
const REFERENCES = [5, 10]
const CALLS = 10
/** Rounds before the first is measured: until then the code is not compiled as it will be. */
const WARM_UP = 50

/** Patterns of 15 to 500 keys against 5 and 10 references of their own length. */
export function measureKeys(rounds: number): KeysCost[] {
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const replayKey = new Uint8Array(32).fill(5)
  const warm = Buffer.from(bodyOf(3, 6))
  inTurn({ warm: () => scoreTask(kernel, { body: warm, references: [], replayKey }) }, WARM_UP, CALLS)
  return REFERENCES.flatMap((n) =>
    KEYS.map((keys): KeysCost => {
      const body = Buffer.from(bodyOf(3, 6, keys))
      const samples = Array.from({ length: n }, (_, i) => {
        const read = readByContract(Buffer.from(bodyOf(3, 10 + i, keys)))
        if (!read.ok) throw new Error(read.message)
        return read.sample
      })
      kernel.score(samples[0] ?? new Uint8Array(), samples)
      const template = { bytes: kernel.keep(n), n }
      const us = inTurn(
        {
          scan: () => kernel.scan(body),
          attempt: () => scoreTask(kernel, { body, references: [], template, replayKey }),
        },
        Math.max(5, rounds),
        CALLS,
      )
      return { keys, references: n, body_bytes: body.length, scan_us: us.scan, attempt_us: us.attempt }
    }),
  )
}

/** What a verify costs at one size. */
export interface Grown {
  readonly size: number
  readonly p50_ms: Spread
  /** Processor of PostgreSQL for each. */
  readonly postgres_us: Spread
}

/** People who verify: more than a megabyte remembers, so that each is read anew. */
export const VERIFIERS = 200

interface Options {
  readonly people: number
  readonly authentications: number
  readonly rounds: number
  readonly calls: number
}

/** Verifies one after the other, over HTTP, at each size: first people are added, then authentications. */
export async function measureStored(
  deployment: Deployment,
  { people, authentications, rounds, calls }: Options,
  say: (line: string) => void,
): Promise<{ readonly people: Grown[]; readonly authentications: Grown[] }> {
  const { apikey, organizationId, databaseUrl, stores, redisUrl, postgresPid } = deployment
  const service = await deployment.service({
    processes: 1,
    scoring: 'inline',
    redis: redisUrl !== null,
    env: { PROFILE_CACHE_MB: '1' },
  })
  say(`enrolling ${VERIFIERS} people through the service ...`)
  await enroll({ port: service.port, apikey, people: VERIFIERS })
  const [units, minted] = [unitsFor(VERIFIERS), mintIn(stores.sessions, organizationId)]
  const round = async (connection: Connection) => {
    const ask = (bytes: Buffer) =>
      new Promise<void>((resolve, reject) => {
        connection.onLost(reject)
        connection.ask(bytes, (status, body) => {
          if (status === 200) resolve()
          else reject(new Error(`verify: ${status} ${body.toString()}`))
        })
      })
    const requests = (await units(calls, minted, 1)).map(({ person, session, ordinals }) => {
      const headers = { apikey, 'content-type': 'application/json', 'x-service-session': session }
      return request('POST', `/core/users/${userRef(person)}/verify`, headers, bodyOf(person, ordinals[0] ?? 0))
    })
    const before = processorS(postgresPid)
    const times: number[] = []
    for (const bytes of requests) {
      const begun = performance.now()
      await ask(bytes)
      times.push(performance.now() - begun)
    }
    const after = processorS(postgresPid)
    return { p50: median(times), postgres: (1e6 * ((after ?? Number.NaN) - (before ?? Number.NaN))) / calls }
  }
  const measured = async (size: number): Promise<Grown> => {
    // Anew each time: one that rested while the stores were filled has been closed.
    const connection = await openConnection(service.port)
    // The first round finds pages that nobody has read since they were written.
    await round(connection)
    const found: Awaited<ReturnType<typeof round>>[] = []
    for (let n = 0; n < rounds; n++) found.push(await round(connection))
    connection.close()
    const [p50_ms, postgres_us] = [
      spreadOf(found.map(({ p50 }) => p50)),
      spreadOf(found.map(({ postgres }) => postgres)),
    ]
    say(`  ${size.toLocaleString('en')}: ${p50_ms.median.toFixed(2)} ms`)
    return { size, p50_ms, postgres_us }
  }
  const grow = async (what: 'people' | 'authentications', most: number): Promise<Grown[]> => {
    say(`${what} ...`)
    const steps: Grown[] = []
    let from = 1
    for (const to of [Math.ceil(most / 1000), Math.ceil(most / 100), Math.ceil(most / 10), most]) {
      const none = [1, 0] as const
      const users = what === 'people' ? ([from, to] as const) : ([people + 1, people] as const)
      const attempts = what === 'people' ? none : ([from, to] as const)
      await fillDatabase(databaseUrl, organizationId, { users, attempts, marks: true, say })
      from = to + 1
      steps.push(await measured(to))
    }
    return steps
  }
  return { people: await grow('people', people), authentications: await grow('authentications', authentications) }
}
