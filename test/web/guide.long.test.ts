import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium, launch } from '../recorder/browser.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { openPage, picture, seriousFindings } from './pages.js'

describe('the integration guide', () => {
  describe('at the address of a service', { timeout: 120_000 }, () => {
    let service: TestService
    let home: string
    let stop: () => Promise<void>
    beforeAll(async () => {
      const fresh = await freshDatabase()
      service = await startService(fresh.url, { demo: true })
      home = new URL('/', service.core).href
      stop = async () => {
        await service.close()
        await fresh.drop()
      }
    })
    afterAll(async () => stop())

    it('answers a program with the addresses of the APIs', async () => {
      const response = await fetch(home)
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({
        success: true,
        core: expect.stringMatching(/\/core$/),
        links: expect.stringMatching(/\/auth$/),
        dashboard: expect.stringMatching(/\/dashboard$/),
      })
    })

    it('leads to pages that exist', async () => {
      const page = await (await fetch(home, { headers: { accept: 'text/html' } })).text()
      const hrefs = [...page.matchAll(/href="([^"#]+)"/g)].map((match) => match[1] ?? '')
      const own = hrefs.filter((href) => !/^https?:/.test(href))
      expect(own).toEqual(expect.arrayContaining(['core/docs', 'auth/docs', 'dashboard/docs', 'auth/try']))
      for (const href of own) expect([href, (await fetch(new URL(href, home))).status]).toEqual([href, 200])
      expect(page).not.toContain('http://localhost:8080')
    })

    it('says whether the service is well', async () => {
      const fresh = await freshDatabase()
      const other = await startService(fresh.url, { more: { LOG_LEVEL: 'silent' } })
      const page = async () => (await fetch(new URL('/', other.core), { headers: { accept: 'text/html' } })).text()
      expect(await page()).toContain('This Keystride service is well.')
      await fresh.drop()
      await expect
        .poll(page, { timeout: 10_000 })
        .toContain('This Keystride service is degraded: PostgreSQL out of reach.')
      await other.close()
    })

    it('answers a browser with a page at the address of an API and at an unknown one, other clients with JSON', async () => {
      for (const [path, status, title] of [
        ['core', 401, 'This address belongs to an API'],
        ['dashboard', 401, 'This address belongs to an API'],
        ['auth', 401, 'This address belongs to an API'],
        ['core/organization', 401, 'This address belongs to an API'],
        ['nowhere/at/all', 404, 'No such page'],
      ] as const) {
        const page = await fetch(new URL(path, home), { headers: { accept: 'text/html,*/*;q=0.8' } })
        expect([path, page.status, page.headers.get('content-type')]).toEqual([
          path,
          status,
          'text/html; charset=utf-8',
        ])
        const text = await page.text()
        expect(text).toContain(`<h1>${title}</h1>`)
        for (const [, href = ''] of text.matchAll(/href="([^"]+)"/g))
          expect([href, (await fetch(new URL(href, page.url))).status]).toEqual([href, 200])
        const json = await fetch(new URL(path, home), { headers: { accept: '*/*' } })
        expect([path, json.status]).toEqual([path, status])
        expect(await json.json()).toMatchObject({ success: false })
      }
    })

    it.skipIf(!hasChromium)('shows the guide to a browser, on a desk and on a phone', async () => {
      let browser: Browser | null = null
      try {
        browser = await launch()
        const { page, close } = await openPage(browser, home)
        expect(await page.locator('h1').textContent()).toBe('Integrate in 15 minutes')
        expect(await seriousFindings(page)).toEqual([])
        await picture(page, '30-guide')
        await page.setViewportSize({ width: 320, height: 640 })
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
        await picture(page, '31-guide-phone')
        await close()
      } finally {
        await browser?.close()
      }
    })
  })
})
