import { parentPort } from 'node:worker_threads'
import { type Connection, openConnection, request } from '../shared/drive.js'
import { openPool } from '../shared/pool.js'
import { bodyOf, ENROLLED_PRESSES, userRef } from './people.js'
import { type SignIn, signInLoops, signInOf } from './sign-in-loops.js'

/** The requests of one session, sent in sequence by one connection. */
export interface Unit {
  readonly person: number
  readonly session: string
  /** Ordinals of the typing, one per request. */
  readonly ordinals: readonly number[]
}

/** A sign-in by a person with the typing of a made-up one. */
export interface SignInUnit {
  readonly userRef: string
  readonly typist: number
  readonly ordinal: number
}

export type ToGenerator =
  /** Creates requests before they are sent; `reuse` starts again when they are used up. */
  | {
      readonly kind: 'prepare'
      readonly units: readonly Unit[]
      readonly apikey: string
      readonly method: 'GET' | 'POST'
      /** Path; `{userRef}` is replaced by the person's. */
      readonly path: string
      /** Key presses of a pattern; null sends no body and no session. */
      readonly presses: number | null
      readonly reuse: boolean
    }
  | {
      readonly kind: 'prepare-sign-ins'
      readonly units: readonly SignInUnit[]
      readonly apikey: string
      /** Path of the bootstrap; `{userRef}` is replaced by the person's. */
      readonly path: string
    }
  | {
      readonly kind: 'go'
      readonly port: number
      /** Requests or sign-ins at once. */
      readonly connections: number
      readonly warmUpS: number
      readonly seconds: number
      /** Requests a second at even intervals, independent of earlier answers; null runs a closed loop. */
      readonly rate: number | null
    }

/** The figures of one thread after the warm-up. */
export interface Seen {
  readonly answers: number
  readonly seconds: number
  /** Latencies; in an open loop they count from the due time of the request. */
  readonly latenciesMs: Float64Array
  readonly statuses: ReadonlyMap<number, number>
  /** Number of verifies by `action`; other answers have none. */
  readonly actions: ReadonlyMap<string, number>
  /** Whether the requests were used up; `seconds` ends there. */
  readonly ranDry: boolean
}
export type FromGenerator =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measuring' }
  | { readonly kind: 'seen'; readonly seen: Seen }
  | { readonly kind: 'failed'; readonly message: string }

let units: Buffer[][] = []
/** Prepared in place of `units`; null if those are. */
let signIns: SignIn[] | null = null
let reuse = false

/** Returns the next of a list, again from the first with `reuse`; undefined if used up. */
function supply<T>(list: readonly T[]): () => T | undefined {
  let next = 0
  return () => {
    if (reuse && next >= list.length) next = 0
    return list[next++]
  }
}

const count = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1)
const ACTION = /"action":"([a-z]+)"/

async function run({ port, connections, warmUpS, seconds, rate }: Extract<ToGenerator, { kind: 'go' }>): Promise<Seen> {
  const [latencies, statuses, actions] = [[] as number[], new Map<number, number>(), new Map<string, number>()]
  const from = performance.now() + 1000 * warmUpS
  const until = from + 1000 * seconds
  setTimeout(() => parentPort?.postMessage({ kind: 'measuring' } satisfies FromGenerator), 1000 * warmUpS)
  let dryAt: number | null = null
  const note = (dueAt: number, status: number, body: Buffer) => {
    const now = performance.now()
    if (now < from || now > until) return
    latencies.push(now - dueAt)
    count(statuses, status)
    const action = ACTION.exec(body.toString('latin1', 0, 300))?.[1]
    if (action !== undefined) count(actions, action)
  }
  const dry = () => {
    dryAt ??= performance.now()
  }
  const how = { until, note, dry, rate }
  if (signIns === null) await requests(port, connections, how)
  else await wholeSignIns(port, connections, { ...how, next: supply(signIns) })
  return {
    answers: latencies.length,
    seconds: Math.max(0.001, (Math.min(until, dryAt ?? until) - from) / 1000),
    latenciesMs: Float64Array.from(latencies),
    statuses,
    actions,
    ranDry: dryAt !== null,
  }
}

type How = Pick<Looping, 'until' | 'note' | 'dry'> & { readonly rate: number | null }

async function requests(port: number, connections: number, { rate, ...how }: How): Promise<void> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const loop = rate === null ? closedLoop : openLoop(rate)
  await new Promise<void>((resolve, reject) => {
    for (const connection of open) connection.onLost(reject)
    loop({ ...how, open, next: supply(units) }).then(resolve, reject)
  })
  for (const connection of open) connection.close()
}

/** Two connections for each sign-in at once, so that each request may choose. */
async function wholeSignIns(
  port: number,
  atOnce: number,
  how: How & { readonly next: () => SignIn | undefined },
): Promise<void> {
  let lost: (error: Error) => void = () => {}
  const pool = await openPool(port, 2 * atOnce, (error) => lost(error))
  await new Promise<void>((resolve, reject) => {
    lost = reject
    signInLoops({ ...how, pool, atOnce }).then(resolve, reject)
  })
  pool.close()
}

interface Looping {
  readonly open: readonly Connection[]
  /** No request begins afterwards. */
  readonly until: number
  next(): Buffer[] | undefined
  note(dueAt: number, status: number, body: Buffer): void
  /** Called when the requests are used up. */
  dry(): void
}

/** Each connection sends the next request after an answer, all of a session before the next session. */
async function closedLoop({ open, until, next, note, dry }: Looping): Promise<void> {
  await Promise.all(
    open.map(
      (connection) =>
        new Promise<void>((resolve) => {
          let unit: Buffer[] = []
          let at = 0
          const send = () => {
            const now = performance.now()
            if (now >= until) return resolve()
            if (at === unit.length) {
              unit = next() ?? []
              at = 0
            }
            const bytes = unit[at++]
            if (bytes === undefined) {
              dry()
              return resolve()
            }
            connection.ask(bytes, (status, body) => {
              note(now, status, body)
              send()
            })
          }
          send()
        }),
    ),
  )
}

/** Requests are due at even intervals; each uses the first free connection. One request per unit. */
const openLoop =
  (rate: number) =>
  ({ open, until, next, note, dry }: Looping): Promise<void> =>
    new Promise((resolve) => {
      const free = [...open]
      const waiting: number[] = []
      const begun = performance.now()
      let due = 0
      let ended = false
      const send = (connection: Connection, dueAt: number) => {
        const bytes = next()?.[0]
        if (bytes === undefined) {
          dry()
          free.push(connection)
          return end()
        }
        connection.ask(bytes, (status, body) => {
          note(dueAt, status, body)
          const waited = waiting.shift()
          if (waited === undefined) free.push(connection)
          else send(connection, waited)
          if (ended && free.length === open.length) resolve()
        })
      }
      const timer = setInterval(() => {
        const now = performance.now()
        if (now >= until) return end()
        for (; begun + (1000 * due) / rate <= now; due++) {
          const connection = free.shift()
          if (connection === undefined) waiting.push(begun + (1000 * due) / rate)
          else send(connection, begun + (1000 * due) / rate)
        }
      }, 1)
      function end() {
        clearInterval(timer)
        waiting.length = 0
        ended = true
        if (free.length === open.length) resolve()
      }
    })

function prepare(what: Extract<ToGenerator, { kind: 'prepare' }>): void {
  const { apikey, method, path, presses } = what
  reuse = what.reuse
  signIns = null
  units = what.units.map(({ person, session, ordinals }) =>
    ordinals.map((ordinal) => {
      const to = path.replace('{userRef}', userRef(person))
      if (presses === null) return request(method, to, { apikey }, '')
      const headers = { apikey, 'content-type': 'application/json', 'x-service-session': session }
      return request(method, to, headers, bodyOf(person, ordinal, presses))
    }),
  )
}

function prepareSignIns({ units: people, apikey, path }: Extract<ToGenerator, { kind: 'prepare-sign-ins' }>): void {
  reuse = false
  signIns = people.map(({ userRef: name, typist, ordinal }) =>
    signInOf(path.replace('{userRef}', name), apikey, bodyOf(typist, ordinal, ENROLLED_PRESSES)),
  )
}

parentPort?.on('message', async (message: ToGenerator) => {
  const answer = (said: FromGenerator) => parentPort?.postMessage(said)
  try {
    if (message.kind !== 'go') {
      if (message.kind === 'prepare') prepare(message)
      else prepareSignIns(message)
      answer({ kind: 'ready' })
    } else answer({ kind: 'seen', seen: await run(message) })
  } catch (error) {
    answer({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
})
