import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { deployment } from '../faults/deployment.js'
import { startProcess } from '../faults/service-process.js'
import { freshDatabase } from '../servers/database.js'
import { startService } from '../service.js'

describe('a service whose collector is lost', () => {
  it('serves, and stops', async () => {
    const more = { TRACES_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'fatal' }
    const service = await startService((await freshDatabase()).url, { more })
    for (let n = 0; n < 20; n++) expect((await service.call('GET', '/status')).status).toBe(200)
    await service.close()
  })
})

describe('the modules of OpenTelemetry', () => {
  it('are loaded only with TRACES_ENDPOINT', async () => {
    const { env } = await deployment((await freshDatabase()).url)
    const place = join(tmpdir(), `modules-${randomBytes(6).toString('hex')}`)
    const hook = `${place}.cjs`
    writeFileSync(
      hook,
      `const { _load } = require('module')
      const seen = new Set()
      require('module')._load = function (name, ...more) {
        if (/opentelemetry.(sdk|core|exporter|resources)/.test(name)) seen.add(name)
        return _load.call(this, name, ...more)
      }
      process.on('exit', () => require('fs').writeFileSync(process.env.SEEN, String(seen.size)))`,
    )
    const loaded: number[] = []
    for (const more of [{}, { TRACES_ENDPOINT: 'http://127.0.0.1:9' }]) {
      const process = await startProcess({ ...env, ...more, SEEN: place, NODE_OPTIONS: `--require ${hook}` })
      await process.stop()
      loaded.push(Number(readFileSync(place, 'utf8')))
    }
    expect(loaded[0]).toBe(0)
    expect(loaded[1]).toBeGreaterThan(0)
  })
})
