import { countsOf, type MetricsJson, metricsTogether, summed } from '../http/metrics.js'

/** The metrics of all fronts of one supervisor. `F` identifies a front. */
export interface FrontMetrics<F> {
  /** Asks every front and returns the metrics of all, and the supervisor's own, as one text. */
  text(fronts: Iterable<F>): Promise<string>
  /** Keeps the counts of a front that has exited: a counter that fell would show its remainder as new events. */
  exited(front: F): void
}

/**
 * A front that does not answer in time has the metrics of its last answer. The counts between the last answer of a front and
 * its exit are lost. `ask` resolves to null without an answer; `own` are the metrics of the supervisor.
 */
export function createFrontMetrics<F extends object>(
  ask: (front: F) => Promise<MetricsJson | null>,
  own: () => Promise<MetricsJson>,
): FrontMetrics<F> {
  const latest = new Map<F, MetricsJson>()
  const gone = new WeakSet<F>()
  let ended: readonly MetricsJson[] = []

  async function sumEnded(): Promise<void> {
    const before = ended
    if (before.length < 2) return
    const sum = await summed(before)
    ended = [sum, ...ended.slice(before.length)]
  }

  return {
    async text(fronts) {
      await sumEnded()
      await Promise.all(
        Array.from(fronts, async (front) => {
          const metrics = await ask(front)
          if (metrics !== null && !gone.has(front)) latest.set(front, metrics)
        }),
      )
      return metricsTogether([await own(), ...ended, ...latest.values()])
    },
    exited(front) {
      gone.add(front)
      const metrics = latest.get(front)
      latest.delete(front)
      if (metrics !== undefined) ended = [...ended, countsOf(metrics)]
    },
  }
}
