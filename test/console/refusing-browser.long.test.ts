import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../harness/browser.js'
import { openPages } from '../harness/pages.js'
import { PATIENCE_MS } from '../harness/patience.js'
import type { TestService } from '../harness/service.js'
import { consoleOf } from './console.js'

const languages = (value: string) =>
  `for (const [name, value] of Object.entries({ languages: ${value}, language: ${value}?.[0] }))
    Object.defineProperty(Navigator.prototype, name, { get: () => value, configurable: true })`
const storage = (getter: string) =>
  `for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get: () => { ${getter} } })`
const refuses = "throw new DOMException('Access is denied for this document.', 'SecurityError')"

/** Refusals of a browser, each as a script that runs before the page. */
const REFUSED: readonly (readonly [what: string, script: string])[] = [
  ['a language that Intl refuses', languages("['en-US@posix', 'C', 'en-GB']")],
  ['no language that Intl accepts', languages("['en-US@posix']")],
  ['no list of languages', languages('undefined')],
  ['storage that throws', storage(refuses)],
  ['no storage', storage('return null')],
  ['storage that keeps nothing', storage(`return { getItem: () => null, removeItem() {}, setItem() { ${refuses} } }`)],
]

describe.skipIf(!hasChromium)('the console in a browser that refuses', () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await openPages({ demo: true }))
    await service.call('POST', '/users/ann')
  })
  afterAll(async () => stop?.())

  async function open(
    script = '',
    options: BrowserContextOptions = {},
    before: (page: Page) => Promise<unknown> = async () => {},
  ) {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    context.setDefaultTimeout(PATIENCE_MS.background)
    if (script !== '') await context.addInitScript(script)
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    await before(page)
    await page.goto(consoleOf(service))
    return { page, errors, close: () => context.close() }
  }
  async function signIn(page: Page, key = service.apikey): Promise<void> {
    await page.getByLabel('API key').fill(key)
    await page.getByLabel('API key').press('Enter')
  }

  it.each(REFUSED)('%s shows its views', async (what, script) => {
    const { page, errors, close } = await open(script)
    await page.getByLabel('API key').waitFor()
    // The choice to keep the key is shown only if the key can be kept.
    expect(await page.getByLabel('Keep me signed in').count()).toBe(what.includes('storage') ? 0 : 1)
    await signIn(page)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('link', { name: 'ann' }).click()
    await page.getByRole('heading', { name: 'ann' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    expect(errors).toEqual([])
    await close()
  })

  it('a script that is absent, does not load or fails at once says that it did not start', async () => {
    const scripts = '**/console.*.js'
    for (const [options, before] of [
      [{ javaScriptEnabled: false }, async () => {}],
      [{}, (page: Page) => page.route(scripts, (route) => route.abort())],
      [{}, (page: Page) => page.route(scripts, (route) => route.fulfill({ status: 403, body: '<h1>Denied</h1>' }))],
      [
        {},
        (page: Page) => page.route(scripts, (route) => route.fulfill({ contentType: 'text/javascript', body: '?' })),
      ],
      // The style is missing, too.
      [{}, (page: Page) => page.route('**/console.*', (route) => route.abort())],
    ] as const) {
      const { page, close } = await open('', options, before)
      await page.getByText('The console did not start. It needs JavaScript').waitFor({ state: 'visible' })
      await close()
    }
  })

  it('shows an error that ends a view as a page with the line of the error', async () => {
    const { page, close } = await open()
    await page.route('**/dashboard/authentications-history*', (route) => route.fulfill({ json: { success: true } }))
    await signIn(page)
    await page.getByRole('heading', { name: 'The console does not work here' }).waitFor()
    expect(await page.locator('pre').textContent()).toMatch(/^TypeError/)
    await page.unroute('**/dashboard/authentications-history*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('API key').waitFor()
    await close()
  })

  it('copies where a page over plain http has no clipboard, and says so where nothing can be copied', async () => {
    const absent = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
    for (const [script, said] of [
      [absent, 'The link is copied.'],
      [`${absent}; Document.prototype.execCommand = () => false`, 'Select the text and copy it yourself.'],
    ] as const) {
      const { page, errors, close } = await open(script)
      await signIn(page)
      await page.getByRole('link', { name: 'Users', exact: true }).click()
      await page.getByRole('link', { name: 'ann' }).click()
      await page.getByRole('button', { name: 'Profile link' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Make link' }).click()
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByText(said).waitFor()
      expect(errors).toEqual([])
      await close()
    }
  })

  it('accepts a key and a reference that were copied with invisible marks', async () => {
    const { page, close } = await open()
    await signIn(page, `\u200b${service.apikey}\ufeff`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByRole('combobox', { name: 'Find a user' }).fill('\u200ea\u200bnn')
    await page.getByRole('option', { name: 'ann' }).waitFor()
    await close()
  })

  it('keeps references, codes and the word to type out of the translation by a browser', async () => {
    const { page, close } = await open()
    await signIn(page)
    const translated = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('main *, dialog *')].filter((one) => one.translate && !one.matches('input, select, textarea')
          && [...one.childNodes].some((node) => node.nodeType === 3 && /\\bann\\b|^[0-9a-f-]{36}$/.test(node.textContent)))
          .map((one) => one.outerHTML)`,
      )
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByRole('link', { name: 'ann' }).waitFor()
    expect(await translated()).toEqual([])
    await page.getByRole('link', { name: 'ann' }).click()
    await page.locator('.acts').getByRole('button', { name: 'Delete user' }).click()
    await page.getByRole('dialog').getByText('to confirm').waitFor()
    expect(await translated()).toEqual([])
    await close()
  })
})
