import { Worker } from 'node:worker_threads'
import { quantile } from '../shared/drive.js'
import { processorS } from '../shared/machine.js'
import type { FromGenerator, Seen, ToGenerator, Unit } from './generator.js'

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
  /** Processor time per answer of this process, which generates the load. */
  readonly generator_cpu_us: number | null
}

/** The threads that generate load. */
export interface Generators {
  prepare(what: Omit<Extract<ToGenerator, { kind: 'prepare' }>, 'kind'>): Promise<void>
  /** `pids`: the processes under test, for their processor time. */
  go(how: Omit<Extract<ToGenerator, { kind: 'go' }>, 'kind'> & { readonly pids: readonly number[] }): Promise<Measured>
  close(): Promise<void>
}

export function startGenerators(threads: number): Generators {
  const workers = Array.from({ length: threads }, () => new Worker(new URL('./generator.js', import.meta.url)))
  const shareOf = (all: number, i: number) => Math.floor((all + i) / threads)

  /** Sends a message to each thread and waits until each has answered with `kind`. */
  const together = <K extends FromGenerator['kind']>(
    kind: K,
    messageOf: (i: number) => ToGenerator,
    onMeasuring: () => void = () => {},
  ) =>
    Promise.all(
      workers.map(
        (worker, i) =>
          new Promise<Extract<FromGenerator, { kind: K }>>((resolve, reject) => {
            const hear = (message: FromGenerator) => {
              if (message.kind === 'measuring') return onMeasuring()
              worker.off('message', hear).off('error', reject)
              // Sound: the message has this kind.
              if (message.kind === kind) resolve(message as Extract<FromGenerator, { kind: K }>)
              else reject(new Error(message.kind === 'failed' ? message.message : `a generator said ${message.kind}`))
            }
            worker.on('message', hear).once('error', reject)
            worker.postMessage(messageOf(i))
          }),
      ),
    )

  return {
    async prepare({ units, ...rest }) {
      const dealt = workers.map((): Unit[] => [])
      units.forEach((unit, i) => void dealt[i % threads]?.push(unit))
      await together('ready', (i) => ({ kind: 'prepare', units: dealt[i] ?? [], ...rest }))
    },
    async go({ pids, ...how }) {
      let before: readonly (number | null)[] | null = null
      const used = () => [processorOf(pids), process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6] as const
      const said = await together(
        'seen',
        (i) => ({
          kind: 'go',
          ...how,
          connections: shareOf(how.connections, i),
          rate: how.rate === null ? null : how.rate / threads,
        }),
        () => {
          before ??= used()
        },
      )
      const after = used()
      const seen = said.map(({ seen: one }) => one)
      return measured(
        seen,
        after.map((value, i) => difference(value, before?.[i] ?? null)),
      )
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

function processorOf(pids: readonly number[]): number | null {
  const each = pids.map(processorS)
  return each.some((s) => s === null) ? null : each.reduce<number>((sum, s) => sum + (s ?? 0), 0)
}

const difference = (after: number | null, before: number | null): number | null =>
  after === null || before === null ? null : after - before

const digits = (value: number, places: number): number => Number(value.toFixed(places))

/** Sums the rates of the threads and pools their latencies. */
function measured(seen: readonly Seen[], [serverS = null, generatorS = null]: readonly (number | null)[]): Measured {
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
    server_cpu_us: each(serverS),
    generator_cpu_us: each(generatorS),
  }
}
