import { spawnSync } from 'node:child_process'

/** Null if promtool is installed, otherwise the reason to skip its checks. Throws instead under `REQUIRE_PROMTOOL=1`. */
export function whyNoPromtool(): string | null {
  if (spawnSync('promtool', ['--version']).status === 0) return null
  const line = "NO PROMTOOL: metrics and alert rules are not checked by it: SKIPPED (install Debian's prometheus)"
  if (process.env.REQUIRE_PROMTOOL === '1') throw new Error(line)
  return line
}

/** Runs promtool; returns its exit status and all its output. */
export function promtool(args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}
