import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { hasChromium, launch } from '../recorder/browser.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { openPage, picture, seriousFindings } from './pages.js'

describe.skipIf(!hasChromium)('the reference page in a browser', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDatabase()
    service = await startService(fresh.url)
    browser = await launch()
    stop = async () => {
      await browser.close()
      await service.close()
      await fresh.drop()
    }
  })
  afterAll(async () => stop())

  it('sends calls with the entered key, reuses the session, and shows the answers as text', async () => {
    const followed = await openPage(browser, `${service.core}/docs`)
    const { page } = followed
    const worked = 'header, nav, article:has(details[open])'
    const part = (id: string) => {
      const article = page.locator(`#${id}`)
      return {
        async open() {
          await page.locator(`nav a[href="#${id}"]`).click()
          await article.getByText('Send a call').click()
        },
        field: (label: RegExp) => article.getByLabel(label),
        async send() {
          await article.getByRole('button', { name: 'Send', exact: true }).click()
          await article.locator('.status', { hasText: /^\d{3} .*\d+ ms$/ }).waitFor()
          return `${await article.locator('.status').textContent()} ${await article.locator('.send > div').innerText()}`
        },
        curl: () => article.locator('.send form pre').innerText(),
      }
    }
    const [begin, create, code] = ['getUsersByUserRef', 'postUsersByUserRef', 'putUsersByUserRefSecurityCode'].map(part)
    if (!begin || !create || !code) throw new Error('three of three')

    await begin.open()
    expect(await begin.send()).toMatch(/^401 /)
    await page.getByLabel(/^API key/).fill(service.apikey)
    expect(await page.getByLabel(/^API key/).getAttribute('type')).toBe('password')
    const unknown = await begin.send()
    expect(unknown).toMatch(/^404 [\s\S]*x-service-session[\s\S]*"reason": "user-not-found"/)

    await create.open()
    expect(await create.field(/^Body/).inputValue()).toContain('"user_display_name": "Ann"')
    expect(await create.send()).toMatch(/^201 [\s\S]*"created": true/)
    expect(await create.curl()).toContain(`'${service.core}/users/ann'`)
    expect(await create.curl()).toContain('-H "apikey: $KEYSTRIDE_KEY"')
    expect(await create.curl()).not.toContain(service.apikey)

    await code.open()
    expect(await code.send()).toMatch(/^200 [\s\S]*"securityCodeSet": true/)
    await begin.field(/^userRef/).fill('<b>no/body</b>')
    expect(await begin.send()).toMatch(/^422 /)
    await begin.field(/^userRef/).fill('ann')
    expect(await begin.send()).toMatch(/^200 [\s\S]*"securityCodeSet": true/)

    expect(await seriousFindings(page, worked)).toEqual([])
    await page.locator('#postUsersByUserRef').scrollIntoViewIfNeeded()
    await picture(page, '30-docs')
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, '31-docs-dark')
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await page.goto(`${service.auth}/docs`) // The shortest reference page, for a picture of a whole page.
    await page.getByRole('button', { name: 'Open all' }).click()
    await page.getByText('Send a call').first().click()
    expect(await seriousFindings(page)).toEqual([])
    await followed.close()
  })

  it('works with the keyboard alone, and keeps the key in memory only', async () => {
    const followed = await openPage(browser, `${service.core}/docs`)
    const { page } = followed
    await page.getByLabel(/^API key/).focus()
    await page.keyboard.type(service.apikey)
    const summary = page.locator('article > details:has(#getOrganization) > summary')
    await summary.focus()
    await page.keyboard.press('Enter')
    await page.locator('#getOrganization .send > summary').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('#getOrganization .status').textContent()).toMatch(/^200 /)
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
    )
    expect(kept).not.toContain(service.apikey)
    await page.reload()
    expect(await page.getByLabel(/^API key/).inputValue()).toBe('')
    await followed.close()
  })

  it('is folded, opens the endpoints of an address or a search, and links to the other pages', async () => {
    const followed = await openPage(browser, `${service.core.replace('/core', '/dashboard')}/docs`)
    const { page } = followed
    const shown = (part: string) => page.locator(part).filter({ visible: true }).count()
    const height = () => page.evaluate<number>('document.documentElement.scrollHeight')
    await page.getByRole('searchbox').waitFor()
    expect(await shown('article')).toBe(dashboardRoutes.length)
    expect([await shown('.body'), await height()]).toEqual([0, expect.toSatisfy((px: number) => px < 12_000)])
    await page.keyboard.press('/')
    await page.keyboard.type('n_active_users_max')
    await expect.poll(() => shown('article')).toBe(1)
    expect([await shown('.body'), await shown('nav li:not(.pages li)')]).toEqual([1, 1])
    expect(await page.getByRole('status').first().textContent()).toBe(`1 of ${dashboardRoutes.length} endpoints`)
    for (const [words, n] of [
      ['post /policies', 6],
      ['PATCH', 0],
      ['sorting', 2],
    ] as const) {
      await page.getByRole('searchbox').fill(words)
      expect([words, await shown('article')]).toEqual([words, n])
    }
    await page.evaluate('location.hash = "getUsageApi"')
    await expect.poll(() => page.locator('#getUsageApi').isVisible()).toBe(true)
    expect(await shown('article')).toBe(dashboardRoutes.length)
    await page.getByRole('link', { name: 'Core API' }).click()
    await page.waitForURL(`${service.core}/docs`)
    await page.goto(`${service.core}/docs#postUsersByUserRefVerify`)
    await expect.poll(() => page.getByText('treats the login as challenged').first().isVisible()).toBe(true)
    await page.setViewportSize({ width: 390, height: 800 })
    const decision = await page.getByText('treats the login as challenged').first().boundingBox()
    expect((decision?.x ?? 390) + (decision?.width ?? 0)).toBeLessThanOrEqual(390)
    await page.getByRole('link', { name: 'Start' }).click()
    await page.waitForURL(service.core.replace('/core', '/'))
    await followed.close()
  })

  it('has all its text without a script too', async () => {
    const followed = await openPage(browser, `${service.core}/docs`, { javaScriptEnabled: false })
    expect(await followed.page.locator('article').count()).toBeGreaterThan(20)
    expect(await followed.page.locator('form').count()).toBe(0)
    const { page } = followed
    await page.locator('article summary').first().click()
    expect(await page.locator('#getStatus .needs').isVisible()).toBe(true)
    await page.goto(`${service.core}/docs#postUsersByUserRefVerify`)
    await expect.poll(() => page.locator('#postUsersByUserRefVerify .needs').isVisible()).toBe(true)
    await followed.close()
  })
})
