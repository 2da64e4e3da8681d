import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/http/metrics.js'
import { loadProvider } from '../../src/http/provider.js'
import { pinnedBinaries } from '../../src/http/provider-pins.js'

describe('the provider', () => {
  it('is native, and its binary is pinned', () => {
    const provider = loadProvider()
    expect(provider.native).toBe(true)
    expect(provider.namedByOperator).toBe(false)
    expect(provider.version).toMatch(/^20\./)
    expect(Object.values(pinnedBinaries[provider.name] ?? {})).toContain(provider.sha256)
  })
  it('can be named by the operator, and reports that', () => {
    const { name } = loadProvider()
    expect(loadProvider({ named: name })).toMatchObject({ name, native: true, namedByOperator: true })
    expect(() => loadProvider({ named: 'zod' })).toThrow('UWS_PROVIDER names zod, which is not uWebSockets.js')
    expect(() => loadProvider({ named: 'no-such-package' })).toThrow('no-such-package')
  })
  it('has the pins of the installed packages', () => {
    const require = createRequire(import.meta.url)
    for (const [name, folder] of [
      ['@btc-vision/uwebsockets.js', '.'],
      ['@trufflesuite/uws-js-unofficial', '../binaries'],
    ] as const) {
      const place = join(dirname(require.resolve(name)), folder)
      const files = readdirSync(place).filter((file) => /^uws_(linux|darwin|win32)_(x64|arm64)_\d+\.node$/.test(file))
      const pins = files.map((file) => [
        file.slice('uws_'.length, -'.node'.length),
        createHash('sha256')
          .update(readFileSync(join(place, file)))
          .digest('hex'),
      ])
      expect(pinnedBinaries[name]).toEqual(Object.fromEntries(pins))
    }
  })
})

describe('metrics', () => {
  it('count requests by template and status class, time them, and name build and provider', async () => {
    const provider = loadProvider()
    const metrics = createMetrics({ version: '1.2.3', provider })
    const counted = { requestId: 'r', api: 'core', route: '/users/{userRef}', countedAs: 'bootstrap' } as const
    const answered = { ...counted, method: 'get', status: 200, durationMs: 3, organizationId: 'org-1', aborted: false }
    metrics.onAnswer(answered)
    metrics.onAnswer({ ...answered, method: 'brew', status: 0 })
    const text = await metrics.text()
    const labels = 'api="core",route="/users/{userRef}",method="get",status_class="2xx"'
    expect(text).toContain(`keystride_http_requests_total{${labels}} 1`)
    expect(text).toContain('method="other",status_class="aborted"} 1')
    expect(text).toContain(`keystride_http_request_duration_seconds_bucket{le="0.005",${labels}} 1`)
    expect(text).toContain('keystride_build_info{version="1.2.3"')
    expect(text).toContain(`name="${provider.name}",version="${provider.version}",native="true"`)
    expect(text).toContain('process_resident_memory_bytes')
    expect(text).not.toContain('org-1')
  })

  it('report the delay of the event loop, without the pause between two measurements', async () => {
    const metrics = createMetrics({ version: '1.2.3', provider: loadProvider() })
    metrics.onLoopDelay(4)
    const text = await metrics.text()
    expect(text).toContain('keystride_event_loop_delay_seconds_bucket{le="0.0025"} 0')
    expect(text).toContain('keystride_event_loop_delay_seconds_bucket{le="0.005"} 1')
    expect(text.match(/^nodejs_eventloop_lag\w*/gm)).toEqual(['nodejs_eventloop_lag_seconds'])
  })
})
