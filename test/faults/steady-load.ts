import { setTimeout as delay } from 'node:timers/promises'
import { type Connection, openConnection } from '../../bench/shared/drive.js'

/** Somebody who asks one thing after the other: what comes next is known once the last is answered. */
export interface Asker {
  next(): Wanted
  /** Status 0: no answer came, and nobody knows what became of it. `body` is valid during the call only. */
  heard(status: number, body: Buffer): void
}

interface Wanted {
  readonly what: string
  readonly bytes: Buffer
}

/** What became of one request; times as performance.now() counts. */
export interface Told {
  readonly what: string
  readonly port: number
  /** 0: the connection broke, or nothing came within 30 s. */
  readonly status: number
  readonly dueAt: number
  readonly sentAt: number
  readonly at: number
  /** Empty unless refused. */
  readonly body: string
}

interface SteadyLoad {
  /** Requests fall due at even distances, so many a second from now on, whatever becomes of those before. */
  rate(perSecond: number): void
  /** So many requests due at once; resolves when all are answered. */
  rush(count: number, asker: () => Asker): Promise<void>
  /** Asks on every connection as soon as it is answered, so long; the successes a second. */
  saturate(seconds: number, enough?: () => boolean): Promise<number>
  /** Ends after what is due. */
  stop(): Promise<void>
}

interface Due {
  readonly at: number
  readonly asker: () => Asker
  readonly done: () => void
}

interface Lane {
  readonly port: number
  /** Null while it is dialled. */
  connection: Connection | null
  /** What is under way on it: told its end once. */
  current: { readonly sentAt: number; readonly end: (status: number, body: Buffer) => void } | null
}

/** Longer than a security code waits for a thread of low priority on a machine that other work keeps busy. */
const HUNG_MS = 30_000
const REDIAL_MS = 50
const NOTHING = Buffer.alloc(0)

/**
 * `lanes` connections, of each port in turn; one that is lost is dialled again until it is there, so what falls due meanwhile
 * goes to the other ports. Each is used in turn: the service closes what idles for ten seconds.
 */
export async function steadyLoad(
  { ports, lanes, asker }: { ports: readonly number[]; lanes: number; asker: () => Asker },
  tell: (told: Told) => void,
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
      tell({ what, port, status, dueAt, sentAt, at: performance.now(), body: refused })
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
