import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A wall clock for child processes that a test can move. */
export interface FalseClock {
  /** Environment for a process that uses this clock. Its monotonic clock stays true. */
  readonly env: Record<string, string>
  /** Sets the offset to the machine's clock, s. */
  set(offS: number): void
  remove(): void
}

const library = (() => {
  const place = '/usr/lib'
  const found = existsSync(place)
    ? readdirSync(place).map((name) => join(place, name, 'faketime/libfaketimeMT.so.1'))
    : []
  return found.find((path) => existsSync(path))
})()

/**
 * Null if libfaketime is installed, otherwise the reason to skip its tests. Throws instead under `REQUIRE_FAKETIME=1`.
 */
export function whyNoFalseClock(): string | null {
  if (library !== undefined) return null
  const line = "NO FAKETIME: jumps of a clock are SKIPPED (install Debian's faketime)"
  if (process.env.REQUIRE_FAKETIME === '1') throw new Error(line)
  return line
}

export function falseClock(): FalseClock {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-clock-'))
  const file = join(folder, 'off')
  const clock = {
    env: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_NO_CACHE: '1',
    },
    set: (offS: number) => writeFileSync(file, `${offS < 0 ? '' : '+'}${offS}\n`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  clock.set(0)
  return clock
}
