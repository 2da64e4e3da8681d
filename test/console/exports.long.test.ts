import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { issueKey, looksGood, operator, typedService } from './console.js'

describe.skipIf(!hasChromium)('exports in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await typedService())
  }, 120_000)
  afterAll(async () => stop())

  const archives = async () => (await service.dashboard('POST', '/management/logs-archives')).json.data

  it('are asked for, written, shown as the API has them, and downloaded', async () => {
    const person = await operator(browser, service, 'exports')
    const { page, signIn, close } = person
    await signIn(service.apikey)
    await page.getByText('No archives').waitFor()
    const today = new Date().toISOString().slice(0, 10)
    await page.getByLabel('First day').fill(today)
    await page.getByLabel('Last day').fill('2020-01-01')
    await page.getByText('The last day must not be before the first.').waitFor()
    expect(await page.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true)
    await page.getByLabel('Last day').fill(today)
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByText('The export is queued.').waitFor()
    await page.getByText('Ready').waitFor({ timeout: 60_000 })
    const [archive] = await archives()
    const tomorrow = new Date(Date.parse(today) + 24 * 3600 * 1000).toISOString()
    expect(archive).toMatchObject({ kind: 'authentications', date_from: `${today}T00:00:00.000Z`, date_to: tomorrow })
    expect(await page.locator('tbody td').first().textContent()).toBe(`${today} to ${today}`)
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ])
    expect(saved.suggestedFilename()).toBe(`authentications-${archive.id}.zip`)
    const bytes = readFileSync(await saved.path())
    expect([bytes.subarray(0, 2).toString(), bytes.length]).toEqual(['PK', archive.size])
    await page.locator('.toast').waitFor({ state: 'detached' })
    await looksGood(person, 'exports')
    await close()
  })

  it('are downloaded, but not asked for, with a key that only reads', async () => {
    const { page, signIn, close } = await operator(browser, service, 'exports')
    await signIn(await issueKey(service, 'dashboard:read'))
    await page.getByRole('button', { name: 'Download' }).waitFor()
    expect(await page.getByRole('heading', { name: 'New export' }).count()).toBe(0)
    await page.route('**/download-archive', (route) =>
      route.fulfill({
        status: 404,
        headers: { 'x-request-id': '0198c0de-0000-7000-8000-000000000000' },
        json: { success: false, message: 'no such archive' },
      }),
    )
    await page.getByRole('button', { name: 'Download' }).click()
    await page.getByText('no such archive (Request 0198c0de-0000-7000-8000-000000000000)').waitFor()
    await close()
  })
})
