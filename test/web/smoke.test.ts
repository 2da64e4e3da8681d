import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, launch } from '../harness/browser.js'
import { linkAddress, openPage } from '../harness/pages.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'
import { ask, type Bridge, relyingParty, startBridge } from '../sso/bridge.js'

describe.skipIf(!hasChromium)('a page for people opens without a script error and keeps its policy', () => {
  let service: TestService
  let bridge: Bridge
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDatabase()
    service = await startService(fresh.url, { demo: true })
    bridge = await startBridge(service, 9)
    browser = await launch()
    stop = async () => {
      await browser.close()
      await bridge.close()
      await service.close()
      await fresh.drop()
    }
  })
  afterAll(async () => stop())

  const linkOf = async (userRef: string) =>
    linkAddress(service, (await service.callLinks('POST', `/api/links/create-profile/${userRef}`)).json.key)
  const signsIn = async (page: Page) => {
    await page.getByLabel('API key').fill(service.apikey)
    await page.getByLabel('API key').press('Enter')
  }

  it.each<[string, () => string | Promise<string>, heading: string | RegExp, act?: (page: Page) => Promise<unknown>]>([
    ['the guide at the address of the service', () => new URL('/', service.core).href, 'Integrate in 15 minutes'],
    ['an address without a page', () => new URL('/nowhere', service.core).href, 'No such page'],
    ['the reference of the core API', () => `${service.core}/docs`, /core API/i],
    ['the page to try the product', () => `${service.auth}/try`, /./, wordsAppear],
    ['the page of a profile link', () => linkOf('ann'), /how you type/, wordsAppear],
    ['the console, after a sign-in', () => service.core.replace('/core', '/console/'), 'Overview', signsIn],
    ['the sign-in of single sign-on', async () => (await ask(await relyingParty(bridge.issuer))).url.href, 'Sign in'],
  ])('%s', async (_, address, heading, act = async () => {}) => {
    const { page, close } = await openPage(browser, await address())
    await act(page)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await close()
  })
})

/** The element <keystride-typing> shows words to type. */
async function wordsAppear(page: Page): Promise<void> {
  await page.locator('#words li').first().waitFor()
  expect(await page.locator('#typed').isEnabled()).toBe(true)
}
