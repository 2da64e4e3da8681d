import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { fillDatabase } from '../../bench/growth/filled.js'
import { launch } from '../harness/browser.js'
import { findings, picture } from '../harness/pages.js'
import { PATIENCE_MS, until } from '../harness/patience.js'
import { startService, type TestService } from '../harness/service.js'
import { visited } from '../harness/sign-ins.js'
import { freshDatabase } from '../servers/database.js'

export interface Operator {
  readonly page: Page
  readonly context: BrowserContext
  readonly dialog: Locator
  /** Every address that the page has requested. */
  readonly asked: readonly string[]
  /** The card with this heading. */
  card(title: string): Locator
  /** Opens a view by its address below `/console/`. */
  go(path: string): Promise<void>
  signIn(key: string, keep?: boolean): Promise<void>
  /** Presses the button of an action and confirms it in the dialog, where the word is typed if there is one. */
  confirmed(name: string, word?: string): Promise<void>
  /** Closes the page. Fails if the page or an address has the key, or if the page broke its policy. */
  close(): Promise<void>
}

/** A service with sign-ins, and a browser. */
export interface ConsoleWorld {
  readonly service: TestService
  readonly browser: Browser
  /** A person at the console, signed in at a view. */
  open(path?: string, key?: string): Promise<Operator>
  // biome-ignore lint/suspicious/noExplicitAny: the answers of any route
  ofApi(path: string): Promise<any>
  stop(): Promise<void>
}

export const consoleOf = (service: TestService): string => service.core.replace('/core', '/console/')

export async function issueKey(service: TestService, scope: string): Promise<string> {
  const { json } = await service.dashboard('POST', '/keys', { body: { label: scope, scopes: [scope] } })
  return json.data.apikey
}

/** The day before today, in UTC. */
export const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

/**
 * Starts a service with attempts of `ann` and `bob@example.com`, which were scored. `filled` adds 4,000 attempts of 120 users,
 * whose scores are made up.
 */
export async function openConsole({ filled = false } = {}): Promise<ConsoleWorld> {
  const fresh = await freshDatabase()
  const service = await startService(fresh.url, { more: { ALERT_HOSTS: '127.0.0.1', DEMO: 'on' } })
  if (filled)
    await fillDatabase(fresh.url, service.organizationId, { users: [1, 120], attempts: [1, 4000], say: () => {} })
  await visited(service, 'ann', 3)
  await visited(service, 'bob@example.com')
  const ofApi: ConsoleWorld['ofApi'] = async (path) => (await service.dashboard('GET', path)).json
  await until(async () => (await ofApi('/notifications')).count > 0)
  const browser = await launch()
  return {
    service,
    browser,
    async open(path = '', key = service.apikey) {
      const person = await operator(browser, service, path)
      await person.signIn(key)
      await person.page.locator('main h1').waitFor()
      return person
    },
    ofApi,
    async stop() {
      await browser.close()
      await service.close()
      await fresh.drop()
    },
  }
}

/** A person at the console, in a browser context of their own. */
export async function operator(browser: Browser, service: TestService, path = ''): Promise<Operator> {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'America/New_York' })
  context.setDefaultTimeout(PATIENCE_MS.background)
  const page = await context.newPage()
  const dialog = page.getByRole('dialog')
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
    dialog,
    asked,
    card: (title) => page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) }),
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
    async confirmed(name, word) {
      await page.locator('.acts').getByRole('button', { name, exact: true }).click()
      if (word !== undefined) await dialog.getByRole('textbox').fill(word)
      await dialog.getByRole('button', { name, exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
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

interface Look {
  readonly device: 'desk' | 'phone'
  readonly width: number
  readonly colorScheme: 'light' | 'dark'
  /** Whether axe examines the page in this look: two of the four. */
  readonly examined: boolean
}

const LOOKS: readonly Look[] = [
  { device: 'desk', width: 1280, colorScheme: 'light', examined: true },
  { device: 'desk', width: 1280, colorScheme: 'dark', examined: false },
  { device: 'phone', width: 390, colorScheme: 'light', examined: false },
  { device: 'phone', width: 390, colorScheme: 'dark', examined: true },
]

/** Takes a picture of the page in each look, and expects that nothing is wider than the page and that axe finds nothing. */
export async function looksGood({ page }: Operator, name: string): Promise<void> {
  for (const { device, width, colorScheme, examined } of LOOKS) {
    await show(page, width, colorScheme)
    await picture(page, `console-${name}-${device}-${colorScheme}`)
    if (examined) expect([name, device, colorScheme, await findings(page)]).toEqual([name, device, colorScheme, []])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  }
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Shows the page from its top, drawn anew. */
async function show(page: Page, width: number, colorScheme: Look['colorScheme']): Promise<void> {
  await page.setViewportSize({ width, height: 900 })
  await page.emulateMedia({ colorScheme })
  await page.evaluate('scrollTo(0, 0)')
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}
