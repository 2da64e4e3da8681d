import { Counter, Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { metricsTogether } from '../../src/http/metrics.js'
import { createRequestMetrics } from '../../src/http/request-metrics.js'

/** The metrics of requests, made by prom-client alone. */
function plainMetrics(registry: Registry) {
  const labelNames = ['api', 'route', 'method', 'status_class']
  const requests = new Counter({
    name: 'keystride_http_requests_total',
    help: 'Requests answered or aborted',
    labelNames,
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'keystride_http_request_duration_seconds',
    help: 'From the head of a request to its answer',
    labelNames,
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  })
  return { requests, latency }
}

it('shows requests as prom-client does, after several scrapes and summed over processes', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const note = createRequestMetrics(ours)
  const { requests, latency } = plainMetrics(theirs)
  const unused = { requestId: 'r', countedAs: null, organizationId: null, aborted: false }
  for (let n = 0; n < 500; n++) {
    const status = [0, 101, 200, 201, 303, 404, 422, 503][n % 8] ?? 0
    const [api, route] = [n % 3 === 0 ? ('core' as const) : ('plain' as const), `/r${n % 5}`]
    const [method, durationMs] = [['get', 'post', 'brew', 'x'][n % 4] ?? '', (n * n) / 16]
    note({ ...unused, api, route, method, status, durationMs })
    const labels = {
      api,
      route,
      method: n % 4 < 2 ? method : 'other',
      status_class: status === 0 ? 'aborted' : `${String(status)[0]}xx`,
    }
    requests.inc(labels)
    latency.observe(labels, durationMs / 1000)
    if (n % 200 === 0) await ours.metrics()
  }
  const sorted = (text: string) => text.split('\n').sort()
  expect(sorted(await ours.metrics())).toEqual(sorted(await theirs.metrics()))
  const together = async (one: Registry) =>
    metricsTogether([await one.getMetricsAsJSON(), await one.getMetricsAsJSON()])
  expect(sorted(await together(ours))).toEqual(sorted(await together(theirs)))
})
