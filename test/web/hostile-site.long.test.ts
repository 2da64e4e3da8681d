import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../harness/browser.js'
import { figure } from '../harness/figure.js'
import { customerSite, handOf, linkAddress, openPage, openPages } from '../harness/pages.js'
import type { TestService } from '../harness/service.js'

describe.skipIf(!hasChromium)('a foreign site', () => {
  let service: TestService
  let browser: Browser
  let key: string
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await openPages())
    key = (await service.callLinks('POST', '/api/links/create-profile/victim')).json.key
  })
  afterAll(async () => stop())

  const tried = { framings: 0, shown: 0, posts: 0, taken: 0 }

  it.each(['iframe', 'iframe sandbox="allow-scripts allow-same-origin"', 'object', 'embed'])(
    'cannot frame the page in <%s>',
    async (element) => {
      const address = linkAddress(service, key)
      const tag = element.split(' ')[0]
      const source = tag === 'object' ? `data="${address}" type="text/html"` : `src="${address}"`
      const site = await customerSite(`<${element} ${source}></${tag}>`)
      const page = await browser.newPage()
      const answered = page.waitForResponse(address)
      await page.goto(site.url)
      expect((await answered).status()).toBe(200)
      await page.waitForLoadState()
      tried.framings++
      for (const frame of page.frames().slice(1)) {
        const text = String(await frame.evaluate('document.body?.innerText ?? ""').catch(() => ''))
        if (text.includes('how you type')) tried.shown++
      }
      await page.close()
      await site.close()
    },
  )

  it('cannot post to it, by form or by script, with a pattern that the page itself could send', async () => {
    const followed = await openPage(browser, linkAddress(service, key))
    await followed.words(handOf(20))
    const sent = followed.page.waitForRequest((request) => request.url().includes('/typing-patterns'))
    await followed.page.context().setOffline(true)
    await followed.page.keyboard.press('Enter')
    const body = (await sent).postData() ?? ''
    expect(body).toContain('kevt')
    await followed.close()

    const target = `${service.auth}/typing-patterns`
    const forms = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'].map(
      (type) => `<form method="post" action="${target}" enctype="${type}"><input name="${key}" value="x"></form>`,
    )
    const site = await customerSite(forms.join(''))
    const page = await browser.newPage()
    for (let i = 0; i < forms.length; i++) {
      await page.goto(site.url)
      const answered = page.waitForResponse(target)
      await page.evaluate(`document.forms[${i}].submit()`)
      tried.posts++
      if (![403, 415].includes((await answered).status())) tried.taken++
      await page.waitForURL(target)
    }
    await page.goto(site.url)
    const script = (headers: object, mode: string) =>
      page.evaluate(
        `fetch(${JSON.stringify(target)}, { method: 'POST', mode: '${mode}', headers: ${JSON.stringify(headers)},
          body: ${JSON.stringify(body)} }).then(({ type }) => type, () => 'refused')`,
      )
    const headers = { 'content-type': 'application/json', 'x-link-key': key }
    expect(await script(headers, 'cors')).toBe('refused')
    expect(await script(headers, 'no-cors')).toBe('opaque')
    tried.posts += 2
    await page.close()
    await site.close()
    tried.taken += (await service.bootstrap('victim')).json.nPatternsRef
  })

  it('does not learn the key by a header or an opener', async () => {
    const { headers } = await fetch(linkAddress(service, key))
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.has('set-cookie')).toBe(false)
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })

  it('has had no post accepted and no frame shown', () => {
    const { framings, shown, posts, taken } = tried
    expect([framings, posts]).toEqual([4, 5])
    figure(
      'T27',
      `${taken} of ${posts} posts taken, ${shown} of ${framings} frames shown`,
      '0 and 0',
      taken + shown === 0,
    )
  })
})
