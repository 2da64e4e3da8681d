import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, launch } from '../recorder/browser.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { issueKey, looksGood, operator } from './console.js'

describe.skipIf(!hasChromium)('made-up people in the console', { timeout: 180_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDatabase()
    service = await startService(fresh.url, { more: { DEMO: 'on' } })
    browser = await launch()
    stop = async () => {
      await browser.close()
      await service.close()
      await fresh.drop()
    }
  }, 120_000)
  afterAll(async () => stop())

  const count = async (path: string) => (await service.dashboard('GET', path)).json.count

  it('enroll, sign in and are attacked, and are deleted without anyone else', async () => {
    expect((await service.call('POST', '/users/ann-made-up-01')).status).toBe(201)
    const person = await operator(browser, service)
    const { page, signIn, close } = person
    await signIn(service.apikey)
    await page.getByRole('button', { name: 'Fill with made-up people' }).click()
    await page.getByRole('progressbar').waitFor()
    await page.getByText('The made-up people have signed in.').waitFor({ timeout: 120_000 })
    await page.getByText('24 made-up people are here.').waitFor()
    expect(await count('/users?user_ref_filter=made-up-')).toBe(25)
    const all = await count('/authentications')
    expect(all).toBeGreaterThan(24 * 6)
    expect(await count('/authentications?reason=detection-bot')).toBeGreaterThan(12)
    expect(await count('/authentications?reason=fraud-detected')).toBeGreaterThan(12)
    expect(await count('/authentications?recommended_action=auth')).toBeGreaterThan(all / 3)
    expect(await count('/authentications?recommended_action=block')).toBeGreaterThan(24)
    await page.locator('.toast').waitFor({ state: 'detached' })
    await looksGood(person, 'filled')
    await page.getByRole('button', { name: 'Delete the made-up people' }).click()
    await page.getByText('The made-up people are deleted.').waitFor({ timeout: 60_000 })
    const { data } = (await service.dashboard('GET', '/users')).json
    expect(data.map(({ user_ref }: { user_ref: string }) => user_ref)).toEqual(['ann-made-up-01'])
    await close()
  })

  it('are offered to no key that cannot make them', async () => {
    const { page, signIn, close } = await operator(browser, service)
    await signIn(await issueKey(service, 'dashboard'))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('Service', { exact: true }).waitFor()
    expect(await page.getByText('Made-up people').count()).toBe(0)
    await close()
  })
})
