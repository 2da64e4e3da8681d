import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startChild } from '../servers/child.js'

const source = fileURLToPath(new URL('../../packages/agent/dotnet', import.meta.url))
/** Debian's mono-mcs, and the assemblies that the agent uses. */
const LIBRARIES = ['System.Net.Http', 'System.Runtime.Serialization', 'System.Xml', 'System.Xml.Linq']
const folder = '/usr/lib/mono/4.5'

/** Whether the mono compiler and runtime are here; prints a line if they are not. */
export const hasMono =
  existsSync('/usr/bin/mcs') &&
  existsSync('/usr/bin/mono') &&
  LIBRARIES.every((name) => existsSync(join(folder, `${name}.dll`)))
if (!hasMono) {
  const line =
    "NO MONO: the tests of the agent for .NET are SKIPPED (install Debian's mono-mcs and the libmono packages of .ci/run)"
  if (process.env.REQUIRE_MONO === '1') throw new Error(line)
  console.warn(`\n*** ${line} ***\n`)
}

export interface DotnetAgent {
  /** One verify of the compiled agent; the result as the runner prints it. */
  verify(asked: Record<string, unknown>): Promise<Record<string, unknown>>
  close(): void
}

/** Compiles the agent for .NET with every warning as an error, and starts its runner. */
export function startDotnetAgent(): DotnetAgent {
  const place = mkdtempSync(join(tmpdir(), 'keystride-dotnet-'))
  const mcs = (...args: string[]) => execFileSync('mcs', ['-warnaserror', '-langversion:6', ...args], { stdio: 'pipe' })
  const references = LIBRARIES.map((name) => `-r:${name}.dll`)
  const library = join(place, 'Keystride.Agent.dll')
  const files = readdirSync(source).filter((name) => name.endsWith('.cs'))
  mcs('-target:library', `-out:${library}`, ...references, ...files.map((name) => join(source, name)))
  mcs(`-out:${join(place, 'Runner.exe')}`, ...references, `-r:${library}`, join(source, 'test/Runner.cs'))
  const runner = startChild('mono', [join(place, 'Runner.exe')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting: ((line: string) => void)[] = []
  createInterface(runner.stdout).on('line', (line) => waiting.shift()?.(line))
  return {
    verify: (asked) =>
      new Promise((resolve) => {
        waiting.push((line) => resolve(JSON.parse(line)))
        runner.stdin.write(`${JSON.stringify(asked)}\n`)
      }),
    close() {
      runner.kill()
      rmSync(place, { recursive: true })
    },
  }
}
