import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { startServer } from './child.js'

/** One series of an instant query. */
interface Found {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

/** A real Prometheus with the rules of deploy/prometheus. */
export interface Prometheus {
  /** The series that a query finds now. Throws at an invalid query. */
  query(expr: string): Promise<Found[]>
  /** State of an alert: `inactive`, `pending` or `firing`. */
  state(alert: string): Promise<string>
  close(): Promise<void>
}

const folderOf = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url))
const read = (file: string) => parse(readFileSync(join(folderOf, file), 'utf8'))

/**
 * Starts Debian's Prometheus with deploy/prometheus/prometheus.yml, whose targets, intervals and waits (`for`) are replaced by those of
 * a test.
 */
export async function startPrometheus(targets: readonly string[], waitS: number): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-prometheus-'))
  const port = await freePort()
  const config = read('prometheus.yml')
  config.global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' }
  config.scrape_configs[0].static_configs[0].targets = targets
  const rules = read('keystride.rules.yml')
  for (const group of rules.groups) for (const rule of group.rules) if ('for' in rule) rule.for = `${waitS}s`
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config))
  writeFileSync(join(folder, 'keystride.rules.yml'), stringify(rules))
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]
  const base = `http://127.0.0.1:${port}`
  const ask = async (path: string) => {
    const answer = await fetch(`${base}/api/v1/${path}`)
    const { data, error } = (await answer.json()) as { data: never; error?: string }
    if (answer.status !== 200) throw new Error(`${path}: ${error}`)
    return data
  }
  const isReady = async () => (await fetch(`${base}/-/ready`).catch(() => null))?.status === 200
  const close = await startServer('prometheus', args, { folder, isReady })
  return {
    async query(expr) {
      const { resultType, result } = (await ask(`query?query=${encodeURIComponent(expr)}`)) as {
        resultType: string
        result: { metric: Record<string, string>; value: [number, string] }[]
      }
      if (resultType !== 'vector') throw new Error(`${expr}: a ${resultType}, wanted a vector`)
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }))
    },
    async state(alert) {
      const { groups } = (await ask('rules?type=alert')) as {
        groups: { rules: { name: string; state: string }[] }[]
      }
      const found = groups.flatMap(({ rules }) => rules).find(({ name }) => name === alert)
      if (found === undefined) throw new Error(`no alert ${alert}`)
      return found.state
    },
    close,
  }
}
