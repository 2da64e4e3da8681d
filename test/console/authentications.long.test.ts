import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visited } from '../api/dashboard/sign-ins.js'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { consoleOf, filledService, looksGood, operator } from './console.js'

const three = (value: number) => value.toFixed(3)

describe.skipIf(!hasChromium)('sign-ins in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await filledService())
  }, 120_000)
  afterAll(async () => stop())

  const open = async (path: string) => {
    const person = await operator(browser, service, path)
    await person.signIn(service.apikey)
    await person.page.locator('main h1').waitFor()
    return person
  }
  const ofApi = async (path: string) => (await service.dashboard('GET', path)).json
  const counted = async (page: Page, n: number) =>
    page.getByText(new RegExp(`^1–\\d+ of ${n.toLocaleString('en-GB')}$`)).waitFor()
  const weekAgo = () => new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10)

  it('are listed page by page, with every filter in the address', async () => {
    const person = await open('authentications')
    const { page, close } = person
    const all = await ofApi(`/authentications?date_from=${weekAgo()}&limit=1`)
    await counted(page, all.count)
    await page.getByLabel('Outcome').selectOption('Blocked')
    const blocked = await ofApi(`/authentications?date_from=${weekAgo()}&recommended_action=block&limit=25`)
    await counted(page, blocked.count)
    expect(new URL(page.url()).search).toBe('?outcome=block')
    expect(await page.locator('tbody tr').count()).toBe(Math.min(25, blocked.count))
    await page.getByLabel('Outcome').selectOption('Outcome: all')
    await page.getByLabel('Method').selectOption('Code')
    const codes = await ofApi(`/authentications?date_from=${weekAgo()}&auth_method=security_code&limit=1`)
    await counted(page, codes.count)
    await page.getByLabel('Method').selectOption('Method: all')
    await page.getByLabel('User reference').fill('ann')
    const ofAnn = await ofApi(`/authentications?date_from=${weekAgo()}&user_ref=ann&limit=25`)
    await counted(page, ofAnn.count)
    expect(await page.locator('tbody th').allTextContents()).toHaveLength(ofAnn.data.length)
    await page.getByLabel('User reference').fill('nobody at all')
    await page.getByText('No sign-in of this window matches').waitFor()
    await page.getByRole('link', { name: 'Without filters' }).click()
    await counted(page, all.count)
    await looksGood(person, 'authentications')
    await page.getByLabel('Application').locator('option').nth(1).waitFor({ state: 'attached' })
    await close()
  })

  it('show the point of a chart that led to them', async () => {
    const { page, go, close } = await open('authentications')
    await go('authentications?from=2020-01-01T00%3A00%3A00Z&to=2020-01-02T00%3A00%3A00Z')
    await page.getByText('No sign-ins in this window').waitFor()
    await page.getByRole('link', { name: 'Show a whole range' }).click()
    await page.locator('tbody tr').first().waitFor()
    await close()
  })

  it('appear by themselves in the live list', async () => {
    const { page, close } = await open('authentications?live=1')
    await page.locator('tbody tr').first().waitFor()
    await visited(service, 'carol')
    await page.locator('tbody tr', { hasText: 'carol' }).first().waitFor({ timeout: 15_000 })
    await close()
  })

  it('are explained one by one as a picture, as the API explains them', async () => {
    const [attempt] = (await ofApi('/authentications?user_ref=ann&auth_method=biometric')).data
    const { data: presses } = await ofApi(`/authentication/${attempt.id}/presses`)
    const person = await open('authentications?user=ann&method=biometric')
    const { page, close } = person
    await page.locator('tbody a').first().click()
    await page.getByRole('heading', { name: 'Sign-in of ann' }).waitFor()
    expect(page.url()).toBe(`${consoleOf(service)}authentications/${attempt.id}`)
    const { policy } = presses
    await page
      .getByRole('img', {
        name: `Confidence ${three(attempt.confidence)}: challenged from ${three(policy.challenge_from)}, authenticated from ${three(policy.decision_threshold)}`,
      })
      .waitFor()
    const caps = await page.locator('.press .cap').allTextContents()
    const keys = presses.presses.map(({ second }: { second: string }) => (second === 'Space' ? '␣' : second))
    expect(caps).toEqual(keys)
    const strong = presses.presses.filter(({ spoke_for }: { spoke_for: number }) => spoke_for >= 2).length
    expect(await page.locator('.press.g4').count()).toBe(strong)
    await page.getByText('Show as a table').click()
    expect(await page.locator('details table.rows tbody tr').count()).toBeGreaterThanOrEqual(keys.length)
    const { data: verdicts } = await ofApi(`/authentication/${attempt.id}/what-if`)
    const rows = page.locator('.card', { hasText: 'By each policy' }).locator('tbody tr')
    expect(await rows.count()).toBe(verdicts.length)
    expect(await rows.first().locator('td').nth(1).textContent()).toBe(
      `${three(verdicts[0].confidence)} / ${three(verdicts[0].decision_threshold)}`,
    )
    const { data: full } = await ofApi(`/authentications/${attempt.id}`)
    expect(await page.locator('.indicators details').count()).toBe(full.indicators.length)
    await page.locator('.indicators summary', { hasText: 'Typed by a person' }).click()
    await page.locator('.indicators code', { hasText: 'bot_likelihood' }).waitFor()
    await page.locator('.indicators summary', { hasText: 'Typed by a person' }).click()
    await page.getByText('Show as a table').click()
    await looksGood(person, 'authentication')
    await close()
  })

  it('say why there is no picture: a code, deleted patterns', async () => {
    const { data } = await ofApi('/authentications?auth_method=security_code&limit=1')
    const { page, go, close } = await open(`authentications/${data[0].id}`)
    await page.getByText('A security code was entered.').waitFor()
    expect(await page.getByRole('heading', { name: 'By each policy' }).count()).toBe(0)
    const bob = 'bob%40example.com'
    const [typed] = (await ofApi(`/authentications?user_ref=${bob}&auth_method=biometric`)).data
    const reset = await service.dashboard('POST', `/users/${bob}/actions`, { body: { action: 'reset-profile' } })
    expect(reset.status).toBe(200)
    await go(`authentications/${typed.id}`)
    await page.getByRole('heading', { name: 'Sign-in of bob@example.com' }).waitFor()
    const { message } = await ofApi(`/authentication/${typed.id}/presses`)
    await page.getByText(message).waitFor()
    await page.getByRole('heading', { name: 'By each policy' }).waitFor()
    await close()
  })
})
