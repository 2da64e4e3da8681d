import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { fillDatabase } from '../../bench/growth/filled.js'
import { visited } from '../api/dashboard/sign-ins.js'
import { keystrideWith } from '../cli/command.js'
import { hasChromium, launch } from '../recorder/browser.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { findings, picture } from '../web/pages.js'

export interface Operator {
  readonly page: Page
  readonly context: BrowserContext
  /** Every address that the page asked for. */
  readonly asked: readonly string[]
  /** Opens a view by its address below `/console/`. */
  go(path: string): Promise<void>
  signIn(key: string, keep?: boolean): Promise<void>
  /** The key is nowhere in the page, and no policy was violated. */
  close(): Promise<void>
}

export const consoleOf = (service: TestService): string => service.core.replace('/core', '/console/')

export const issueKey = async (service: TestService, scopes: string): Promise<string> =>
  (await keystrideWith(service.env)('key', 'issue', service.organizationId, '--scopes', scopes)).stdout.trim()

/** A service with the attempts of `ann` and `bob@example.com`, who typed, and a browser. */
export const typedService = () => serviceWith(false)
/** The same with 4,000 further attempts of 120 users, which have no true scores. */
export const filledService = () => serviceWith(true)

async function serviceWith(filled: boolean) {
  const fresh = await freshDatabase()
  const service = await startService(fresh.url, { more: { ALERT_HOSTS: '127.0.0.1' } })
  if (filled)
    await fillDatabase(fresh.url, service.organizationId, { users: [1, 120], attempts: [1, 4000], say: () => {} })
  await visited(service, 'ann', 3)
  await visited(service, 'bob@example.com')
  const notified = async () => (await service.dashboard('GET', '/notifications')).json.count > 0
  await vi.waitUntil(notified, { timeout: 30_000, interval: 200 })
  // Sound: only tests of a browser use it, and without Chromium they are skipped.
  const browser = (hasChromium ? await launch() : null) as Browser
  const stop = async () => {
    await browser?.close()
    await service.close()
    await fresh.drop()
  }
  return { service, browser, stop }
}

/** A person at the console, in a browser context of their own. */
export async function operator(browser: Browser, service: TestService, path = ''): Promise<Operator> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'America/New_York' })
  const page = await context.newPage()
  const complaints: string[] = []
  const asked: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => asked.push(request.url()))
  let typed = ''
  await page.goto(consoleOf(service) + path)
  return {
    page,
    context,
    asked,
    go: async (to) => {
      // A link of the console itself: loading the document would forget the key.
      await page.evaluate(
        `{ const a = Object.assign(document.createElement('a'), { href: ${JSON.stringify(consoleOf(service) + to)} }); document.body.append(a); a.click(); a.remove() }`,
      )
    },
    async signIn(key, keep = false) {
      typed = key
      await page.getByLabel('API key').fill(key)
      if (keep) await page.getByLabel('Keep me signed in').check()
      await page.getByLabel('API key').press('Enter')
    },
    async close() {
      if (typed !== '') {
        const held = await page.evaluate<string>(
          'JSON.stringify([document.documentElement.outerHTML, document.cookie, { ...localStorage }, location.href, history.state])',
        )
        expect(held).not.toContain(typed)
        expect(asked.filter((url) => url.includes(typed))).toEqual([])
      }
      expect(asked.filter((url) => !url.startsWith(new URL(consoleOf(service)).origin))).toEqual([])
      await context.close()
      expect(complaints).toEqual([])
    },
  }
}

/** No finding of axe, no overflow in width, and a picture, in light and dark, on a desk and on a phone. */
export async function looksGood({ page }: Operator, name: string): Promise<void> {
  for (const [device, width] of [
    ['desk', 1280],
    ['phone', 390],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.evaluate('scrollTo(0, 0)')
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await picture(page, `console-${name}-${device}-${colorScheme}`)
      expect([name, device, colorScheme, await findings(page)]).toEqual([name, device, colorScheme, []])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}
