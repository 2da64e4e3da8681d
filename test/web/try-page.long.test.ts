import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { connectPostgres } from '../../src/storage/postgres/connection/client.js'
import { hasChromium, launch } from '../recorder/browser.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { madeUpHand } from './hand.js'
import { openPage, picture, seriousFindings } from './pages.js'

describe.skipIf(!hasChromium)('the page to try the product', { timeout: 180_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    const fresh = await freshDatabase()
    service = await startService(fresh.url, { demo: true })
    browser = await launch()
    stop = async () => {
      await browser.close()
      await service.close()
      await fresh.drop()
    }
  })
  afterAll(async () => stop())

  it('has seven languages, and words of its language', async () => {
    const titles = new Set<string>()
    for (const language of LANGUAGES) {
      const followed = await openPage(browser, `${service.auth}/try?language=${language}`)
      const { page } = followed
      await expect.poll(followed.count).not.toBe('')
      expect(await page.evaluate('document.documentElement.lang')).toBe(language)
      expect(await page.locator('#words').getAttribute('lang')).toBe(language)
      expect(await page.locator('body > nav a').count()).toBe(LANGUAGES.length)
      titles.add((await page.locator('h1').textContent()) ?? '')
      expect(await seriousFindings(page)).toEqual([])
      await followed.close()
    }
    expect(titles.size).toBe(LANGUAGES.length)
  })

  it('warns on a device with only a touch screen before the first key press', async () => {
    const phone = await openPage(browser, `${service.auth}/try`, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    })
    await expect.poll(phone.count).toBe('Pattern 1 of 5')
    expect(await phone.page.locator('#touch').isVisible()).toBe(true)
    await picture(phone.page, '25-try-touch')
    await phone.close()
    const desk = await openPage(browser, `${service.auth}/try`)
    await expect.poll(desk.count).toBe('Pattern 1 of 5')
    expect(await desk.page.locator('#touch').isVisible()).toBe(false)
    await desk.close()
  })

  it('says how long to wait after too many refused patterns', async () => {
    const followed = await openPage(browser, `${service.auth}/try`)
    await expect.poll(followed.count).toBe('Pattern 1 of 5')
    const database = connectPostgres({ url: service.env.DATABASE_URL ?? '', max: 2, patience: 10 })
    await database.asSystem(
      (sql) => sql`update keystride.member set patterns_closed_until = clock_timestamp() + interval '10 minutes'`,
    )
    await database.close()
    await followed.pattern(madeUpHand(32))
    await followed.page.locator('#why').waitFor()
    expect(await followed.page.locator('#why').textContent()).toMatch(/Please open this page again in \d+ minutes\.$/)
    await followed.close()
  })

  const post = (name: string, key: string, headers: Record<string, string> = {}) =>
    fetch(`${service.auth}/try/${name}`, { method: 'POST', headers: { 'x-try-key': key, ...headers } })

  it('enrolls a person, recognizes only that person, shows the evidence by key pair, and deletes the data', async () => {
    const followed = await openPage(browser, `${service.auth}/try`)
    const { page } = followed
    // The words are new in each run. Now and then a friend who types as fast is accepted.
    const [own, friend] = [madeUpHand(30), madeUpHand(31, 2)]
    await expect.poll(followed.count).toBe('Pattern 1 of 5')
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, '20-try')
    for (let n = 2; n <= 5; n++) {
      await followed.pattern(own)
      await expect.poll(followed.count).toBe(`Pattern ${n} of 5`)
    }
    await followed.pattern(own)
    await expect.poll(followed.count).toBe('Your turn: sign in')
    await picture(page, '21-try-sign-in')

    const attempt = async (hand: typeof own) => {
      await followed.words(hand)
      const answered = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/verify'))
      await page.keyboard.press('Enter')
      const answer = (await (await answered).json()) as { confidence: number }
      await page.locator('#verdict').waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe('verdict')
      return answer.confidence
    }
    const first = await attempt(own)
    await page.locator('#me').click()
    const mine = await attempt(own)
    expect(await page.locator('#rows tr').count()).toBeGreaterThan(6)
    expect(await page.locator('#said').textContent()).toContain(`${Math.round(100 * mine)} %`)
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, '22-try-you')
    await picture(page, 'try-page', '#result')
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await picture(page, '24-try-phone')
    await page.locator('#friend').click()
    expect(await followed.count()).toContain('friend')
    const theirs = await attempt(friend)
    await picture(page, '23-try-friend')
    expect(Math.max(first, mine)).toBeGreaterThan(theirs)
    expect(theirs).toBeLessThan(0.5)
    expect(await page.locator('#verdict').textContent()).not.toBe('That was you')
    expect(await page.locator('#tries li').count()).toBe(3)
    await page.locator('#forget').click()
    await expect.poll(followed.count).toBe('Pattern 1 of 5')
    await followed.close()
  })

  it('refuses a foreign key and a foreign site', async () => {
    for (const name of ['typing-patterns', 'verify']) {
      expect((await post(name, 'made up')).status).toBeGreaterThanOrEqual(400)
      expect((await post(name, 'made up', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    }
    expect((await post('begin', '', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post('forget', 'made up')).status).toBe(200)
  })

  it('keeps only the latest hundred people', async () => {
    for (let i = 0; i < 101; i++) expect((await post('begin', '')).status).toBe(200)
    const { json } = await service.call('GET', '/organization')
    expect(json.nUsers).toBe(100)
  })

  it('exists only with the embedded default', async () => {
    const fresh = await freshDatabase()
    const other = await startService(fresh.url)
    for (const [method, path] of [
      ['GET', '/try'],
      ['POST', '/try/begin'],
    ] as const)
      expect((await fetch(other.auth + path, { method })).status).toBe(401)
    await other.close()
    await fresh.drop()
  })
})
