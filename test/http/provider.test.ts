import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/http/metrics.js'
import { loadProvider } from '../../src/http/provider.js'
import { pinnedBinaries } from '../../src/http/provider-pins.js'

describe('the HTTP server', () => {
  it('is node:http by choice, with the version of Node', () => {
    const node = { name: 'node:http', version: process.versions.node, sha256: null }
    expect(loadProvider('node')).toMatchObject({ ...node, whyNot: null })
  })
  it('is uWebSockets.js where its pinned binary loads, else node:http with the reason', () => {
    const provider = loadProvider()
    if (provider.sha256 === null) {
      expect(provider.whyNot).not.toBe('')
      expect(() => loadProvider('uws')).toThrow(
        `HTTP_SERVER=uws: no binary of uWebSockets.js loads (${provider.whyNot})`,
      )
    } else {
      expect(provider).toMatchObject({ name: 'uWebSockets.js', whyNot: null })
      expect(Object.values(pinnedBinaries['@btc-vision/uwebsockets.js'] ?? {})).toContain(provider.sha256)
    }
  })
  it('has the pins of the installed package', () => {
    const name = '@btc-vision/uwebsockets.js'
    const place = dirname(createRequire(import.meta.url).resolve(name))
    const files = readdirSync(place).filter((file) => /^uws_(linux|darwin|win32)_(x64|arm64)_\d+\.node$/.test(file))
    const pins = files.map((file) => [
      file.slice('uws_'.length, -'.node'.length),
      createHash('sha256')
        .update(readFileSync(join(place, file)))
        .digest('hex'),
    ])
    expect(pinnedBinaries).toEqual({ [name]: Object.fromEntries(pins) })
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
    expect(text).toContain(`name="${provider.name}",version="${provider.version}",sha256="${provider.sha256 ?? ''}"`)
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
