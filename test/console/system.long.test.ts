import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { issueKey, looksGood, operator, typedService } from './console.js'

describe.skipIf(!hasChromium)('the system in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await typedService())
  }, 120_000)
  afterAll(async () => stop())
  const ofApi = async () => (await service.dashboard('GET', '/system')).json

  it('is a page that the health of the overview leads to', async () => {
    const person = await operator(browser, service)
    const { page, signIn, close } = person
    await signIn(await issueKey(service, 'dashboard:read'))
    await page.getByRole('link', { name: 'Versions, stores and background jobs' }).click()
    await page.getByRole('heading', { name: 'System', exact: true }).waitFor()
    await page.getByText('All stores are reachable').waitFor()
    const { data } = await ofApi()
    const facts = (await page.locator('.facts').allTextContents()).join(' ')
    for (const known of [data.version, data.model.name, data.database.schema_version, data.database.server_version])
      expect(facts).toContain(known)
    expect(facts).toMatch(/PostgreSQLReachable answers in [\d.]+ ms/)
    expect(await page.getByRole('region', { name: 'Processes' }).locator('tbody tr').count()).toBe(1)
    expect(await page.getByRole('region', { name: 'Background jobs' }).locator('tbody th').allTextContents()).toEqual([
      'Exports',
      'Search for lost exports',
      'Retention',
    ])
    await looksGood(person, 'system')
    await close()
  })

  it('marks a store that is lost, and jobs that failed or wait for too long', async () => {
    const { page, signIn, close } = await operator(browser, service)
    const answer = await ofApi()
    const [exports, ...others] = answer.data.queues
    const queues = [{ ...exports, n_waiting: 2, oldest_waiting_s: 7300, n_failed: 3 }, ...others]
    const stores = [...answer.data.stores, { name: 'Redis', reachable: false, latency_ms: null }]
    const reason = 'degraded: Redis out of reach'
    await page.route('**/dashboard/system', (route) =>
      route.fulfill({ json: { ...answer, data: { ...answer.data, status: 'NOK', reason, stores, queues } } }),
    )
    await signIn(service.apikey)
    await page.getByRole('link', { name: 'System' }).click()
    await page.getByText(reason).waitFor()
    await page.locator('.badge.bad:text-is("Unreachable")').waitFor()
    await page.locator('.badge.bad:text-is("3 failed")').waitFor()
    await page.locator('.badge.warn:text-is("2 hours")').waitFor()
    await close()
  })
})
