import { type Connection, openConnection } from '../../bench/shared/drive.js'
import { quantile } from './figures.js'

/**
 * One answer: when its request was due, ms from the start; the time until the answer, ms; the status, 0 if the
 * connection broke.
 */
export interface Heard {
  readonly kind: string
  readonly dueAt: number
  readonly ms: number
  readonly status: number
  readonly body: string
}

export interface Asking {
  readonly kind: string
  readonly bytes: Buffer
}

interface Offer {
  /** Ports of the services, used in turn. */
  readonly ports: readonly number[]
  /** The service closes a connection that is idle for ten seconds, so each must be used within that time. */
  readonly connections: number
  readonly perSecond: number
  readonly seconds: number
  readonly next: () => Asking
}

/**
 * Requests are due at equal intervals for `seconds`, independent of earlier answers, each on the connection that is
 * idle longest. Resolves when all are answered. A lost connection is replaced.
 */
export async function openLoop({ ports, connections, perSecond, seconds, next }: Offer): Promise<Heard[]> {
  const heard: Heard[] = []
  const free: Connection[] = []
  const waiting: number[] = []
  const total = Math.round(perSecond * seconds)
  let begun = 0
  let due = 0
  const open = new Set<Connection>()
  const ready = async (port: number): Promise<void> => {
    const connection = await openConnection(port)
    open.add(connection)
    give(connection, port)
  }
  const portOf = new Map<Connection, number>()

  function give(connection: Connection, port: number): void {
    portOf.set(connection, port)
    const waited = waiting.shift()
    if (waited !== undefined) {
      send(connection, waited)
      return
    }
    free.push(connection)
    connection.onLost(() => replace(connection))
  }

  function replace(connection: Connection): void {
    if (!open.delete(connection) || heard.length === total) return
    const at = free.indexOf(connection)
    if (at >= 0) free.splice(at, 1)
    ready(portOf.get(connection) ?? 0).catch(fail)
  }

  let done: () => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const finished = new Promise<void>((resolve, reject) => {
    done = resolve
    fail = reject
  })
  function note(kind: string, dueAt: number, status: number, body: string): void {
    heard.push({ kind, dueAt: dueAt - begun, ms: performance.now() - dueAt, status, body })
    if (heard.length === total) done()
  }

  function send(connection: Connection, dueAt: number): void {
    let asking: Asking
    try {
      asking = next()
    } catch (error) {
      // An error thrown in the callback of a socket would be lost, and the loop would never end.
      fail(error)
      return
    }
    const { kind, bytes } = asking
    connection.onLost(() => {
      if (!open.has(connection)) return
      note(kind, dueAt, 0, '')
      replace(connection)
    })
    connection.ask(bytes, (status, body) => {
      note(kind, dueAt, status, status === 200 ? '' : body.toString())
      give(connection, portOf.get(connection) ?? 0)
    })
  }

  await Promise.all(Array.from({ length: connections }, (_, n) => ready(ports[n % ports.length] ?? 0)))
  begun = performance.now()
  const timer = setInterval(() => {
    for (; due < total && begun + (1000 * due) / perSecond <= performance.now(); due++) {
      const dueAt = begun + (1000 * due) / perSecond
      // The connection that is idle longest: after ten seconds the service would close it, perhaps during a request.
      const connection = free.shift()
      if (connection === undefined) waiting.push(dueAt)
      else send(connection, dueAt)
    }
  }, 2)
  try {
    await finished
  } finally {
    clearInterval(timer)
    for (const connection of open) connection.close()
  }
  return heard
}

/** Each connection sends its next request after each answer. Returns the answers with status 200 a second. */
export async function closedLoop(
  port: number,
  connections: number,
  seconds: number,
  next: () => Asking,
): Promise<number> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const until = performance.now() + 1000 * seconds
  let good = 0
  await Promise.all(
    open.map(
      (connection) =>
        new Promise<void>((resolve, reject) => {
          connection.onLost(reject)
          const send = () => {
            if (performance.now() >= until) return resolve()
            connection.ask(next().bytes, (status) => {
              if (status === 200) good += 1
              send()
            })
          }
          send()
        }),
    ),
  )
  for (const connection of open) connection.close()
  return good / seconds
}

export const ofStatus = (heard: readonly Heard[], status: number): Heard[] =>
  heard.filter((one) => one.status === status)
/** p99 of the response times, ms. */
export const p99Of = (heard: readonly Heard[]): number =>
  quantile(
    heard.map(({ ms }) => ms),
    0.99,
  )
