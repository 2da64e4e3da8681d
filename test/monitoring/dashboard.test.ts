import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dashboard, metricsIn, pathOf, servedMetrics } from './files.js'

const expressions = dashboard().panels.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr))

describe('deploy/grafana/keystride.json', () => {
  it('is what npm run monitoring writes, and so is the table of alerts', () => {
    const args = [pathOf('bin/monitoring.mjs'), '--check']
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('has a panel for every metric that is served, and none for another', () => {
    expect([...new Set(expressions.flatMap(metricsIn))].sort()).toEqual(servedMetrics().sort())
  })

  it('selects by job and machine in every query', () => {
    const loose = expressions.filter((expr) => !/job=~"\$job".*instance=~"\$instance"/.test(expr))
    expect(loose.filter((expr) => !/^count\(ALERTS.*job=~"\$job"/.test(expr))).toEqual([])
  })
})
