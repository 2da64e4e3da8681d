import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Provider } from './provider.js'
import { LANES, type Lane } from './route.js'
import type { Answered } from './server-types.js'

/** Buckets in seconds: dense where the service's own targets lie (p50 of a few ms, p99 under 100 ms). */
const latencyBucketsS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

interface MetricsNeeds {
  /** The running build, as in GET /status. */
  readonly version: string
  readonly provider: Provider
}

export type MetricsJson = MetricObjectWithValues<MetricValue<string>>[]

export interface Metrics {
  /** For the owner's further metrics; everything in it is in `text`. */
  readonly registry: Registry
  /** A further number that is read whenever the metrics are, and how those of several processes make one. */
  readonly gauge: (name: string, help: string, read: () => number, over?: 'sum' | 'max') => void
  readonly contentType: string
  /** Every metric as an object, for a sum over processes. */
  readonly json: () => Promise<MetricsJson>
  /** The registry in Prometheus text form. */
  readonly text: () => Promise<string>
  /** For the server's `onAnswer`. */
  readonly onAnswer: (answered: Answered) => void
  /** For the admission's `onRefused`. */
  readonly onRefused: (lane: Lane) => void
  /** How late the event loop came to a look that was due, ms. */
  readonly onLoopDelay: (delayMs: number) => void
}

/**
 * The library's figures of the event loop's delay are none: they count the pause between two looks in, so an idle process had
 * a delay of 100 ms where it looked that often, and looking kept it awake. What the server's own looks find is told instead.
 */
const LOOP_LOOK_MS = 24 * 3600 * 1000
const LOOP_DELAYS = /^nodejs_eventloop_lag_.+_seconds$/
const LOOP_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/**
 * Metrics of one server in a registry of its own: requests and their latency by API, route template, method and status
 * class, the build, the uWebSockets.js that serves, and the process. Labels come from the route table and from closed
 * sets only, so that no client can grow them. Status class `aborted` is a client that left before its answer.
 */
export function createMetrics(needs: MetricsNeeds): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS })
  for (const { name } of registry.getMetricsAsArray()) if (LOOP_DELAYS.test(name)) registry.removeSingleMetric(name)
  const labelNames = ['api', 'route', 'method', 'status_class'] as const
  const requests = new Counter({
    name: 'keystride_http_requests_total',
    help: 'Requests answered or given up',
    labelNames,
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'keystride_http_request_duration_seconds',
    help: 'From the head of a request to its answer',
    labelNames,
    buckets: latencyBucketsS,
    registers: [registry],
  })
  const shed = new Counter({
    name: 'keystride_http_requests_shed_total',
    help: 'Requests sent away because more was asked than could be done, by lane',
    labelNames: ['lane'],
    registers: [registry],
  })
  const loopDelay = new Histogram({
    name: 'keystride_event_loop_delay_seconds',
    help: 'How late the event loop came to its looks after requests at work, twenty a second while there are any',
    buckets: LOOP_BUCKETS_S,
    registers: [registry],
  })
  for (const lane of LANES) shed.inc({ lane }, 0)
  info(registry, 'keystride_build_info', 'The running build', { version: needs.version, node: process.versions.node })
  info(registry, 'keystride_uws_provider_info', 'Which uWebSockets.js serves, and whether natively', {
    name: needs.provider.name,
    version: needs.provider.version,
    native: String(needs.provider.native),
    sha256: needs.provider.sha256 ?? '',
  })
  return {
    registry,
    contentType: registry.contentType,
    json: () => registry.getMetricsAsJSON(),
    text: () => registry.metrics(),
    gauge(name, help, read, over = 'sum') {
      new Gauge({
        name,
        help,
        aggregator: over,
        registers: [registry],
        collect() {
          this.set(read())
        },
      })
    },
    onAnswer({ api, route, method, status, durationMs }) {
      const labels = { api, route, method: knownMethods.has(method) ? method : 'other', status_class: classOf(status) }
      requests.inc(labels)
      latency.observe(labels, durationMs / 1000)
    },
    onRefused: (lane) => shed.inc({ lane }),
    onLoopDelay: (delayMs) => loopDelay.observe(delayMs / 1000),
  }
}

/** The metrics of several processes as one text: sums, but for what is the same in each. */
export const metricsTogether = (found: readonly MetricsJson[]): Promise<string> =>
  AggregatorRegistry.aggregate([...found]).metrics()

const knownMethods = new Set(['get', 'head', 'post', 'put', 'patch', 'delete', 'options'])

function classOf(status: number): string {
  return status === 0 ? 'aborted' : `${Math.floor(status / 100)}xx`
}

function info(registry: Registry, name: string, help: string, labels: Record<string, string>): void {
  new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry], aggregator: 'first' }).set(labels, 1)
}
