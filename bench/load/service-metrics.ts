/** The metrics of a service at one moment; counters since its start. */
interface Reading {
  /** Seconds of the local monotonic clock. */
  readonly at: number
  readonly cpuS: number
  readonly shed: number
  readonly inFlight: number
  readonly waiting: number
  /** Cumulative count of verifies by upper bound in seconds; the last bound is infinite. */
  readonly verifies: ReadonlyMap<number, number>
}

/** One second of the service from its metrics. `verify_p99_ms` is null if no verify was answered. */
export interface ServiceSecond {
  readonly second: number
  readonly cpu_cores: number
  readonly in_flight: number
  readonly waiting: number
  readonly shed: number
  readonly verifies: number
  readonly verify_p99_ms: number | null
}

const PATIENCE_MS = 2000
const VERIFY_ROUTE = '/users/{userRef}/verify'

/** Fetches Prometheus text; null if the URL does not answer 200 within 2 s. */
export async function metricsText(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
    return answer.ok ? await answer.text() : null
  } catch {
    return null
  }
}

/** Parses metrics text; null if it is not that of a Keystride. */
export function readingOf(text: string, at: number): Reading | null {
  const verifies = new Map<number, number>()
  const sums = new Map<string, number>()
  for (const [, name = '', labels = '', value] of text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    if (name !== 'keystride_http_request_duration_seconds_bucket') sums.set(name, (sums.get(name) ?? 0) + Number(value))
    else if (label(labels, 'api') === 'core' && label(labels, 'route') === VERIFY_ROUTE) {
      const bound = Number((label(labels, 'le') ?? '').replace('+Inf', 'Infinity'))
      verifies.set(bound, (verifies.get(bound) ?? 0) + Number(value))
    }
  }
  const cpuS = sums.get('process_cpu_seconds_total')
  const inFlight = sums.get('keystride_http_requests_in_flight')
  if (cpuS === undefined || inFlight === undefined) return null
  const shed = sums.get('keystride_http_requests_shed_total') ?? 0
  return { at, cpuS, shed, inFlight, waiting: sums.get('keystride_http_requests_waiting') ?? 0, verifies }
}

const label = (labels: string, name: string): string | undefined =>
  new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1]

/** The second between two readings. */
function secondBetween(second: number, before: Reading, after: Reading): ServiceSecond {
  const perS = (read: (of: Reading) => number) => (read(after) - read(before)) / (after.at - before.at)
  const bounds = [...after.verifies]
    .sort(([a], [b]) => a - b)
    .map(([bound, count]): [bound: number, count: number] => [bound, count - (before.verifies.get(bound) ?? 0)])
  return {
    second,
    cpu_cores: perS(({ cpuS }) => cpuS),
    in_flight: after.inFlight,
    waiting: after.waiting,
    shed: after.shed - before.shed,
    verifies: bounds.at(-1)?.[1] ?? 0,
    verify_p99_ms: quantileMs(bounds, 0.99),
  }
}

/** A quantile of cumulative buckets, linear within a bucket as in Prometheus; the lower bound for the last bucket. */
function quantileMs(bounds: readonly [bound: number, count: number][], quantile: number): number | null {
  const wanted = quantile * (bounds.at(-1)?.[1] ?? 0)
  const at = bounds.findIndex(([, count]) => count >= wanted)
  const [bound, count] = bounds[at] ?? [0, 0]
  if (wanted <= 0) return null
  const [low, below] = bounds[at - 1] ?? [0, 0]
  return 1000 * (bound === Number.POSITIVE_INFINITY ? low : low + ((bound - low) * (wanted - below)) / (count - below))
}

/** Reads the metrics at `url` once a second; `end` returns the seconds with both ends read. */
export function watchService(url: string) {
  const seconds: ServiceSecond[] = []
  let last: Reading | null = null
  let begun = 0
  const look = async () => {
    const second = begun++
    const text = await metricsText(url)
    const reading = text === null ? null : readingOf(text, performance.now() / 1000)
    if (last !== null && reading !== null && reading.at > last.at && second > 0)
      seconds.push(secondBetween(second - 1, last, reading))
    last = reading
  }
  let looking = look()
  const timer = setInterval(() => {
    looking = looking.then(look)
  }, 1000)
  return {
    async end(): Promise<ServiceSecond[]> {
      clearInterval(timer)
      await looking
      return seconds
    },
  }
}
