import { Counter, type Metric } from 'prom-client'

interface CountsOptions<L extends string> {
  /** Ends in `_total`. */
  readonly name: string
  readonly help: string
  readonly labelNames: readonly L[]
}

/** A counter with labels. A call costs one look-up in a map; prom-client builds a text of all labels at each call. */
export interface Counts {
  /** `values` has one value per label name, in the order of the names, from closed sets, so that the series are bounded. */
  add(values: readonly string[], n?: number): void
  readonly metric: Metric
}

export function createCounts<L extends string>({ name, help, labelNames }: CountsOptions<L>): Counts {
  const series = new Map<string, { readonly labels: Partial<Record<L, string>>; n: number }>()
  const metric = new Counter<L>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [],
    collect() {
      this.reset()
      for (const { labels, n } of series.values()) this.inc(labels, n)
    },
  })
  return {
    metric,
    add(values, n = 1) {
      const key = values.join(' ')
      let one = series.get(key)
      if (one === undefined) {
        const labels: Partial<Record<L, string>> = {}
        labelNames.forEach((label, i) => {
          labels[label] = values[i] ?? ''
        })
        one = { labels, n: 0 }
        series.set(key, one)
      }
      one.n += n
    },
  }
}
