import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enroll } from '../api/enrolled.js'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { hostileTexts } from '../web/hostile.js'
import { operator, typedService } from './console.js'

const TEXTS = hostileTexts(17)

describe.skipIf(!hasChromium)('hostile texts in the console', { timeout: 300_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await typedService())
    await fill()
  }, 180_000)
  afterAll(async () => stop())

  /** Puts each text in every field that takes one and that the console shows. */
  async function fill() {
    const who = await enroll(service, 'typist')
    for (const [i, text] of TEXTS.entries()) {
      const body = { user_display_name: text, groups: [text], tag: { [`k${i}`]: text } }
      expect((await service.call('POST', `/users/person-${i}`, { body })).status).toBe(201)
      const policy = (await service.dashboard('GET', '/policies')).json.data[0]
      const { id: _, is_default, is_shadow, archived_at, created_at, updated_at, ...rules } = policy
      const made = await service.dashboard('POST', '/policies', {
        body: { ...rules, name: text, groups: [`${text}${i}`] },
      })
      expect([text, made.status, made.json.message]).toEqual([text, 201, expect.anything()])
      const key = { label: text, scopes: ['dashboard:read'] }
      expect((await service.dashboard('POST', '/keys', { body: key })).status).toBe(201)
      const { session } = await service.bootstrap('typist')
      const pattern = who.fresh() as object
      const tags = [{ k: 'app', v: text.slice(0, 80) }]
      const typed = { ...pattern, tags, d: { ua: text, gpu: text, navLanguage: 'en', tz: text } }
      expect((await service.call('POST', '/users/typist/verify', { session, body: typed })).status).toBe(200)
    }
  }

  it('are shown as they are on every page: no script, no dialog, no report, no request elsewhere', async () => {
    const person = await operator(browser, service)
    const { page, go, signIn, close } = person
    let dialogs = 0
    page.on('dialog', (dialog) => {
      dialogs++
      void dialog.dismiss()
    })
    await signIn(service.apikey)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const ids = async (path: string): Promise<string[]> =>
      (await service.dashboard('GET', path)).json.data.map(({ id }: { id: string }) => id)
    const said = (text: string) => encodeURIComponent(text)
    const views = [
      ...[
        '',
        'users',
        'users?view=activity',
        'users?view=locked',
        'authentications',
        'insight',
        'policies',
        'policies/new',
      ],
      ...['alerts', 'words', 'usage', 'exports', 'system', 'organization', 'organization?view=all'],
      ...TEXTS.map((_, i) => `users/person-${i}`),
      ...(await ids('/policies')).map((id) => `policies/${id}`),
      ...(await ids('/authentications?user_ref=typist&limit=17')).map((id) => `authentications/${id}`),
      ...TEXTS.flatMap((text) => [
        `users?filter=${said(text)}`,
        `users/${said(text)}`,
        `authentications?user=${said(text)}&application=${said(text)}&outcome=${said(text)}&from=${said(text)}`,
        `${said(text)}?range=${said(text)}`,
      ]),
    ]
    for (const address of views) {
      await go(address)
      await page.locator('main h1').waitFor()
      await expect.poll(() => page.locator('main .loading').count(), { timeout: 15_000 }).toBe(0)
      expect([address, await page.evaluate('document.scripts.length')]).toEqual([address, 1])
    }
    await go('users/person-5')
    await page
      .getByText(TEXTS[5] ?? '', { exact: false })
      .first()
      .waitFor()
    await go('organization')
    await page.getByRole('row').nth(1).waitFor()
    const shown = (await page.locator('tbody th').allTextContents()).join('\n')
    expect(TEXTS.filter((text) => shown.includes(text)).length).toBeGreaterThan(15)
    expect(dialogs).toBe(0)
    // `close` looks for reports of the policy and for requests to another origin.
    await close()
  })
})
