import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { hasChromium } from '../harness/browser.js'
import { handOf, openPage, openPages, picture, seriousFindings } from '../harness/pages.js'
import { sharedService, type TestService } from '../harness/service.js'

interface Verdict {
  readonly confidence: number | null
  readonly reason: string
  readonly recommendedAction: string
  readonly explanation: { readonly pairs: readonly unknown[] } | null
}

function titleOf({ confidence, reason, recommendedAction }: Verdict): string {
  if (confidence === null) return 'Locked for a while'
  if (reason === 'detection-bot') return 'A machine typed that'
  if (reason === 'fraud-detected') return 'That was typed before'
  if (recommendedAction === 'auth') return 'That was you'
  return recommendedAction === 'challenge' ? 'Not certain' : 'That was somebody else'
}

describe.skipIf(!hasChromium)('the page to try the product', () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await openPages({ demo: true }))
  })
  afterAll(async () => stop())

  it('is in the language of its address, with words of that language', async () => {
    const followed = await openPage(browser, `${service.auth}/try?language=fr`)
    const { page } = followed
    await page.locator('#words[lang=fr] li').first().waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('fr')
    expect(await page.locator('body > nav a').count()).toBe(LANGUAGES.length)
    await followed.close()
  })

  const post = (name: string, key: string, headers: Record<string, string> = {}) =>
    fetch(`${service.auth}/try/${name}`, { method: 'POST', headers: { 'x-try-key': key, ...headers } })

  it('enrolls a person, shows each verdict with its evidence by key pair, and deletes the data', async () => {
    const followed = await openPage(browser, `${service.auth}/try`)
    const { page } = followed
    const [own, friend] = [handOf(30), handOf(31, 2)]
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

    /** Types, and waits for the answer, which differs from run to run because the words are new. */
    const attempt = async (hand: typeof own): Promise<void> => {
      await followed.words(hand)
      const answered = page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/verify'))
      await page.keyboard.press('Enter')
      const verdict = (await (await answered).json()) as Verdict
      await page.locator('#verdict').waitFor()
      expect(await page.evaluate('document.activeElement.id')).toBe('verdict')
      expect(await page.locator('#verdict').textContent()).toBe(titleOf(verdict))
      expect(await page.locator('#rows tr').count()).toBe(Math.min(12, verdict.explanation?.pairs.length ?? 0))
      const percent = verdict.confidence === null ? 'not scored' : `${Math.round(100 * verdict.confidence)} %`
      expect(await page.locator('#tries li').last().textContent()).toContain(percent)
    }
    await attempt(own)
    await page.locator('#me').click()
    await attempt(own)
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, '22-try-you')
    await picture(page, 'try-page', '#result')
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await picture(page, '24-try-phone')
    await page.locator('#friend').click()
    expect(await followed.count()).toContain('friend')
    await attempt(friend)
    await picture(page, '23-try-friend')
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
    const { auth } = await sharedService()
    expect((await fetch(`${auth}/try`)).status).toBe(401)
    expect((await fetch(`${auth}/try/begin`, { method: 'POST' })).status).toBe(401)
  })
})
