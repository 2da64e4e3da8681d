import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Report } from '../../../bench/load/report-schema.js'

const bench = fileURLToPath(new URL('../../../bin/bench.mjs', import.meta.url))

export interface LoadRun {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** The output of `--json`, validated; null if none. */
  readonly report: Report | null
  /** The output of `--html`; empty if none. */
  readonly html: string
}

/** `npm run bench -- load` with its two files, in its own process. `onProgress` gets its progress output. */
export async function benchLoad(
  env: Record<string, string>,
  args: readonly string[],
  onProgress: (stderr: string, kill: (signal: 'SIGINT') => void) => void = () => {},
): Promise<LoadRun> {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-load-test-'))
  const [json, html] = [join(folder, 'report.json'), join(folder, 'report.html')]
  try {
    const child = spawn(process.execPath, [bench, 'load', ...args, '--json', json, '--html', html], {
      env: { ...process.env, ...env },
      detached: true,
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      // The signal goes to the whole process group, as from a terminal at Ctrl-C.
      onProgress(stderr, (signal) => process.kill(-(child.pid ?? 0), signal))
    })
    const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
    const text = read(json)
    return { status, stdout, stderr, report: text === '' ? null : Report.parse(JSON.parse(text)), html: read(html) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
