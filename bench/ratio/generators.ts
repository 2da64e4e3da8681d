import { Worker } from 'node:worker_threads'
import { quantile } from '../shared/drive.js'
import { type Parts, type UsedBy, usedBetween, usedSoFar } from '../shared/parts.js'
import { within } from '../shared/within.js'
import type { FromGenerator, Seen, ToGenerator } from './generator.js'

/** Result of one run of load. */
export interface Measured {
  readonly per_s: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly answers: number
  readonly statuses: Readonly<Record<string, number>>
  readonly actions: Readonly<Record<string, number>>
  /** Processor time per answer of the processes under test, µs; null on a system without /proc. */
  readonly server_cpu_us: number | null
  /** The same of the stores, which idle services use little; null without /proc, or for a store that the bench did not start. */
  readonly postgres_cpu_us: number | null
  readonly redis_cpu_us: number | null
  /** Processor time per answer of this process, which generates the load. */
  readonly generator_cpu_us: number | null
}

/** The threads that generate load. */
export interface Generators {
  /** Creates the requests of the next `go`. Each thread gets every nth unit. */
  prepare(what: Exclude<ToGenerator, { kind: 'go' }>): Promise<void>
  go(how: Omit<Extract<ToGenerator, { kind: 'go' }>, 'kind'> & { readonly parts: Parts }): Promise<Measured>
  close(): Promise<void>
}

/** Limits of the threads beyond the duration of a load, s. */
const [PREPARED_S, ANSWERED_S] = [300, 90]

export function startGenerators(threads: number): Generators {
  const workers = Array.from({ length: threads }, () => new Worker(new URL('./generator.js', import.meta.url)))
  const shareOf = (all: number, i: number) => Math.floor((all + i) / threads)

  /** Sends a message to each thread and waits until each has answered with `kind`. */
  const together = <K extends FromGenerator['kind']>(
    { kind, withinS, onMeasuring = () => {} }: { readonly kind: K; readonly withinS: number; onMeasuring?: () => void },
    messageOf: (i: number) => ToGenerator,
  ) =>
    Promise.all(
      workers.map((worker, i) => {
        const heard = new Promise<Extract<FromGenerator, { kind: K }>>((resolve, reject) => {
          const ended = () => reject(new Error('a generator ended'))
          const hear = (message: FromGenerator) => {
            if (message.kind === 'measuring') return onMeasuring()
            worker.off('message', hear).off('error', reject).off('exit', ended)
            // Sound: the message has this kind.
            if (message.kind === kind) resolve(message as Extract<FromGenerator, { kind: K }>)
            else reject(new Error(message.kind === 'failed' ? message.message : `a generator said ${message.kind}`))
          }
          worker.on('message', hear).once('error', reject).once('exit', ended)
          worker.postMessage(messageOf(i))
        })
        return within(`a generator to be ${kind}`, heard, 1000 * withinS)
      }),
    )

  return {
    async prepare({ units, ...rest }) {
      // Sound: the units of a message are of one kind, and each thread gets some of them.
      const dealt = (i: number) => ({ ...rest, units: units.filter((_, n) => n % threads === i) }) as ToGenerator
      await together({ kind: 'ready', withinS: PREPARED_S }, dealt)
    },
    async go({ parts, ...how }) {
      let before: UsedBy | null = null
      const used = () => usedSoFar(parts)
      const withinS = how.warmUpS + how.seconds + ANSWERED_S
      const onMeasuring = () => {
        before ??= used()
      }
      const said = await together({ kind: 'seen', withinS, onMeasuring }, (i) => ({
        kind: 'go',
        ...how,
        connections: shareOf(how.connections, i),
        rate: how.rate === null ? null : how.rate / threads,
      }))
      const after = used()
      return measured(
        said.map(({ seen }) => seen),
        usedBetween(before, after),
      )
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

const digits = (value: number, places: number): number => Number(value.toFixed(places))

/** Sums the rates of the threads and pools their latencies. */
function measured(seen: readonly Seen[], used: UsedBy): Measured {
  const latencies = Float64Array.from(seen.flatMap(({ latenciesMs }) => [...latenciesMs])).sort()
  const counted = (of: (one: Seen) => ReadonlyMap<string | number, number>) => {
    const counts: Record<string, number> = {}
    for (const one of seen) for (const [name, n] of of(one)) counts[name] = (counts[name] ?? 0) + n
    return counts
  }
  const each = (seconds: number | null) =>
    seconds === null || latencies.length === 0 ? null : digits((1e6 * seconds) / latencies.length, 1)
  return {
    per_s: Math.round(seen.reduce((sum, { answers, seconds }) => sum + answers / seconds, 0)),
    p50_ms: digits(quantile(latencies, 0.5), 3),
    p99_ms: digits(quantile(latencies, 0.99), 3),
    answers: latencies.length,
    statuses: counted(({ statuses }) => statuses),
    actions: counted(({ actions }) => actions),
    server_cpu_us: each(used.front),
    postgres_cpu_us: each(used.postgres),
    redis_cpu_us: each(used.redis),
    generator_cpu_us: each(used.generator),
  }
}
