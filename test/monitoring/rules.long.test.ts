import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { promtool, whyNoPromtool } from '../servers/promtool.js'
import { metricsIn, pathOf, read, rules, servedMetrics } from './files.js'

const TESTS = ['keystride.test.yml', 'keystride-days.test.yml'] as const
const inFolder = (file: string) => pathOf(`deploy/prometheus/${file}`)
const all = rules().groups.flatMap((group) => group.rules)
const alerts = all.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]))

describe('deploy/prometheus/keystride.rules.yml', () => {
  it('uses only metrics that are served', () => {
    const served = servedMetrics()
    expect(served).toContain('keystride_degraded')
    expect(all.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !served.includes(name))).toEqual([])
  })

  it('has for every alert a severity, a summary, what to do, and a section of a document that exists', () => {
    for (const { alert, labels, annotations = {} } of alerts) {
      expect(['page', 'ticket'], alert).toContain(labels?.severity)
      expect([annotations.summary, annotations.description], alert).not.toContain(undefined)
      const [file = '', anchor] = annotations.runbook?.split('#') ?? []
      const anchors = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      )
      expect(anchors, alert).toContain(anchor)
    }
  })
})

const why = whyNoPromtool()
if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe.skipIf(why !== null)('promtool', () => {
  const succeeds = { status: 0, output: expect.stringContaining('SUCCESS') }

  it('finds no fault in the rules and in the example configuration', () => {
    expect(promtool(['check', 'rules', inFolder('keystride.rules.yml')])).toMatchObject(succeeds)
    expect(promtool(['check', 'config', inFolder('prometheus.yml')])).toMatchObject(succeeds)
  })

  it.each(TESTS)('passes %s', (file) => {
    expect(promtool(['test', 'rules', inFolder(file)])).toMatchObject(succeeds)
  })

  /** Runs all tests on rules whose alerts have this expression instead; returns the alerts of the tests that fail. */
  function failuresIf(expr: string): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'keystride-rules-'))
    const groups = rules().groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => (rule.alert === undefined ? rule : { ...rule, expr })),
    }))
    writeFileSync(join(folder, 'keystride.rules.yml'), stringify({ groups }))
    const failed = TESTS.flatMap((file) => {
      copyFileSync(inFolder(file), join(folder, file))
      const { output } = promtool(['test', 'rules', join(folder, file)])
      return [...output.matchAll(/alertname=\\?"(\w+)/g)].map(([, name]) => name ?? '')
    })
    rmSync(folder, { recursive: true, force: true })
    return [...new Set(failed)].sort()
  }

  it('fails the tests of each alert that never fires, and of each that always fires', () => {
    const names = alerts.map(({ alert }) => alert).sort()
    expect(failuresIf('vector(1) == 2')).toEqual(names)
    expect(failuresIf('vector(1)')).toEqual(names)
  })
})
