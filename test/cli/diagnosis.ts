import { expect } from 'vitest'
import { type DiagnosisOptions, diagnose } from '../../src/cli/doctor/diagnose.js'
import type { Finding } from '../../src/cli/doctor/finding.js'

export interface Diagnosis {
  readonly findings: readonly Finding[]
  /** Findings of an area, or of all, that are not ok, as `level: found`. */
  readonly bad: (area?: string) => string[]
}

/** The findings of `keystride doctor` with this environment. */
export async function diagnosed(
  env: Record<string, string>,
  options: Partial<DiagnosisOptions> = {},
): Promise<Diagnosis> {
  const findings = await diagnose({ STORE_PATIENCE: '10', ...env }, { backupMaxAge: 26, ...options })
  for (const { level, found, advice } of findings) {
    expect(found).toMatch(/\.$/)
    expect(advice === null, found).toBe(level === 'ok')
  }
  const bad = (area?: string) =>
    findings
      .filter((one) => one.level !== 'ok' && (area === undefined || one.area === area))
      .map(({ level, found }) => `${level}: ${found}`)
  return { findings, bad }
}
