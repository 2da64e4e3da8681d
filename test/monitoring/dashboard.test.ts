import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dashboard, metricsIn, pathOf, servedMetrics } from './files.js'

const expressions = dashboard().panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr))

const monitoring = (arg: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [pathOf('bin/monitoring.mjs'), arg], {
    encoding: 'utf8',
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

it('the table of alerts in docs/monitoring.md is what npm run monitoring writes', () => {
  monitoring('--check')
})

describe('the dashboard for Grafana', () => {
  it('is what npm run monitoring -- dashboard prints', () => {
    expect(JSON.parse(monitoring('dashboard'))).toEqual(dashboard())
  })

  it('has a panel for every metric that is served, and none for another', () => {
    expect([...new Set(expressions.flatMap(metricsIn))].sort()).toEqual(servedMetrics().sort())
  })

  it('selects by job and machine in every query', () => {
    const loose = expressions.filter((expr) => !/job=~"\$job".*instance=~"\$instance"/.test(expr))
    expect(loose.filter((expr) => !/^count\(ALERTS.*job=~"\$job"/.test(expr))).toEqual([])
  })
})
