import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A clock for processes of ours that jumps when it is told to. */
export interface FalseClock {
  /** For the environment of a process that is to go by it; its monotonic clock goes on as it did. */
  readonly env: Record<string, string>
  /** Off the machine's by so many seconds from now on. */
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

/** Null where libfaketime is; else why its tests are skipped. Throws instead under `REQUIRE_FAKETIME=1`. */
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
