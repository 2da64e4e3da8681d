import { Counter, Gauge, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createProcessMetrics } from '../../src/http/process-metrics.js'
import { createFrontMetrics } from '../../src/process/front-metrics.js'

/** A front with a counter of calls and a gauge of calls in flight. */
function front() {
  const registry = new Registry()
  const registers = [registry]
  const calls = new Counter({ name: 'keystride_calls_total', help: 'Calls', registers })
  const inFlight = new Gauge({ name: 'keystride_in_flight', help: 'Calls in flight', registers })
  const cpu = new Counter({ name: 'process_cpu_seconds_total', help: 'Processor time', registers })
  return { calls, inFlight, cpu, isSilent: false, json: () => registry.getMetricsAsJSON() }
}
type Made = ReturnType<typeof front>
const open = (own: Made['json'] = async () => []) =>
  createFrontMetrics<Made>(async (one) => (one.isSilent ? null : await one.json()), own)
const values = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .sort()

describe('metrics of several fronts', () => {
  it('keep the counters of fronts that have exited, and drop their gauges and processor time', async () => {
    const metrics = open()
    const fronts = new Set([front(), front()])
    for (let n = 1; n <= 5; n++) {
      for (const one of fronts) {
        one.calls.inc(n)
        one.inFlight.set(2)
        one.cpu.inc(1)
      }
      await metrics.text(fronts)
      const [first] = fronts
      if (first === undefined) throw new Error('no front')
      fronts.delete(first)
      metrics.exited(first)
      fronts.add(front())
    }
    // Each front lived for two rounds, the first one for one round.
    expect(values(await metrics.text(fronts))).toEqual([
      `keystride_calls_total ${2 * (1 + 2 + 3 + 4 + 5)}`,
      'keystride_in_flight 2',
      'process_cpu_seconds_total 1',
    ])
  })

  it('have the metrics of the supervisor next to those of the fronts', async () => {
    const processes = createProcessMetrics(2, () => 1)
    processes.restarted()
    expect(values(await open(processes.json).text([front()]))).toEqual([
      'keystride_calls_total 0',
      'keystride_in_flight 0',
      'keystride_process_restarts_total 1',
      'keystride_processes 1',
      'keystride_processes_wanted 2',
      'process_cpu_seconds_total 0',
    ])
  })

  it('have the last answer of a front that is silent', async () => {
    const metrics = open()
    const [one, other] = [front(), front()]
    one.calls.inc(3)
    other.calls.inc(4)
    await metrics.text([one, other])
    one.isSilent = true
    other.calls.inc(1)
    expect(values(await metrics.text([one, other]))).toContain('keystride_calls_total 8')
  })
})
