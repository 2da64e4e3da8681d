import { spawnSync } from 'node:child_process'

/**
 * Null if strace may trace other processes, otherwise the reason to skip its tests. Throws instead under `REQUIRE_STRACE=1`.
 */
export function whyNoStrace(): string | null {
  if (spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0) return null
  const line =
    "NO STRACE: a failing fsync and the system calls of the service are SKIPPED (install Debian's strace, and let it trace)"
  if (process.env.REQUIRE_STRACE === '1') throw new Error(line)
  return line
}
