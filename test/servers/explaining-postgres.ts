import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'

/** A server that sends the plan of every statement, with what it read, to the client as a notice. */
export interface ExplainingPostgres {
  readonly url: string
  stop(): Promise<void>
}

/** What one or several statements read. */
export interface Read {
  /** Rows and index entries that scans returned or filtered out. */
  readonly rows: number
  /** Pages of tables and indexes, each as often as it was asked for. */
  readonly pages: number
}

const SETTINGS = `
session_preload_libraries = 'auto_explain'
auto_explain.log_level = notice
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_buffers = on
auto_explain.log_timing = off
auto_explain.log_nested_statements = on
auto_explain.log_format = json
autovacuum = off
`

/** Statistics are as the test leaves them: nothing analyzes by itself. */
export async function startExplainingPostgres(): Promise<ExplainingPostgres> {
  const folder = mkdtempSync(path.join(tmpdir(), 'keystride-explaining-'))
  const made = await startEmbedded({ dataFolder: folder })
  await made.stop()
  appendFileSync(path.join(folder, 'postgres', 'postgresql.conf'), SETTINGS)
  const server = await startEmbedded({ dataFolder: folder })
  return {
    url: server.url,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

/** What the statements of these notices read; a statement within a function counts its pages in the caller's, too. */
export function readBy(notices: readonly string[]): Read {
  let [rows, pages] = [0, 0]
  for (const notice of notices) {
    const start = notice.indexOf('{')
    if (!notice.includes('plan:') || start < 0) continue
    const { Plan: plan } = JSON.parse(notice.slice(start)) as { Plan: Plan } // as auto_explain writes it
    rows += rowsOf(plan)
    pages += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  }
  return { rows, pages }
}

function rowsOf(plan: Plan): number {
  const touched =
    plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  const own = plan['Node Type'].endsWith('Scan') ? touched * plan['Actual Loops'] : 0
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), own)
}
