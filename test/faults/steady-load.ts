import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, openConnection } from '../../bench/shared/drive.js'

/** A client with one request at a time: `next` is called after the answer to the last request. */
export interface Asker {
  next(): Wanted
  /** Status 0: no answer came, and the effect is unknown. `body` is valid during the call only. */
  heard(status: number, body: Buffer): void
}

interface Wanted {
  readonly what: string
  readonly bytes: Buffer
}

/** The outcome of one request; times as performance.now(). */
export interface Outcome {
  readonly what: string
  readonly port: number
  /** 0: the connection broke, or no answer came within 30 s. */
  readonly status: number
  readonly dueAt: number
  readonly sentAt: number
  readonly at: number
  /** Body of the answer; empty if the status is 2xx. */
  readonly body: string
}

interface SteadyLoad {
  /** Sets the rate: requests are due at equal intervals from now on, independent of earlier answers. */
  rate(perSecond: number): void
  /** Makes `count` requests due at once; resolves when all are answered. */
  rush(count: number, asker: () => Asker): Promise<void>
  /**
   * Sends on every connection as soon as it is answered, for `seconds` or until `enough`. Returns the successes a
   * second.
   */
  saturate(seconds: number, enough?: () => boolean): Promise<number>
  /** Ends after the requests that are due. */
  stop(): Promise<void>
}

interface Due {
  readonly at: number
  readonly asker: () => Asker
  readonly done: () => void
}

interface Lane {
  readonly port: number
  /** Null during a connection attempt. */
  connection: Connection | null
  /** The current request; `end` is called once. */
  current: { readonly sentAt: number; readonly end: (status: number, body: Buffer) => void } | null
}

/** Longer than a security code waits for a low-priority thread on a loaded machine. */
const HUNG_MS = 30_000
const REDIAL_MS = 50
const NOTHING = Buffer.alloc(0)

/**
 * `lanes` connections, over the ports in turn. A lost connection is dialled again until it succeeds; meanwhile due
 * requests use the other ports. All are used in turn, because the service closes a connection that is idle for ten
 * seconds.
 */
export async function steadyLoad(
  { ports, lanes, asker }: { ports: readonly number[]; lanes: number; asker: () => Asker },
  note: (outcome: Outcome) => void,
): Promise<SteadyLoad> {
  const all: Lane[] = Array.from({ length: lanes }, (_, n) => ({
    port: ports[n % ports.length] ?? 0,
    connection: null,
    current: null,
  }))
  const free: Lane[] = []
  const waiting: Due[] = []
  let over = false
  let saturated = false
  let perSecond = 0
  let nextAt = 0
  let good = 0

  async function dial(lane: Lane): Promise<void> {
    while (!over) {
      const connection = await openConnection(lane.port).catch(() => null)
      if (connection === null) {
        await delay(REDIAL_MS)
        continue
      }
      lane.connection = connection
      connection.onLost(() => lost(lane, connection))
      give(lane)
      return
    }
  }

  function lost(lane: Lane, connection: Connection): void {
    if (lane.connection !== connection) return
    lane.connection = null
    const at = free.indexOf(lane)
    if (at >= 0) free.splice(at, 1)
    lane.current?.end(0, NOTHING)
    void dial(lane)
  }

  function give(lane: Lane): void {
    const due = waiting.shift() ?? (saturated ? { at: performance.now(), asker, done: () => {} } : undefined)
    if (due === undefined) free.push(lane)
    else send(lane, due)
  }

  function send(lane: Lane, { at: dueAt, asker: who, done }: Due): void {
    const one = who()
    const { what, bytes } = one.next()
    const sentAt = performance.now()
    const { port, connection } = lane
    const end = (status: number, body: Buffer) => {
      lane.current = null
      if (status >= 200 && status < 300) good += 1
      const refused = status >= 200 && status < 300 ? '' : body.toString()
      one.heard(status, body)
      note({ what, port, status, dueAt, sentAt, at: performance.now(), body: refused })
      done()
    }
    lane.current = { sentAt, end }
    connection?.ask(bytes, (status, body) => {
      if (lane.connection !== connection) return
      end(status, body)
      give(lane)
    })
  }

  function fallDue(due: Due): void {
    const lane = free.shift()
    if (lane === undefined) waiting.push(due)
    else send(lane, due)
  }

  const pacing = setInterval(() => {
    const now = performance.now()
    while (perSecond > 0 && nextAt <= now) {
      fallDue({ at: nextAt, asker, done: () => {} })
      nextAt += 1000 / perSecond
    }
  }, 2)
  const sweeping = setInterval(() => {
    for (const lane of all) {
      const { connection, current } = lane
      if (connection === null || current === null || performance.now() - current.sentAt < HUNG_MS) continue
      connection.close()
      lost(lane, connection)
    }
  }, 1000)
  await Promise.all(all.map(dial))

  const load: SteadyLoad = {
    rate(wanted) {
      perSecond = wanted
      nextAt = performance.now()
    },
    async rush(count, who) {
      const at = performance.now()
      await Promise.all(
        Array.from({ length: count }, () => new Promise<void>((done) => fallDue({ at, asker: who, done }))),
      )
    },
    async saturate(seconds, enough = () => false) {
      const begun = performance.now()
      const before = good
      saturated = true
      for (const lane of free.splice(0)) give(lane)
      while (performance.now() - begun < 1000 * seconds && !enough()) await delay(20)
      saturated = false
      return (good - before) / ((performance.now() - begun) / 1000)
    },
    async stop() {
      load.rate(0)
      while (waiting.length > 0 || all.some(({ current }) => current !== null)) await delay(20)
      over = true
      clearInterval(pacing)
      clearInterval(sweeping)
      for (const { connection } of all) connection?.close()
    },
  }
  return load
}
