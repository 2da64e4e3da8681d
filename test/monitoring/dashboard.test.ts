import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dashboard, metricsIn, pathOf, servedMetrics } from './files.js'

const { panels, templating, schemaVersion } = dashboard()
const shown = panels.filter(({ type }) => type !== 'row')
const expressions = shown.flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr))

describe('deploy/grafana/keystride.json', () => {
  it('is what npm run monitoring writes, and so is the table of alerts', () => {
    const { status, stderr } = spawnSync(process.execPath, [pathOf('bin/monitoring.mjs'), '--check'], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('has a panel for every metric that is served, and none for another', () => {
    const used = new Set(expressions.flatMap(metricsIn))
    expect([...used].sort()).toEqual(servedMetrics().sort())
  })

  it('has a title, a description, a unit and a data source by variable in each panel', () => {
    expect(shown.length).toBeGreaterThan(40)
    for (const { title, description, fieldConfig, datasource, targets } of shown) {
      expect(description, title).toMatch(/^.{40,}\.$/)
      expect(fieldConfig?.defaults.unit, title).toMatch(/^\w+$/)
      expect(datasource?.uid, title).toBe(`$${'{datasource}'}`)
      expect(targets?.length, title).toBeGreaterThan(0)
    }
    expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length)
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['instance', 'query'],
    ])
    expect(schemaVersion).toBe(42)
  })

  it('selects by job and machine in every query', () => {
    const loose = expressions.filter((expr) => !expr.includes('job=~"$job"'))
    const everywhere = expressions.filter((expr) => !expr.includes('instance=~"$instance"'))
    expect(loose).toEqual([])
    expect(everywhere.map((expr) => expr.slice(0, 12))).toEqual(['count(ALERTS'])
  })

  it('has unique ids, and no two panels at one place of the grid', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Map<string, string>()
    for (const { title, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x} ${y}`), `${title} is over another panel`).toBeUndefined()
          taken.set(`${x} ${y}`, title)
        }
    }
  })
})
