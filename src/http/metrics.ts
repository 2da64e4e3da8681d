import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Provider } from './provider.js'
import { createRequestMetrics } from './request-metrics.js'
import { LANES, type Lane } from './route.js'
import type { Answered } from './server-types.js'

interface MetricsNeeds {
  /** Version of the running build, as in GET /status. */
  readonly version: string
  readonly provider: Provider
}

export type MetricsJson = MetricObjectWithValues<MetricValue<string>>[]

export interface Metrics {
  /** Adds metrics that were made without a registry. */
  readonly add: (metrics: readonly Metric[]) => void
  /** Adds a gauge that is read at each scrape. `over` says how the values of several processes are combined. */
  readonly gauge: (name: string, help: string, read: () => number, over?: 'sum' | 'max') => void
  readonly contentType: string
  /** Every metric as an object, to be summed over processes. */
  readonly json: () => Promise<MetricsJson>
  /** The registry in Prometheus text form. */
  readonly text: () => Promise<string>
  /** The server calls this as `onAnswer`. */
  readonly onAnswer: (answered: Answered) => void
  /** The admission calls this as `onRefused`. */
  readonly onRefused: (lane: Lane) => void
  /** The admission calls this as `onHeld`. */
  readonly onHeld: (lane: Lane) => void
  /** Notes one measured delay of the event loop, ms. */
  readonly onLoopDelay: (delayMs: number) => void
}

/**
 * Turns off the library's event-loop delay, which includes the pause between two samples: an idle process sampled every
 * 100 ms shows a delay of 100 ms, and the samples wake it. The delays that the server measures are reported instead.
 */
const LOOP_LOOK_MS = 24 * 3600 * 1000
const LOOP_DELAYS = /^nodejs_eventloop_lag_.+_seconds$/
/** Gauges of the library with the name of a counter. `nodejs_active_resources` and others have the same numbers by type. */
const MISNAMED = /^nodejs_active_\w+_total$/
const LOOP_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/**
 * Metrics of one server in a registry of its own: requests and their latency by API, route template, method and status
 * class; the build; the HTTP server in use; the process. Labels come from the route table and from closed sets, so that
 * clients cannot add label values. The status class is `aborted` if the client left before its answer.
 */
export function createMetrics(needs: MetricsNeeds): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LOOK_MS })
  for (const { name } of registry.getMetricsAsArray())
    if (LOOP_DELAYS.test(name) || MISNAMED.test(name)) registry.removeSingleMetric(name)
  info(registry, 'keystride_build_info', 'The running build', { version: needs.version, node: process.versions.node })
  info(
    registry,
    'keystride_http_server_info',
    'The HTTP server in use: uWebSockets.js with its SHA-256, or node:http',
    {
      name: needs.provider.name,
      version: needs.provider.version,
      sha256: needs.provider.sha256 ?? '',
    },
  )
  const { shed, held, loopDelay } = loadMetrics(registry)
  return {
    add(metrics) {
      for (const metric of metrics) registry.registerMetric(metric)
    },
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
    onAnswer: createRequestMetrics(registry),
    onRefused: (lane) => shed.inc({ lane }),
    onHeld: (lane) => held.inc({ lane }),
    onLoopDelay: (delayMs) => loopDelay.observe(delayMs / 1000),
  }
}

function loadMetrics(registry: Registry) {
  const shed = new Counter({
    name: 'keystride_http_requests_shed_total',
    help: 'Requests shed because of overload, by lane',
    labelNames: ['lane'],
    registers: [registry],
  })
  const held = new Counter({
    name: 'keystride_http_requests_held_total',
    help: 'Requests that waited because their organization had its share while others were present, by lane',
    labelNames: ['lane'],
    registers: [registry],
  })
  const loopDelay = new Histogram({
    name: 'keystride_event_loop_delay_seconds',
    help: 'Delay of the event loop, measured twenty times a second while requests are at work',
    buckets: LOOP_BUCKETS_S,
    registers: [registry],
  })
  for (const lane of LANES) {
    shed.inc({ lane }, 0)
    held.inc({ lane }, 0)
  }
  return { shed, held, loopDelay }
}

/** The counters and histograms of the service, which keep their meaning when their process has ended. */
export const countsOf = (metrics: MetricsJson): MetricsJson =>
  metrics.filter(({ name, type }) => name.startsWith('keystride_') && ['counter', 'histogram'].includes(String(type)))

/** The metrics of several processes, summed. */
export const summed = (found: readonly MetricsJson[]): Promise<MetricsJson> =>
  AggregatorRegistry.aggregate([...found]).getMetricsAsJSON()

/** The metrics of several processes as one text. Each metric is summed unless its aggregator differs. */
export const metricsTogether = (found: readonly MetricsJson[]): Promise<string> =>
  AggregatorRegistry.aggregate([...found]).metrics()

function info(registry: Registry, name: string, help: string, labels: Record<string, string>): void {
  new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry], aggregator: 'first' }).set(labels, 1)
}
