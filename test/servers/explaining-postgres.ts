import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../src/storage/postgres/embedded/embedded.js'

/** A server that sends the plan of each statement, with row and page counts, to the client as a notice. */
export interface ExplainingPostgres {
  readonly url: string
  stop(): Promise<void>
}

/** The reads of one or several statements. */
export interface Read {
  /** Rows and index entries that scans returned or filtered out. */
  readonly rows: number
  /** Page accesses in tables and indexes; a page counts once for each access. */
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

/** Autovacuum is off, so statistics change only if a test runs `analyze`. */
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

/** The reads of the statements in these notices. Pages of a statement within a function also count for its caller. */
export function readBy(notices: readonly string[]): Read {
  let [rows, pages] = [0, 0]
  for (const notice of notices) {
    const start = notice.indexOf('{')
    if (!notice.includes('plan:') || start < 0) continue
    const { Plan: plan } = JSON.parse(notice.slice(start)) as { Plan: Plan } // Sound: auto_explain writes this format.
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
