import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
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

describe('the first start with DEMO=month', { timeout: 180_000 }, () => {
  const data = join(folder, 'month')
  const env = { KEYSTRIDE_DATA: data, DEMO: 'month', LOG_LEVEL: 'info' }
  const users = async ({ core, demo }: Awaited<ReturnType<typeof startProcess>>): Promise<number> => {
    const answer = await fetch(core.replace(/core$/, 'dashboard/users?limit=1'), { headers: { apikey: demo().apikey } })
    return ((await answer.json()) as { count: number }).count
  }

  it('has the key when it answers, says that it fills the organization, and does so once', async () => {
    const port = String(await freePort())
    const status = `http://localhost:${port}/core/status`
    const starting = startProcess({ ...env, PORT: port })
    const answers = () =>
      fetch(status).then(
        ({ ok }) => ok,
        () => false,
      )
    await until(answers)
    expect(existsSync(join(data, 'demo.json'))).toBe(true)
    const first = await starting
    expect(first.output()).toMatch(/a month of their sign-ins are made up/)
    await until(async () => first.output().includes('has a month of made-up sign-ins'), 'start')
    const n = await users(first)
    expect(n).toBeGreaterThan(30)
    await first.stop()
    const second = await startProcess(env)
    expect(second.output()).not.toMatch(/made up/)
    expect(await users(second)).toBe(n)
    await second.stop()
    expect(second.output()).not.toContain('has a month')
  })
})
