import { expect } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.js'
import { keystrideWith } from './command.js'

/** Output of `keystride doctor --json`, and its exit status. */
export interface Diagnosis {
  readonly status: number
  readonly findings: readonly Finding[]
  /** Findings of an area that are not ok, as `level: found`. */
  readonly bad: (area?: string) => string[]
  readonly output: string
}

/** Runs the doctor in a new process. The exit status must agree with the findings. */
export async function diagnosed(env: Record<string, string>, ...args: string[]): Promise<Diagnosis> {
  const { status, stdout, stderr } = await keystrideWith(env)('doctor', '--json', ...args)
  expect(stderr).toBe('')
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] }
  const problems = findings.filter(({ level }) => level === 'problem')
  expect({ ok, status }, stdout).toEqual({ ok: problems.length === 0, status: problems.length === 0 ? 0 : 1 })
  for (const { level, found, advice } of findings) {
    expect(found).toMatch(/\.$/)
    expect(advice === null, found).toBe(level === 'ok')
  }
  const bad = (area?: string) =>
    findings
      .filter((one) => one.level !== 'ok' && (area === undefined || one.area === area))
      .map(({ level, found }) => `${level}: ${found}`)
  return { status, findings, bad, output: stdout }
}
