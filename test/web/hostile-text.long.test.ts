import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../harness/browser.js'
import { figure, LONG } from '../harness/figure.js'
import { linkAddress, openPages } from '../harness/pages.js'
import type { TestService } from '../harness/service.js'
import { hostileTexts } from './hostile.js'

const COUNT = LONG ? 200 : 17
const texts = hostileTexts(COUNT)

describe.skipIf(!hasChromium)('user text in a page', () => {
  let service: TestService
  let browser: Browser
  let page: Page
  let stop: () => Promise<void>
  const met = { views: 0, dialogs: 0, stopped: [] as string[], elsewhere: [] as string[] }

  beforeAll(async () => {
    ;({ service, browser, stop } = await openPages({ demo: true }))
    const context = await browser.newContext({ locale: 'en-GB' })
    page = await context.newPage()
    watch(page, met)
  })
  afterAll(async () => stop())

  function watch(page: Page, seen: Pick<typeof met, 'dialogs' | 'stopped' | 'elsewhere'>): void {
    page.on('dialog', (dialog) => {
      seen.dialogs++
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (/content security policy|refused to/i.test(message.text())) seen.stopped.push(message.text())
    })
    page.on('request', (request) => {
      const { host } = new URL(request.url())
      if (host === 'evil.example') seen.elsewhere.push(host)
    })
  }
  const view = async (address: string) => {
    const answer = await page.goto(address)
    met.views++
    return answer
  }
  const dashboard = () => service.core.replace(/core$/, 'dashboard')
  /** The text of the page, without layout. */
  const shown = async () => ((await page.evaluate('document.body.innerText')) as string).replace(/\s+/g, ' ')
  const asShown = (text: string) => text.replace(/\s+/g, ' ').trim()

  it('is detected by this test if it runs, is blocked or sends a request', async () => {
    const seen = { dialogs: 0, stopped: [] as string[], elsewhere: [] as string[] }
    const bare = await browser.newPage()
    watch(bare, seen)
    await bare.setContent('<p><script>alert(1)</script><img src="http://evil.example/"></p>')
    expect([seen.dialogs, seen.elsewhere.length]).toEqual([1, 1])
    await bare.goto(`${service.core}/docs`)
    await bare.evaluate("document.body.append(Object.assign(document.createElement('style'), { textContent: 'p {}' }))")
    await expect.poll(() => seen.stopped.length).toBeGreaterThan(0)
    const inserted = bare.evaluate("document.body.insertAdjacentHTML('beforeend', '<p>')")
    await expect(inserted).rejects.toThrow('TrustedHTML')
    await bare.close()
  })

  it('is shown unchanged on the page of a link', async () => {
    for (const text of texts) {
      const { apikey } = await service.another(text)
      const { json } = await service.callLinks('POST', '/api/links/create-profile/ann', { headers: { apikey } })
      await view(linkAddress(service, json.key))
      await page.locator('#words li').first().waitFor()
      expect(await shown()).toContain(asShown(text))
      expect(await page.title()).toContain(asShown(text))
    }
  })

  it('is shown as text by the reference page, sent or answered', async () => {
    await view(`${dashboard()}/docs`)
    await page.getByLabel(/^API key/).fill(service.apikey)
    const article = page.locator('#getUsersByUserRef')
    await page.locator('nav a[href="#getUsersByUserRef"]').click()
    await article.getByText('Send a call').click()
    const send = async (userRef: string) => {
      await article.getByLabel(/^userRef/).fill(userRef)
      await article.getByRole('button', { name: 'Send', exact: true }).click()
      await article.locator('.status', { hasText: /^\d{3} .*\d+ ms$/ }).waitFor()
      met.views++
      return article.locator('.send > div').innerText()
    }
    for (const [i, text] of texts.entries()) {
      const body = { user_display_name: text }
      expect((await service.call('POST', `/users/person-${i}`, { body })).status).toBe(201)
      expect(await send(`person-${i}`)).toContain(JSON.stringify(text).slice(1, -1))
      await send(text)
    }
  })

  it('is only data in every answer that a browser opens', async () => {
    await page.context().setExtraHTTPHeaders({ apikey: service.apikey })
    const lists = ['users', 'users-refs/person', 'authentications', 'patterns/tags', 'logs', 'aggregations/users']
    for (const list of lists) {
      const answer = await view(`${dashboard()}/${list}`)
      expect(answer?.headers()['content-type']).toMatch(/^application\/json/)
    }
    for (const [i, text] of texts.entries()) {
      const answer = await view(`${dashboard()}/users/person-${i}`)
      expect(await answer?.text()).toContain(JSON.stringify(text).slice(1, -1))
      await view(`${service.core}/users/${encodeURIComponent(text)}`)
    }
    await page.context().setExtraHTTPHeaders({})
  })

  it('has no effect in an address', async () => {
    for (const text of texts) {
      const said = encodeURIComponent(text)
      await view(`${service.auth}/b/${said}`)
      await view(`${service.core}/${said}?x=${said}`)
      await view(`${service.core}/docs?x=${said}#${said}`)
      await view(`${service.auth}/try?x=${said}#${said}`)
    }
  })

  it('never runs', () => {
    const { views, dialogs, stopped, elsewhere } = met
    const found = `${dialogs} dialogs, ${stopped.length} stops by the policy alone and ${elsewhere.length} foreign requests in ${views} views`
    figure('T30', found, '0, 0, 0', views >= 8 * COUNT && dialogs + stopped.length + elsewhere.length === 0)
  })
})
