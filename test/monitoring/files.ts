import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parse } from 'yaml'

/** The absolute path of a file of the repository. */
export const pathOf = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))
export const read = (file: string): string => readFileSync(pathOf(file), 'utf8')

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
  }[]
}

const { dashboardOf } = await import(pathToFileURL(pathOf('deploy/grafana/dashboard.mjs')).href)
/** The dashboard as `npm run monitoring -- dashboard` prints it. */
export const dashboard = (): Dashboard => JSON.parse(JSON.stringify(dashboardOf()))

interface Rule {
  readonly alert?: string
  readonly expr: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: Rule[] }[]
}

export const rules = (): Rules => parse(read('deploy/prometheus/keystride.rules.yml'))

/** The metrics that docs/monitoring.md lists, which are those that /metrics serves (test/api/product-metrics.test.ts). */
export const servedMetrics = (): string[] =>
  read('docs/monitoring.md')
    .split('\n')
    .filter((line) => line.startsWith('| `keystride_'))
    .flatMap((row) => row.split('|')[1]?.match(/keystride_\w+/g) ?? [])

/** The metrics of the service in an expression. Samples of a histogram have the name of the histogram. */
export function metricsIn(expr: string): string[] {
  const served = new Set(servedMetrics())
  return (expr.match(/\bkeystride_\w+/g) ?? []).map((name) =>
    served.has(name) ? name : name.replace(/_(bucket|sum|count)$/, ''),
  )
}
