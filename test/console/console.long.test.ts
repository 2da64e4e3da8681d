import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { texts as english } from '../../src/console/texts/en.js'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { consoleOf, filledService, issueKey, looksGood, operator } from './console.js'

const built = (file: string) => readFileSync(new URL(`../../build/console/${file}`, import.meta.url))

/** The placeholders of each text by its path. */
const placeholders = (texts: object, path = ''): Record<string, string[]> =>
  Object.assign(
    {},
    ...Object.entries(texts).map(([name, value]) =>
      typeof value === 'string'
        ? { [`${path}${name}`]: [...value.matchAll(/\{\w+\}/g)].map(([one]) => one).sort() }
        : placeholders(value, `${path}${name}.`),
    ),
  )

describe('the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await filledService())
  }, 120_000)
  afterAll(async () => stop())

  it('takes at most 120 kB, compressed', () => {
    const small = (file: string) => gzipSync(built(file), { level: 9 }).length
    expect(
      Math.max(...LANGUAGES.map((language) => small(`console.${language}.js`))) + small('console.css'),
    ).toBeLessThan(120 * 1024)
  })

  it('is served at every address of a view, under a policy that permits only its own files', async () => {
    for (const path of ['', 'users', 'users/ann', 'users/ann/log']) {
      const answer = await fetch(consoleOf(service) + path)
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const policy = answer.headers.get('content-security-policy') ?? ''
      for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
        expect(policy.split('; ')).toContain(part)
      for (const part of ["require-trusted-types-for 'script'", "trusted-types 'none'"])
        expect(policy.split('; ')).toContain(part)
      expect(policy).not.toContain('unsafe')
      expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/)
    }
    expect((await fetch(consoleOf(service).slice(0, -1))).status).toBe(200)
  })

  it('compresses its files, and a browser that has them is answered without them', async () => {
    for (const file of ['console.en.js', 'console.de.js', 'console.css', 'licenses.txt']) {
      const whole = await fetch(consoleOf(service) + file, { headers: { 'accept-encoding': 'identity' } })
      expect(whole.headers.get('content-encoding')).toBeNull()
      expect(Buffer.from(await whole.arrayBuffer()).equals(built(file))).toBe(true)
      const small = await fetch(consoleOf(service) + file, { headers: { 'accept-encoding': 'gzip' } })
      expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual(['gzip', 'accept-encoding'])
      expect(Buffer.from(await small.arrayBuffer()).equals(built(file))).toBe(true)
      const etag = whole.headers.get('etag') ?? ''
      const again = await fetch(consoleOf(service) + file, { headers: { 'if-none-match': etag } })
      expect([again.status, (await again.arrayBuffer()).byteLength]).toEqual([304, 0])
    }
  })

  describe.skipIf(!hasChromium)('in a browser', () => {
    it('explains an unknown key, and signs in with a right one, at the address that was opened', async () => {
      const { page, signIn, close, ...rest } = await operator(browser, service, '?range=30d')
      await looksGood({ page, signIn, close, ...rest }, 'sign-in')
      await signIn('ks_wrong')
      await page.getByText('does not know this key').waitFor()
      await signIn(service.apikey)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(new URL(page.url()).search).toBe('?range=30d')
      expect(await page.getByRole('navigation', { name: 'Range' }).locator('[aria-current]').textContent()).toBe(
        '30 days',
      )
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await page.reload()
      await page.getByLabel('API key').waitFor()
      await close()
    })

    it('speaks each of seven languages, as the browser asks, with every placeholder of the English texts', async () => {
      const titles = { fr: 'Aperçu', de: 'Übersicht', es: 'Resumen', it: 'Riepilogo', pt: 'Resumo', nl: 'Overzicht' }
      for (const [language, title] of Object.entries(titles)) {
        const context = await browser.newContext({ locale: `${language}-${language.toUpperCase()}` })
        const page = await context.newPage()
        await page.goto(consoleOf(service))
        await page.locator('input').first().fill(service.apikey)
        await page.locator('input').first().press('Enter')
        await page.getByRole('heading', { name: title, exact: true }).waitFor()
        expect(await page.evaluate('document.documentElement.lang')).toBe(language)
        await context.close()
        const { texts } = await import(`../../src/console/texts/${language}.ts`)
        expect(placeholders(texts)).toEqual(placeholders(english))
      }
    })

    it('says in a sentence that a key lacks the scope', async () => {
      const { page, signIn, close } = await operator(browser, service)
      await signIn(await issueKey(service, 'core'))
      await page.getByRole('heading', { name: 'This key does not open the console' }).waitFor()
      await page.getByRole('button', { name: 'Sign in with another key' }).click()
      await page.getByLabel('API key').waitFor()
      await close()
    })

    it('keeps the key in the tab only if asked to, and forgets it at the sign-out', async () => {
      const { page, signIn, close } = await operator(browser, service)
      await signIn(service.apikey, true)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('API key').waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await close()
    })

    it('locks after 15 minutes without use, and opens the same view again', async () => {
      const { page, signIn, close } = await operator(browser, service, '?range=90d')
      await page.clock.install()
      await signIn(service.apikey, true)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.clock.fastForward('14:00')
      await page.keyboard.press('Shift')
      await page.clock.fastForward('14:30')
      expect(await page.getByRole('heading', { name: 'Overview' }).isVisible()).toBe(true)
      await page.clock.fastForward('01:00')
      await page.getByRole('heading', { name: 'Locked' }).waitFor()
      expect(await page.getByText('ann').count()).toBe(0)
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await signIn(service.apikey)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      expect(new URL(page.url()).search).toBe('?range=90d')
      await close()
    })

    it('signs out when the key is revoked', async () => {
      const { page, signIn, go, close } = await operator(browser, service)
      await signIn(service.apikey)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.route('**/dashboard/**', (route) => route.fulfill({ status: 401, json: { success: false } }))
      await go('?range=24h')
      await page.getByText('no longer accepts this key').waitFor()
      await close()
    })

    it('shows an error with its request id, and loads again', async () => {
      const { page, signIn, close } = await operator(browser, service)
      await page.route('**/authentications-history*', (route) =>
        route.fulfill({
          status: 500,
          headers: { 'x-request-id': '0198c0de-0000-7000-8000-000000000000' },
          json: { success: false, message: 'internal error' },
        }),
      )
      await signIn(service.apikey)
      await page.getByText('Request 0198c0de-0000-7000-8000-000000000000').waitFor()
      await page.unroute('**/authentications-history*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('Success rate').waitFor()
      await close()
    })

    it('links to no view that it does not have', async () => {
      const { page, signIn, go, close } = await operator(browser, service)
      await signIn(service.apikey)
      await page.getByText('Success rate').waitFor()
      const links = await page.evaluate<string[]>(
        "[...document.querySelectorAll('a[href]:not([data-load], .skip)')].map(({ href }) => href)",
      )
      for (const link of new Set(links)) {
        await go(link.slice(consoleOf(service).length))
        await page.locator('h1').waitFor()
        expect([link, await page.getByText('No such page').count()]).toEqual([link, 0])
      }
      await go('nowhere')
      await page.getByRole('heading', { name: 'No such page' }).waitFor()
      await close()
    })

    it('finds a user by keyboard, and goes back and forward', async () => {
      const { page, signIn, close } = await operator(browser, service)
      await signIn(service.apikey)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('bo')
      await page.getByRole('option', { name: 'bob@example.com' }).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${consoleOf(service)}users/bob%40example.com`)
      await page.goBack()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.goForward()
      expect(page.url()).toBe(`${consoleOf(service)}users/bob%40example.com`)
      await close()
    })

    it('marks notifications as read, and offers that to no key that only reads', async () => {
      const reader = await operator(browser, service)
      await reader.signIn(await issueKey(service, 'dashboard:read'))
      await reader.page.getByText(/unread/).waitFor()
      expect(await reader.page.locator('main button').count()).toBe(0)
      await reader.close()
      const { page, signIn, close } = await operator(browser, service)
      await signIn(service.apikey)
      await page.getByRole('button', { name: 'Mark all as read' }).click()
      await page.getByText('All notifications are marked as read.').waitFor()
      await expect.poll(() => page.getByText(/unread/).count()).toBe(0)
      expect((await service.dashboard('GET', '/notifications')).json.unread).toBe(0)
      await close()
    })

    it('shows on the overview the figures of the API', async () => {
      const person = await operator(browser, service)
      const { page, signIn, close } = person
      await signIn(service.apikey)
      const tile = (name: string) => page.locator(`.tile:has(.name:text-is("${name}")) b`).textContent()
      await page.getByText('Success rate').waitFor()
      const from = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10)
      const { json } = await service.dashboard('GET', `/authentications-history?date_from=${from}&bucket=day`)
      const sum = (field: string) =>
        json.data.reduce((all: number, row: Record<string, number>) => all + (row[field] ?? 0), 0)
      expect(sum('n')).toBeGreaterThan(500)
      const percent = (part: number) => `${Math.round((part / sum('n')) * 1000) / 10}%`
      expect([await tile('Sign-ins'), await tile('Success rate'), await tile('Challenge rate')]).toEqual([
        String(sum('n')),
        percent(sum('authenticated')),
        percent(sum('challenged')),
      ])
      expect(await tile('Blocked sign-ins')).toBe(String(sum('blocked')))
      const { json: locked } = await service.dashboard('GET', '/aggregations/blocked-users')
      expect(await tile('Users locked now')).toBe(String(locked.count))
      await page.getByText('Show as a table').click()
      expect(await page.locator('table tbody tr').count()).toBe(json.data.length)
      expect(await page.locator('table tbody tr').last().locator('td').first().textContent()).toBe(
        String(json.data.at(-1).n),
      )
      const time = page.locator('.feed time').first()
      expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
      await page.getByText('Show as a table').click()
      await looksGood(person, 'overview')
      await close()
    })
  })
})
