import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectPostgres, type Database } from '../../src/storage/postgres/connection/client.js'
import { evenly, hasChromium } from '../harness/browser.js'
import { enroll } from '../harness/enrolled.js'
import {
  customerSite,
  focused,
  handOf,
  linkAddress,
  openPage,
  openPages,
  picture,
  seriousFindings,
} from '../harness/pages.js'
import type { TestService } from '../harness/service.js'

const LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl']
/** The page takes no pattern now, for any reason. */
const NOT_NOW = /^No more words can be taken right now. Please open this page again in \d+ minutes\.$/
const PHONE = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 }

describe.skipIf(!hasChromium)('the page of a profile link', () => {
  let service: TestService
  let browser: Browser
  let database: Database
  let stop: () => Promise<void>
  beforeAll(async () => {
    const pages = await openPages()
    ;({ service, browser } = pages)
    database = connectPostgres({ url: service.env.DATABASE_URL ?? '', max: 2, patience: 10 })
    stop = async () => {
      await database.close()
      await pages.stop()
    }
  })
  afterAll(async () => stop())

  const keyOf = async (kind: string, userRef: string, body: unknown = {}): Promise<string> =>
    (await service.callLinks('POST', `/api/links/${kind}-profile/${userRef}`, { body })).json.key
  const open = async (key: string, options: Parameters<Browser['newContext']>[0] = {}) =>
    openPage(browser, linkAddress(service, key), options)
  const state = async (userRef: string) => (await service.bootstrap(userRef)).json

  it('enrolls a person at their own pace, shows the progress, and redirects back', async () => {
    const site = await customerSite()
    const key = await keyOf('create', 'reg', { redirect_uri: `${site.url}/done?from=mail` })
    const followed = await open(key)
    const { page } = followed
    const hand = handOf(1)
    await picture(page, '01-begin')
    for (let n = 1; n <= 4; n++) {
      expect(await followed.count()).toBe(`Pattern ${n} of 5`)
      await followed.pattern(hand)
      await expect.poll(followed.count).toBe(`Pattern ${n + 1} of 5`)
      expect(await page.locator('#hint').textContent()).toContain('Got it')
      expect(await focused(page)).toBe('typed')
      if (n === 2) await picture(page, '02-next-words')
    }
    await followed.pattern(hand)
    await page.locator('#done-title').waitFor()
    await picture(page, '03-done')
    expect(await page.locator('#close').textContent()).toContain(new URL(site.url).host)
    expect(await page.evaluate('document.activeElement.id')).toBe('done-title')
    await page.waitForURL(`${site.url}/done?from=mail&status=completed`)
    expect(site.asked).toEqual([{ url: '/done?from=mail&status=completed', referer: undefined }])
    expect(await state('reg')).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
    await followed.close()
    await site.close()
  })

  it('follows word by word, has a wrong word corrected, and names a missing word', async () => {
    const followed = await open(await keyOf('create', 'slips'))
    const { page, marks } = followed
    const [first = '', second = '', ...rest] = await page.locator('#words li').allTextContents()
    const type = (text: string) => followed.strokes(evenly(text))
    await type(first.slice(0, 2))
    expect(await page.locator('#words li').first().locator('b').textContent()).toBe(first.slice(0, 2))
    expect(await marks()).toEqual(['now', ...Array(rest.length + 1).fill('todo')])
    await picture(page, '04-while-typing')
    await type(`${first.slice(2, -1)}${first.endsWith('q') ? 'x' : 'q'} `)
    expect((await marks()).slice(0, 3)).toEqual(['wrong', 'now', 'todo'])
    await followed.strokes(evenly('<<'))
    await type(`${first.slice(-1)} `)
    expect((await marks()).slice(0, 3)).toEqual(['done', 'now', 'todo'])
    await type('qqqq ')
    expect((await marks()).slice(0, 3)).toEqual(['done', 'wrong', 'now'])
    expect(await page.locator('#hint').textContent()).toBe(
      `“qqqq” should be “${second}”. Delete it with Backspace and type it again, please.`,
    )
    await picture(page, '05-mistyped')
    await followed.strokes(evenly('<'.repeat(5)))
    expect((await marks()).slice(0, 2)).toEqual(['done', 'now'])
    expect(await page.locator('#hint').textContent()).toBe('')
    await page.keyboard.press('Enter')
    expect(await page.locator('#hint').textContent()).toBe('Not all of the words are there yet.')
    expect(await state('slips')).toMatchObject({ nPatternsRef: 0 })
    await followed.close()
  })

  it('ends if its link ends meanwhile, and says that nothing is left to do for a profile that became complete', async () => {
    const followed = await open(await keyOf('create', 'meanwhile'))
    await service.callLinks('DELETE', '/api/links/meanwhile')
    await followed.pattern(handOf(5))
    await expect.poll(() => followed.page.locator('h1').textContent()).toBe('This link does not work (any more)')
    expect(await seriousFindings(followed.page)).toEqual([])
    await picture(followed.page, '07-gone')
    await followed.close()
    expect(await state('meanwhile')).toMatchObject({ nPatternsRef: 0 })
    const key = await keyOf('create', 'complete')
    await enroll(service, 'complete')
    const late = await open(key)
    expect(await late.page.locator('h1').textContent()).toBe('Nothing left to do')
    await picture(late.page, '08-nothing-left')
    await late.close()
  })

  it('asks to come back after too many refused patterns, and if the service is unreachable', async () => {
    const key = await keyOf('create', 'waiting')
    const followed = await open(key)
    const { page } = followed
    await page.context().setOffline(true)
    await followed.words(handOf(6))
    await page.keyboard.press('Enter')
    await page.locator('#why').waitFor()
    expect(await page.locator('#why').textContent()).toMatch(/could not be reached/)
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, '09-out-of-reach')
    await page.context().setOffline(false)
    await page.locator('#retry').click()
    await expect.poll(followed.count).toBe('Pattern 1 of 5')
    await followed.close()

    const later = await open(key)
    await database.asSystem(
      (sql) => sql`
        update keystride.member set patterns_closed_until = clock_timestamp() + interval '10 minutes'
        where member_ref = 'waiting'`,
    )
    await later.words(handOf(7))
    await later.page.keyboard.press('Enter')
    await later.page.locator('#why').waitFor()
    expect(await later.page.locator('#why').textContent()).toMatch(NOT_NOW)
    await picture(later.page, '10-too-many')
    await later.close()
  })

  it('says what happened, and offers another try, whatever a proxy answers in place of the service', async () => {
    const followed = await open(await keyOf('create', 'proxied'))
    const { page } = followed
    const html = { contentType: 'text/html', body: '<h1>Access denied</h1>' }
    const limited = (after: string) => ({ ...html, status: 429, headers: { 'retry-after': after } })
    const inTenMinutes = new Date(Date.now() + 9.5 * 60_000).toUTCString()
    const trouble = 'The service could not be reached. What you completed is kept.'
    const wait = (minutes: string) => `No more words can be taken right now. Please open this page again in ${minutes}.`
    for (const [answer, said] of [
      [{ ...html, status: 200 }, trouble],
      [{ ...html, status: 403 }, trouble],
      [{ ...html, status: 413 }, trouble],
      [{ ...html, status: 422 }, trouble],
      [{ ...html, status: 502 }, trouble],
      [{ status: 200, body: '' }, trouble],
      [{ status: 200, json: { success: true } }, trouble],
      [{ status: 200, json: { success: true, message: 'OK' } }, trouble],
      [{ status: 404, json: null }, trouble],
      [limited('120'), wait('2 minutes')],
      [limited(inTenMinutes), wait('10 minutes')],
      [limited('Thu, 01 Jan 1970 00:00:00 GMT'), wait('1 minute')],
      [limited('soon'), wait('1 minute')],
    ] as const) {
      await page.route('**/typing-patterns*', (route) => route.fulfill(answer))
      await followed.words(handOf(12))
      await page.keyboard.press('Enter')
      await page.locator('#why').waitFor()
      expect([answer, await page.locator('#why').textContent()]).toEqual([answer, said])
      await page.unroute('**/typing-patterns*')
      await page.locator('#retry').click()
      await expect.poll(followed.count).toBe('Pattern 1 of 5')
    }
    await followed.close()
  })

  it('thanks for a pattern under a policy with hours between them, and accuses nobody who comes back too early', async () => {
    const policy = (await service.dashboard('GET', '/default-policy')).json.data
    const enrollment = (minHoursBetween: number) =>
      service.dashboard('PUT', `/policies/${policy.id}`, { body: { ...policy, enrollment: { minHoursBetween } } })
    await enrollment(20)
    const key = await keyOf('create', 'early')
    const followed = await open(key)
    const why = followed.page.locator('#why')
    const hand = handOf(8)
    await followed.pattern(hand)
    await why.waitFor()
    expect(await why.textContent()).toMatch(/^Thank you, .* Please open this link again in 20 hours\.$/)
    await database.asSystem(
      (sql) => sql`
        update keystride.reference_pattern r set created_at = clock_timestamp() - interval '20 hours' + interval '10 minutes'
        from keystride.member m where m.id = r.member_id and m.member_ref = 'early'`,
    )
    await followed.page.locator('#retry').click()
    await expect.poll(followed.count).toBe('Pattern 2 of 5')
    await followed.pattern(hand)
    await why.waitFor()
    expect(await why.textContent()).toMatch(NOT_NOW)
    await picture(followed.page, '14-too-early')
    await followed.close()
    await enrollment(0)
  })

  it('works with the keyboard alone, has no animation if reduced motion is preferred, and has no serious finding in either scheme', async () => {
    const key = await keyOf('create', 'everybody')
    for (const [name, options] of [
      ['light', { reducedMotion: 'reduce' }],
      ['phone-dark', { ...PHONE, colorScheme: 'dark' }],
    ] as const) {
      const followed = await open(key, options)
      const { page } = followed
      const moving = `document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > 0).length`
      if (name === 'light') expect(await page.evaluate(moving)).toBe(0)
      for (const stop of ['typed', 'BUTTON', 'SUMMARY']) {
        expect(await focused(page)).toBe(stop)
        await page.keyboard.press('Tab')
      }
      await page.locator('summary').press('Enter')
      expect(await page.locator('details li').first().isVisible()).toBe(true)
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `11-${name}`)
      await followed.close()
    }
  })

  it('has seven languages, by preference of the browser or by choice, and fits a small phone in each', async () => {
    const key = await keyOf('reset', 'reg')
    const titles = new Set<string>()
    for (const locale of LANGUAGES) {
      const followed = await open(key, { locale, viewport: { width: 320, height: 640 } })
      const { page } = followed
      expect(await page.evaluate('document.documentElement.lang')).toBe(locale)
      expect(await page.locator('#words').getAttribute('lang')).toBe(locale)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
      titles.add((await page.locator('h1').first().textContent()) ?? '')
      await picture(page, `12-${locale}`)
      await followed.close()
    }
    expect(titles.size).toBe(LANGUAGES.length)
    const followed = await open(key)
    await followed.page.getByRole('link', { name: 'Deutsch' }).click()
    await expect.poll(() => followed.page.locator('h1').first().textContent()).toBe('Ihr Tippprofil erneuern')
    await followed.close()
  })

  it('says what it needs if no script runs or its module does not load', async () => {
    const key = await keyOf('create', 'scriptless')
    const without = await open(key, { javaScriptEnabled: false })
    await without.page.locator('#needs').waitFor({ state: 'visible' })
    expect(await without.page.locator('#work').isVisible()).toBe(false)
    await picture(without.page, '13-no-script')
    await without.close()
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.route('**/element.js', (route) => route.abort())
    await page.goto(linkAddress(service, key))
    await page.locator('#needs').waitFor({ state: 'visible' })
    await context.close()
  })
})
