import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { until } from '../harness/patience.js'
import { startProcess } from '../harness/service-process.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-greeting-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** All lines that a service prints from its start to its end. Throws where one is not JSON. */
async function linesOf(env: Record<string, string>) {
  const service = await startProcess({ KEYSTRIDE_DATA: folder, LOG_LEVEL: 'debug', LOG_FORMAT: 'json', ...env })
  await until(async () => service.output().includes('"documentation"'))
  await service.stop()
  const lines = service.output().trimEnd().split('\n')
  return { core: service.core, text: service.output(), lines: lines.map((line) => JSON.parse(line)) }
}

describe('a start with LOG_FORMAT=json', { timeout: 90_000 }, () => {
  it.each([
    ['the first on an embedded database', {}],
    ['the second, of two processes', { PROCESSES: '2' }],
  ])('prints only JSON, the addresses in one line, and no API key: %s', async (_, env) => {
    const { core, text, lines } = await linesOf(env)
    const greeted = lines.filter(({ documentation }) => documentation !== undefined)
    expect(greeted).toHaveLength(1)
    const demoKeyFile = join(folder, 'demo.json')
    expect(greeted[0]).toMatchObject({
      ...{ level: 30, msg: 'serving', port: Number(new URL(core).port), version: expect.any(String) },
      ...{ core, documentation: `${core}/docs`, demoKeyFile, organizations: 1 },
      links: core.replace(/core$/, 'auth'),
      dashboard: core.replace(/core$/, 'dashboard'),
      console: core.replace(/core$/, 'console/'),
      tryPage: core.replace(/core$/, 'auth/try'),
    })
    const { apikey } = JSON.parse(readFileSync(demoKeyFile, 'utf8')) as { apikey: string }
    expect(apikey.length).toBeGreaterThan(20)
    expect(text).not.toContain(apikey)
  })
})
