import { Counter, Gauge, type Metric, Registry } from 'prom-client'
import type { MetricsJson } from './metrics.js'

interface ProcessMetrics {
  /** Counts a restart of a process, successful or not. */
  restarted(): void
  readonly metrics: readonly Metric[]
  readonly json: () => Promise<MetricsJson>
}

/**
 * The numbers of processes that serve, of processes that should serve (`PROCESSES`), and of restarts on a machine. The supervisor
 * reports them, because a process that does not start reports no metrics; a service of one process reports them too.
 */
export function createProcessMetrics(wanted: number, serving: () => number): ProcessMetrics {
  const registry = new Registry()
  const registers = [registry]
  const metrics = [
    new Gauge({
      name: 'keystride_processes',
      help: 'Processes that serve',
      registers,
      collect() {
        this.set(serving())
      },
    }),
    new Gauge({ name: 'keystride_processes_wanted', help: 'Processes that should serve (PROCESSES)', registers }),
  ] as const
  metrics[1].set(wanted)
  const restarts = new Counter({
    name: 'keystride_process_restarts_total',
    help: 'Starts of a process after its exit, failed starts included',
    registers,
  })
  return {
    restarted: () => restarts.inc(),
    metrics: [...metrics, restarts],
    json: () => registry.getMetricsAsJSON(),
  }
}
