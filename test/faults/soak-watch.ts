import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@redis/client'
import postgres from 'postgres'
import { until } from '../patience.js'
import { client } from './load.js'
import type { SoakDeployment } from './soak-faults.js'

/** A period, as performance.now(). */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Repeats `work` with pauses of `everyMs`. Returns a function that stops it. */
function again(everyMs: number, work: () => Promise<void>): () => Promise<void> {
  let over = false
  const running = (async () => {
    while (!over) {
      await work()
      await delay(everyMs)
    }
  })()
  return async () => {
    over = true
    await running
  }
}

interface StatusWatch {
  /** The slowest answer since the last call, ms: the delay by a loaded machine. */
  slowest(): number
  /** Resolves when every service has answered OK to a request after `since`, with the last other answer since then, or ''. */
  allOk(since: number): Promise<string>
  stop(): Promise<void>
}

export function watchStatus({ ports }: SoakDeployment): StatusWatch {
  let slowest = 0
  const okAt = ports.map(() => 0)
  let other = { at: 0, answer: '' }
  const stops = ports.map((port, i) => {
    const ask = client(`http://127.0.0.1:${port}/core`, '')
    const stop = again(50, async () => {
      const { status, json, askedAt, ms } = await ask('status', 'GET', '/status')
      if (status === 200) slowest = Math.max(slowest, ms)
      if (json?.status === 'OK') okAt[i] = askedAt
      else
        other = {
          at: askedAt,
          answer: `${port}: ${status} ${json?.message ?? ''} in ${Math.round(ms)} ms`,
        }
    })
    return async () => {
      await stop()
      ask.end()
    }
  })
  return {
    slowest() {
      const found = slowest
      slowest = 0
      return found
    },
    async allOk(since) {
      await until(async () => okAt.every((at) => at > since))
      return other.at > since ? other.answer : ''
    },
    async stop() {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}

/**
 * A commit, a flush and a ping of Redis take a millisecond or two. The service waits 150 ms for Redis and 300 ms for a
 * silent database.
 */
const LATE_MS = 75
const PAGE_BYTES = 8192

interface StoreWatch {
  /** Periods in which a store answered this process late or not at all; the service is not involved. */
  readonly late: readonly Span[]
  /** Periods in which a write to the disk of the stores took long for this process, which is not a store. */
  readonly diskLate: readonly Span[]
  /** Periods in which this process stood still, and so did the proxies that run in it. */
  readonly stalls: readonly Span[]
  stop(): Promise<void>
}

/** Detects delays of the stores by other work on the machine: a busy disk or processor. */
export async function watchStores({ databaseUrl, redisPort }: SoakDeployment): Promise<StoreWatch> {
  const [late, diskLate]: [Span[], Span[]] = [[], []]
  const folder = await mkdtemp(join(tmpdir(), 'keystride-soak-disk-'))
  const file = await open(join(folder, 'page'), 'w')
  const page = Buffer.alloc(PAGE_BYTES)
  const flush = async () => {
    await file.write(page, 0, PAGE_BYTES, 0)
    await file.datasync()
  }
  const sql = postgres(databaseUrl, { max: 1, backoff: () => 0.1, onnotice: () => {} })
  await sql`create table public.beat (at timestamptz)`
  await sql`insert into public.beat values (now())`
  const redis = createClient({
    socket: { host: '127.0.0.1', port: redisPort, reconnectStrategy: () => 50 },
    disableOfflineQueue: true,
  })
  redis.on('error', () => {})
  await redis.connect()
  const timed = async (late: Span[], work: () => PromiseLike<unknown>) => {
    const from = performance.now()
    const well = await Promise.resolve(work()).then(
      () => true,
      () => false,
    )
    const to = performance.now()
    if (!well || to - from > LATE_MS) late.push({ from, to })
  }
  const stalls: Span[] = []
  let lookedAt = performance.now()
  const looking = setInterval(() => {
    const now = performance.now()
    if (now - lookedAt > LATE_MS) stalls.push({ from: lookedAt, to: now })
    lookedAt = now
  }, 20)
  const beats = [
    again(50, () => timed(late, () => sql`update public.beat set at = now()`)),
    again(50, () => timed(late, () => redis.ping())),
    again(50, () => timed(diskLate, flush)),
  ]
  return {
    late,
    diskLate,
    stalls,
    async stop() {
      clearInterval(looking)
      await Promise.all(beats.map((stop) => stop()))
      redis.destroy()
      await sql.end({ timeout: 1 })
      await file.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** One measurement of the lasting process. */
export interface Grown {
  readonly at: number
  readonly rssMiB: number
  /** Memory of one scoring kernel, bytes. */
  readonly wasmBytes: number
  /** Processor time so far, s. */
  readonly cpuS: number
  /**
   * Processor time of a fixed computation in this process at that moment, ms: the speed of the machine, independent of
   * the service.
   */
  readonly yardstickMs: number
}

interface GrowthWatch {
  readonly seen: readonly Grown[]
  stop(): Promise<void>
}

export function watchGrowth({ ports }: SoakDeployment): GrowthWatch {
  const seen: Grown[] = []
  const stop = again(1000, async () => {
    const text = await (await fetch(`http://127.0.0.1:${ports[1]}/metrics`)).text()
    const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    seen.push({
      at: performance.now(),
      rssMiB: metric('process_resident_memory_bytes') / 2 ** 20,
      wasmBytes: metric('keystride_scoring_memory_bytes'),
      cpuS: metric('process_cpu_seconds_total'),
      yardstickMs: yardstickMs(),
    })
  })
  return { seen, stop }
}

const YARDSTICK = Buffer.alloc(2 ** 19)

function yardstickMs(): number {
  const before = process.cpuUsage()
  createHash('sha256').update(YARDSTICK).digest()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

export interface OpenFiles {
  /** Files and sockets except connections to the database. */
  readonly others: number
  readonly toDatabase: number
}

/** The open files of a process. */
export function openFiles(pid: number | undefined, databasePort: number): OpenFiles {
  const place = `/proc/${pid}`
  const remote = databasePort.toString(16).toUpperCase().padStart(4, '0')
  const sockets = readFileSync(`${place}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , to = '']) => to.endsWith(`:${remote}`))
    .map((fields) => `socket:[${fields[9]}]`)
  const held = readdirSync(`${place}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`${place}/fd/${fd}`)]
    } catch {
      // Closed since it was listed.
      return []
    }
  })
  const toDatabase = held.filter((file) => sockets.includes(file)).length
  return { others: held.length - toDatabase, toDatabase }
}

/** Slope of the least-squares line through the points; NaN for fewer than two. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map((point) => point[0])), mean(points.map((point) => point[1]))]
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}
