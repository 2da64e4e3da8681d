import { describe, expect, it } from 'vitest'
import { plot } from '../../../bench/load/plot.js'
import { timePlots } from '../../../bench/load/plots.js'
import type { StepReport } from '../../../bench/load/report-schema.js'
import { stepReport, stepSeen } from '../../../bench/load/step-report.js'
import { strained } from '../../../bench/load/text-report.js'

/** A step with a generator of this busy share, one sign-in in each of its seconds, and one in the second after it. */
function step(rate: number, busy: number): StepReport {
  const seen = stepSeen()
  const machine = { generator_cores: busy, machine_busy: 0 }
  const facts = {
    rate,
    seconds: 3,
    warmUpS: 0,
    untilLastS: 3.4,
    service: [],
    machine,
    connections: 8,
    together: false,
    bounds: null,
  }
  const health = { late_p99_ms: 0, waited_p99_ms: 0, busiest_worker: busy, loop_delay_p99_ms: 0, ...machine }
  const measured = stepReport(seen, facts)
  const series = [0, 1, 2, 3].map((second) => ({
    second,
    arrivals: second < 3 ? 1 : 0,
    completed: 1,
    errors: 0,
    p50_ms: 5,
    p99_ms: second < 3 ? 9 : 777,
    signin_p99_ms: 9,
  }))
  return { ...measured, series, health: { ...health, sound: busy < 0.85, reasons: [] } }
}

describe('a load test', () => {
  it('is inconclusive if its generator was strained, or if a ramp broke because of it', () => {
    const knee = { rate: 10, limit: '' }
    expect(strained({ steps: [step(10, 0.2)], knee: null })).toBe(false)
    expect(strained({ steps: [step(10, 0.9)], knee: null })).toBe(true)
    expect(strained({ steps: [step(10, 0.2), step(20, 0.2)], knee })).toBe(false)
    expect(strained({ steps: [step(10, 0.2), step(20, 0.9)], knee })).toBe(true)
  })

  it('draws the seconds with requests, and no later answers', () => {
    const drawn = timePlots([step(10, 0.2)])
    expect(drawn).toContain('<polyline')
    expect([...drawn.matchAll(/points="([^"]*)"/g)].map(([, points = '']) => points.split(' ').length)).toEqual(
      Array(6).fill(3),
    )
  })

  it('marks points above the scale, each with its own figure', () => {
    const svg = plot({
      title: 'cut',
      xLabel: 'x',
      yLabel: 'ms',
      most: 100,
      lines: [
        {
          name: 'p99',
          colour: 'a',
          dots: true,
          points: [
            [1, 40],
            [2, 900],
          ],
        },
      ],
    })
    expect(svg.match(/<circle /g)).toHaveLength(1)
    expect(svg).toMatch(/<path class="dot a cut"[^>]*><title>p99: 900 at 2<\/title>/)
  })
})
