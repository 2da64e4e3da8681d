import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { whyNoSystemdAnalyze } from '../servers/systemd.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'deploy/systemd')
const UNITS = ['keystride.service', 'keystride-migrate.service']
const unit = (name: string) => readFileSync(join(folder, name), 'utf8')
const valuesOf = (name: string, key: string): string[] =>
  [...unit(name).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

const why = whyNoSystemdAnalyze()
if (why !== null)
  console.warn(`
*** ${why} ***
`)

const analyze = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** Exposure of a unit by `systemd-analyze security`: 0.0 to 10.0. */
function exposureOf(file: string): number {
  const { output } = analyze('security', '--offline=yes', file)
  return Number(/Overall exposure level for \S+: (\d+\.\d)/.exec(output)?.[1])
}

describe('the units', () => {
  it('have the same settings, secrets and restrictions', () => {
    const [service, migrate] = UNITS.map((name) => /^# Settings: .*/ms.exec(unit(name))?.[0].split('\n\n[Install]')[0])
    expect(service).toMatch(/LoadCredential=[\s\S]*ProtectSystem=strict[\s\S]*LimitCORE=0/)
    expect(migrate?.trimEnd()).toBe(service)
  })

  it('stop as the service stops: SIGTERM to its first process, and more time than the longest STOP_LEAD_S takes', () => {
    expect(valuesOf('keystride.service', 'KillMode')).toEqual(['mixed'])
    expect(Number(valuesOf('keystride.service', 'TimeoutStopSec')[0])).toBeGreaterThanOrEqual(60 + 5)
    expect(valuesOf('keystride.service', 'LimitNOFILE')).toEqual(['65536'])
  })
})

describe.skipIf(why !== null)('systemd-analyze', () => {
  it('says an exposure of 2.0 or less for each unit, and more for one without restrictions', () => {
    for (const name of UNITS) expect(exposureOf(join(folder, name))).toBeLessThanOrEqual(2)
    const place = mkdtempSync(join(tmpdir(), 'keystride-units-'))
    writeFileSync(join(place, 'open.service'), '[Service]\nExecStart=/bin/true\n')
    expect(exposureOf(join(place, 'open.service'))).toBeGreaterThan(9)
    rmSync(place, { recursive: true })
  })

  it('finds no mistake in the units, and finds a planted one', () => {
    const place = mkdtempSync(join(tmpdir(), 'keystride-units-'))
    mkdirSync(join(place, 'with'))
    for (const name of UNITS) {
      // The program is not installed here.
      const text = unit(name).replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true')
      writeFileSync(join(place, name), text)
      writeFileSync(join(place, 'with', name), text.replace('ProtectSystem=', 'ProtectSytem='))
    }
    const verified = (at: string) => analyze('verify', '--man=no', ...UNITS.map((name) => join(at, name)))
    expect(verified(place)).toEqual({ status: 0, output: '' })
    expect(verified(join(place, 'with')).output).toContain("Unknown key 'ProtectSytem'")
    rmSync(place, { recursive: true })
  })
})
