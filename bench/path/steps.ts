import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sha256Hex } from '../../src/flows/process/tokens.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { scoreTask } from '../../src/scoring/score.js'
import { bodyOf, userRef } from '../ratio/people.js'
import { mintIn, type unitsFor } from '../ratio/sessions.js'
import type { Deployment, Running } from '../shared/deployment.js'
import { type Connection, openConnection, request } from '../shared/drive.js'
import { median, type Spread, spreadOf } from '../shared/spread.js'
import { attemptLike, recorded } from './attempts.js'

export const STEPS = [
  'http: read the body, check the key, answer',
  'sessions: reserve the attempt',
  'scoring: scan, features, signs, score, marks',
  'vault: seal the sample',
  'postgres: record and commit, alone',
] as const
type Step = (typeof STEPS)[number]

export interface PathMeasured {
  readonly steps_ms: Readonly<Record<Step, Spread>>
  readonly sum_ms: number
  /** The whole verify over HTTP, one at a time. */
  readonly whole_ms: Spread
  readonly whole_p99_ms: Spread
  /** The rest: routing, context, verdict, the answer, waits in between. */
  readonly rest_ms: number
}

interface Options {
  readonly rounds: number
  /** Calls of each step in a round. */
  readonly calls: number
  readonly people: number
  readonly presses: number
  /** The units of the whole bench: a typing that is sent a second time would be judged as a replay. */
  readonly units: ReturnType<typeof unitsFor>
}

/** Measures each step of a verify alone, one call at a time, and the whole over HTTP, in turns. People must be enrolled. */
export async function measurePath(
  deployment: Deployment,
  { service, reader }: { readonly service: Running; readonly reader: Running },
  options: Options,
): Promise<PathMeasured> {
  const { rounds, calls, people } = options
  const whole = wholeVerifies(deployment, service.port, options)
  // The first verify of each person fills the cache.
  for (let n = 0; n < people; n += calls) await whole()
  const steps = await stepsOf(deployment, reader.port, options)
  const times = Object.fromEntries(STEPS.map((step): [Step, number[]] => [step, []])) as Record<Step, number[]>
  const [wholes, wholeP99s]: [number[], number[]] = [[], []]
  for (let round = -1; round < rounds; round++) {
    for (const step of STEPS) {
      const found = median(await steps[step]())
      // The first round compiles code; it is not counted.
      if (round >= 0) times[step].push(found)
    }
    const found = await whole()
    if (round < 0) continue
    wholes.push(median(found))
    wholeP99s.push(found.sort((a, b) => a - b)[Math.ceil(0.99 * found.length) - 1] ?? Number.NaN)
  }
  const steps_ms = Object.fromEntries(STEPS.map((step) => [step, spreadOf(times[step])])) as Record<Step, Spread>
  const sum_ms = STEPS.reduce((total, step) => total + steps_ms[step].median, 0)
  const whole_ms = spreadOf(wholes)
  return {
    steps_ms,
    sum_ms,
    whole_ms,
    whole_p99_ms: spreadOf(wholeP99s),
    rest_ms: whole_ms.median - sum_ms,
  }
}

/** Sends `calls` verifies over HTTP at each call, and returns their times, ms. */
function wholeVerifies(
  { stores, organizationId, apikey }: Deployment,
  port: number,
  { calls, presses, units }: Options,
): () => Promise<number[]> {
  const mint = mintIn(stores.sessions, organizationId)
  return async () => {
    const made = await units(calls + 1, mint, 1)
    const requests = made.map(({ person, session, ordinals }) => {
      const headers = { apikey, 'content-type': 'application/json', 'x-service-session': session }
      return request(
        'POST',
        `/core/users/${userRef(person)}/verify`,
        headers,
        bodyOf(person, ordinals[0] ?? 0, presses),
      )
    })
    return answersTo(requests, port)
  }
}

/** A kernel with a template of five references, as a scoring thread has it. */
function scoringOf(presses: number) {
  const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))
  const replayKey = new Uint8Array(randomBytes(32))
  const sampleOf = (ordinal: number): Uint8Array => {
    const read = scoreTask(kernel, { body: Buffer.from(bodyOf(0, ordinal, presses)), references: [], replayKey })
    if (!read.ok) throw new Error(read.message)
    return read.reading.sample
  }
  const references = [1, 2, 3, 4, 5].map(sampleOf)
  kernel.score(references[0] ?? new Uint8Array(), references)
  return {
    kernel,
    replayKey,
    template: { bytes: kernel.templateOf(references.length), n: references.length },
    sampleOf,
  }
}

/** The steps; each call of one runs it `calls` times and returns the times, ms. */
async function stepsOf(
  { stores, organizationId, apikey }: Deployment,
  readerPort: number,
  { calls, people, presses, units }: Options,
): Promise<Record<Step, () => Promise<number[]>>> {
  const mint = mintIn(stores.sessions, organizationId)
  const { kernel, replayKey, template, sampleOf } = scoringOf(presses)
  const headers = { apikey, 'content-type': 'application/json' }
  const like = await recorded(stores, organizationId, 0)
  const sample = sampleOf(6)
  let next = 0
  const person = () => next++ % people
  return {
    'http: read the body, check the key, answer': () =>
      answersTo(
        Array.from({ length: calls + 1 }, (_, i) => request('POST', '/core/read', headers, bodyOf(0, i, presses))),
        readerPort,
      ),
    'sessions: reserve the attempt': async () =>
      each(await units(calls, mint, 1), ({ person: of, session }) =>
        stores.sessions.reserve(organizationId, userRef(of), sha256Hex(session), { kind: 'biometric', budget: 3 }),
      ),
    'scoring: scan, features, signs, score, marks': () =>
      each(
        Array.from({ length: calls }, (_, i) => Buffer.from(bodyOf(0, i + 10, presses))),
        async (body) => scoreTask(kernel, { body, references: [], template, replayKey }),
      ),
    'vault: seal the sample': () =>
      each(Array.from({ length: calls }), () => {
        const { accountId, memberId } = like
        return stores.vault.seal(organizationId, { accountId, memberId, patternId: like.id, generation: 0 }, sample)
      }),
    'postgres: record and commit, alone': async () =>
      each(
        await Promise.all(Array.from({ length: calls }, () => attemptLike(stores, organizationId, person(), like))),
        (attempt) => stores.authentications.record(organizationId, attempt),
      ),
  }
}

/** Milliseconds of each call, one at a time. */
async function each<T>(items: readonly T[], call: (item: T) => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (const item of items) {
    const begun = performance.now()
    await call(item)
    times.push(performance.now() - begun)
  }
  return times
}

/**
 * Milliseconds of each answer but the first, which also waits until the server accepts the connection. The connection is new, because
 * a server closes one that is idle for some seconds, as it may be between two steps on a busy machine.
 */
async function answersTo(requests: readonly Buffer[], port: number): Promise<number[]> {
  const connection = await openConnection(port)
  try {
    return (await each(requests, (bytes) => answered(connection, bytes))).slice(1)
  } finally {
    connection.close()
  }
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
