import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { promtool, whyNoPromtool } from '../servers/promtool.js'
import { metricsIn, pathOf, read, rules, servedMetrics } from './files.js'

const TESTS = ['keystride.test.yml', 'keystride-days.test.yml'] as const
const inFolder = (file: string) => `deploy/prometheus/${file}`
const all = rules().groups.flatMap((group) => group.rules)
const alerts = all.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]))
const names = alerts.map(({ alert }) => alert)

interface Checked {
  readonly expr: string
  readonly exp_samples: readonly unknown[]
}
const checks = TESTS.flatMap((file) =>
  (parse(read(inFolder(file))).tests as { promql_expr_test: Checked[] }[]).flatMap((test) => test.promql_expr_test),
)
const tested = checks.map(({ expr, exp_samples }) => ({
  alert: /^ALERTS\{alertname="(\w+)", alertstate="firing"\}$/.exec(expr)?.[1],
  fires: exp_samples.length > 0,
}))

describe('deploy/prometheus/keystride.rules.yml', () => {
  it('uses only metrics that are served', () => {
    const served = servedMetrics()
    const strange = all.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !served.includes(name))
    expect(strange).toEqual([])
    expect(served).toContain('keystride_degraded')
  })

  it('has for every alert a severity, a summary, what to do, and a section of a document that exists', () => {
    for (const { alert, labels, annotations = {} } of alerts) {
      expect(['page', 'ticket'], alert).toContain(labels?.severity)
      expect(annotations.summary, alert).toMatch(/^[A-Z].{20,}[^.]$/)
      expect(annotations.description, alert).toMatch(/^[A-Z].{40,}\.$/)
      const [file = '', anchor] = annotations.runbook?.split('#') ?? []
      const anchors = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replaceAll(' ', '-'),
      )
      expect(anchors, alert).toContain(anchor)
    }
  })

  it('has tests in which each alert fires, and tests in which it is silent', () => {
    const withTest = (fires: boolean) =>
      [...new Set(tested.filter((one) => one.fires === fires).map(({ alert }) => alert))].sort()
    expect(withTest(true)).toEqual([...names].sort())
    expect(withTest(false)).toEqual([...names].sort())
  })
})

describe('promtool', () => {
  const why = whyNoPromtool()
  if (why !== null) console.warn(`\n*** ${why} ***\n`)

  it.skipIf(why !== null)('finds no fault in the rules and in the example configuration', () => {
    for (const [kind, file] of [
      ['rules', 'keystride.rules.yml'],
      ['config', 'prometheus.yml'],
    ] as const)
      expect(promtool(['check', kind, pathOf(inFolder(file))])).toMatchObject({
        status: 0,
        output: expect.stringContaining('SUCCESS'),
      })
    expect(promtool(['check', 'rules', pathOf('package.json')]).status).not.toBe(0)
  })

  it.skipIf(why !== null).each(TESTS)(
    'passes %s',
    (file) => {
      const { status, output } = promtool(['test', 'rules', pathOf(inFolder(file))])
      expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('SUCCESS') })
    },
    120_000,
  )
})
