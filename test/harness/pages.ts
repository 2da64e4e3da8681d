import { mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { freshDatabase } from '../servers/database.js'
import { keySender, launch, type Stroke } from './browser.js'
import { PATIENCE_MS } from './patience.js'
import { startService, type TestService } from './service.js'

const folder = process.env.KEYSTRIDE_SCREENSHOTS ?? ''

/** Takes a picture of the page, or of one element with a margin of 24 px. Does nothing if no folder for pictures is set. */
export async function picture(page: Page, name: string, element?: string): Promise<void> {
  if (folder === '') return
  mkdirSync(folder, { recursive: true })
  await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished))')
  const box = element === undefined ? null : await page.locator(element).boundingBox()
  const clip = box && { x: box.x - 24, y: box.y - 24, width: box.width + 48, height: box.height + 48 }
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true, ...(clip && { clip }) })
}

/** Types texts as one person, with new times at each call. */
export type Hand = (text: string) => Stroke[]

/** A made-up person with habits in key pairs. `tempo` multiplies every time. */
export function handOf(one: number, tempo = 1): Hand {
  let typed = 0
  return (text) => person(7000 + one).types(text, ++typed, { tempo }).kevt as unknown as Stroke[]
}

/** A service and a browser. */
export async function openPages(options: Parameters<typeof startService>[1] = {}) {
  const fresh = await freshDatabase()
  const service = await startService(fresh.url, options)
  const browser = await launch()
  return {
    service,
    browser,
    async stop() {
      await browser.close()
      await service.close()
      await fresh.drop()
    },
  }
}

interface Followed {
  readonly page: Page
  /** Types the shown words and submits; types again if detected as a bot. */
  pattern(hand: Hand): Promise<void>
  /** Types the shown words without submitting. */
  words(hand: Hand): Promise<void>
  strokes(strokes: readonly Stroke[]): Promise<void>
  count(): Promise<string>
  /** The mark of each word. */
  marks(): Promise<(string | null)[]>
  close(): Promise<void>
}

/** Opens a page in a new browser context. A violation of its policy or an exception fails the test that closes it. */
export async function openPage(
  browser: Browser,
  address: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Followed> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  context.setDefaultTimeout(PATIENCE_MS.background)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(address)
  const sender = await keySender(page)
  const words = async (hand: Hand) => {
    const text = await page.locator('#words li').allTextContents()
    await page.locator('#typed').focus()
    await sender.types(hand(text.join(' ')))
  }
  const count = async () => (await page.locator('#turn:visible, #count:visible').allTextContents())[0] ?? ''
  return {
    page,
    words,
    count,
    strokes: (strokes) => sender.types(strokes),
    marks: async () => {
      const words = await page.locator('#words li').all()
      return Promise.all(words.map((word) => word.getAttribute('data-mark')))
    },
    async pattern(hand) {
      const before = await count()
      for (let tries = 0; tries < 4; tries++) {
        await words(hand)
        const answered = page.waitForResponse((response) => response.url().includes('/typing-patterns'))
        await page.keyboard.press('Enter')
        if ((await answered).status() !== 422) return
        await expect.poll(() => page.locator('#hint').textContent()).toMatch(/too even|exactly like/)
        expect(await count()).toBe(before)
      }
      throw new Error('taken for a machine four times')
    },
    async close() {
      await context.close()
      expect(complaints).toEqual([])
    },
  }
}

/** The id or the name of the focused element, also within the shadow tree of `<keystride-typing>`. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(
    '{const at = document.activeElement; const one = at.shadowRoot?.activeElement ?? at; one.id || one.tagName}',
  )

export const linkAddress = (service: TestService, key: string) => `${service.auth}/b/${key}`

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Serious accessibility findings of axe, in words: of the whole page, or of the elements of a selector. */
export const seriousFindings = (page: Page, among = 'html'): Promise<string[]> =>
  findings(page, ['serious', 'critical'], among)

/** Accessibility findings of axe, in words; of any impact unless given. */
export async function findings(
  page: Page,
  impacts: readonly string[] | null = null,
  among = 'html',
): Promise<string[]> {
  await page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))')
  await page.evaluate(axe)
  const found = await page.evaluate(`axe.run(${JSON.stringify(among)})`)
  const { violations } = found as { violations: { id: string; impact: string; nodes: { html: string }[] }[] } // Sound: the result type of axe-core.
  return violations
    .filter(({ impact }) => impacts === null || impacts.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** A foreign site, such as the customer's that browsers are redirected to; records its requests. */
export async function customerSite(body = '<p>Welcome back</p>') {
  const asked: { readonly url: string; readonly referer: string | undefined }[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/favicon.ico') asked.push({ url: request.url ?? '', referer: request.headers.referer })
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Customer</title>${body}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
