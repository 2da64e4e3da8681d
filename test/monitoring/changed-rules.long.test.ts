import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { promtool, whyNoPromtool } from '../servers/promtool.js'
import { pathOf, rules } from './files.js'

const TESTS = ['keystride.test.yml', 'keystride-days.test.yml'] as const
const names = rules()
  .groups.flatMap((group) => group.rules)
  .flatMap(({ alert }) => alert ?? [])
  .sort()

/** Runs all tests on rules whose alerts have this expression instead; returns the alerts of the tests that fail. */
function failuresIf(expr: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-rules-'))
  try {
    const changed = rules().groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => (rule.alert === undefined ? rule : { ...rule, expr })),
    }))
    writeFileSync(join(folder, 'keystride.rules.yml'), stringify({ groups: changed }))
    return TESTS.flatMap((file) => {
      copyFileSync(pathOf(`deploy/prometheus/${file}`), join(folder, file))
      const { output } = promtool(['test', 'rules', join(folder, file)])
      return [...output.matchAll(/expr: "ALERTS\{alertname=\\"(\w+)\\"/g)].map(([, name]) => name ?? '')
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the tests of the alert rules', () => {
  const why = whyNoPromtool()
  if (why !== null) console.warn(`\n*** ${why} ***\n`)

  it.skipIf(why !== null)(
    'fail for each alert that never fires, and for each that always fires',
    () => {
      expect([...new Set(failuresIf('vector(1) == 2'))].sort()).toEqual(names)
      expect([...new Set(failuresIf('vector(1)'))].sort()).toEqual(names)
    },
    240_000,
  )
})
