import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { liveMonth } from '../demo/made-up-month.js'
import { hasChromium } from '../harness/browser.js'
import { until } from '../harness/patience.js'
import { type ConsoleWorld, consoleOf, issueKey, looksGood, openConsole } from './console.js'

const TABLES = ['authentications?range=30d', 'users', 'users?view=activity&range=30d', 'users?view=locked']

describe.skipIf(!hasChromium)('the console with a made-up month', { timeout: 240_000 }, () => {
  let world: ConsoleWorld
  beforeAll(async () => {
    world = await openConsole()
    await liveMonth(world.service)
  }, 240_000)
  afterAll(async () => world?.stop())
  const newest = async (filter: string) => (await world.ofApi(`/authentications?limit=1&${filter}`)).data[0].id

  it('says on every page that the people are made up, and shows their month', async () => {
    const operator = await world.open('?range=30d')
    const { page, go, close } = operator
    const notice = page.getByRole('complementary', { name: 'Made-up people' })
    await notice.getByText('their sign-ins are made up').waitFor()
    await page.getByText('Success rate').first().waitFor()
    await looksGood(operator, 'month')
    await go(
      `authentications/${await newest('user_ref=made-up-elif.kaya&auth_method=biometric&recommended_action=auth')}`,
    )
    await page.getByRole('heading', { name: 'The typing, press by press' }).waitFor()
    await notice.waitFor()
    await looksGood(operator, 'month-sign-in')
    await go('insight?range=30d')
    await page.getByText('Berlin, DE').first().waitFor()
    expect(await page.getByText('No sign-ins in this window').count()).toBe(0)
    await close()
  })

  it.each(LANGUAGES)('shows every column of its tables at 1,280 px: %s', async (locale) => {
    const context = await world.browser.newContext({ locale, viewport: { width: 1280, height: 900 } })
    const page = await context.newPage()
    await page.goto(`${consoleOf(world.service)}users`)
    await page.locator('input').first().fill(world.service.apikey)
    await page.locator('input[type=checkbox]').check()
    await page.locator('input').first().press('Enter')
    for (const path of [...TABLES, `authentications/${await newest('reason=detection-bot')}`]) {
      await page.locator('main h1').waitFor()
      await page.goto(consoleOf(world.service) + path)
      await page.locator('.rows tbody tr:visible').first().waitFor()
      const cut = await page.evaluate(
        '[...document.querySelectorAll(".wide")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.getAttribute("aria-label"))',
      )
      expect([path, cut]).toEqual([path, []])
    }
    await context.close()
  })

  it('deletes it by one button, which a key that only reads does not have', async () => {
    const reader = await world.open('', await issueKey(world.service, 'dashboard:read'))
    await reader.page.getByText('their sign-ins are made up').waitFor()
    expect(await reader.page.getByRole('button', { name: 'Delete the made-up people' }).count()).toBe(0)
    await reader.close()
    const { page, close } = await world.open('authentications?range=30d')
    await page.getByRole('button', { name: 'Delete the made-up people' }).click()
    await page.getByText('The made-up people are deleted.').waitFor()
    await until(async () => (await page.getByText('their sign-ins are made up').count()) === 0)
    await page.getByText('1–').first().waitFor()
    expect((await world.ofApi('/organization')).data.n_made_up).toBe(0)
    const left = (await world.ofApi('/users')).data.map(({ user_ref }: { user_ref: string }) => user_ref)
    expect(left.sort()).toEqual(['ann', 'bob@example.com'])
    await close()
  })
})
