import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { hasChromium } from '../harness/browser.js'
import { openPage, openPages, seriousFindings } from '../harness/pages.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

describe.skipIf(!hasChromium)('the reference page in a browser', () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await openPages({ demo: true }))
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
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await seriousFindings(page, worked)).toEqual([])
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
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

  describe('and the guide', () => {
    const at = (path: string) => new URL(path, new URL('/', service.core))
    const asBrowser = (path: string, accept = 'text/html,*/*;q=0.8') => fetch(at(path), { headers: { accept } })

    it('leads to pages that exist, and answers a program with the addresses of the APIs', async () => {
      const followed = await openPage(browser, at('/').href)
      expect(await seriousFindings(followed.page)).toEqual([])
      await followed.page.setViewportSize({ width: 320, height: 640 })
      expect(await followed.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
      await followed.close()
      const page = await (await asBrowser('/')).text()
      const hrefs = [...page.matchAll(/href="([^"#]+)"/g)].map((match) => match[1] ?? '')
      const own = hrefs.filter((href) => !/^https?:/.test(href))
      expect(own).toEqual(expect.arrayContaining(['core/docs', 'auth/docs', 'dashboard/docs', 'auth/try']))
      for (const href of own) expect([href, (await fetch(at(href))).status]).toEqual([href, 200])
      expect(page).not.toContain('http://localhost:8080')
      const { core, links, dashboard } = (await (await fetch(at('/'))).json()) as Record<string, string>
      const addresses = ['/core', '/auth', '/dashboard'].map((end) => expect.stringMatching(new RegExp(`${end}$`)))
      expect([core, links, dashboard]).toEqual(addresses)
    })

    it('says whether the service is well', async () => {
      const fresh = await freshDatabase()
      const other = await startService(fresh.url, { more: { LOG_LEVEL: 'silent' } })
      const page = async () => (await fetch(new URL('/', other.core), { headers: { accept: 'text/html' } })).text()
      expect(await page()).toContain('This Keystride service is well.')
      await fresh.drop()
      await expect.poll(page).toContain('This Keystride service is degraded: PostgreSQL out of reach.')
      await other.close()
    })

    it('answer a browser with a page at the address of an API and at an unknown one, other clients with JSON', async () => {
      for (const [path, status, title] of [
        ['core', 401, 'This address belongs to an API'],
        ['dashboard', 401, 'This address belongs to an API'],
        ['auth', 401, 'This address belongs to an API'],
        ['core/organization', 401, 'This address belongs to an API'],
        ['nowhere/at/all', 404, 'No such page'],
      ] as const) {
        const page = await asBrowser(path)
        const type = 'text/html; charset=utf-8'
        expect([path, page.status, page.headers.get('content-type')]).toEqual([path, status, type])
        const text = await page.text()
        expect(text).toContain(`<h1>${title}</h1>`)
        for (const [, href = ''] of text.matchAll(/href="([^"]+)"/g))
          expect([href, (await fetch(new URL(href, page.url))).status]).toEqual([href, 200])
        const json = await asBrowser(path, '*/*')
        expect([path, json.status]).toEqual([path, status])
        expect(await json.json()).toMatchObject({ success: false })
      }
    })
  })
})
