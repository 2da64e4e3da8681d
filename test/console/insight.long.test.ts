import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { filledService, looksGood, operator } from './console.js'

const DAY_MS = 86_400_000
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

describe.skipIf(!hasChromium)('insight and usage in the console', { timeout: 120_000 }, () => {
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
  const shown = (n: number) => n.toLocaleString('en-GB')

  it('show the hours, the confidence, the places and the devices of the API', async () => {
    const person = await open('insight?range=30d')
    const { page, close } = person
    const card = (title: string) =>
      page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) })
    const from = `date_from=${dayBefore(29)}`
    await card('Hours of the week').locator('td.heat-5').first().waitFor()
    const { week } = (await ofApi(`/aggregations/connexion-stats?${from}`)).data
    const [monday] = week.filter(({ day, hour }: Record<string, number>) => day === 0 && hour === 13)
    const cells = card('Hours of the week').locator('tbody tr').first().locator('td')
    expect(await cells.count()).toBe(24)
    expect(await cells.nth(13).textContent()).toBe(shown(monday.n))
    const { bins } = (await ofApi(`/aggregations/confidence?${from}`)).data
    await card('Confidence by outcome').getByText('Show as a table').click()
    const last = card('Confidence by outcome').locator('tbody tr').last()
    expect(await last.locator('th').textContent()).toBe('95 to 100')
    expect(await last.locator('td').allTextContents()).toEqual(
      ['authenticated', 'challenged', 'blocked'].map((field) => shown(bins.at(-1)[field])),
    )
    await card('Confidence by outcome').getByText('Show as a table').click()
    const { data: applications } = await ofApi(`/aggregations/application/?${from}`)
    const names = await card('Applications').locator('.bar-name').allTextContents()
    expect(names).toEqual(applications.slice(0, 8).map(({ application }: { application: string }) => application))
    const places = (await ofApi(`/aggregations/geolocation?${from}`)).data
    const located = places.reduce((sum: number, { n }: { n: number }) => sum + n, 0)
    expect(await card('Places').locator('.bars li').allTextContents()).toEqual([`City, FR${shown(located)}100%`])
    const device = (await ofApi(`/aggregations/contextual/device?${from}`)).data
    const [browserOf] = device.values.filter(({ signal }: { signal: string }) => signal === 'browser')
    expect(await card('Devices').locator('.bars').first().locator('li').first().textContent()).toContain(
      `${browserOf.value}${shown(browserOf.n)}`,
    )
    const growth = await ofApi(`/users-growth?${from}&bucket=day`)
    expect(await card('Users that exist now, by creation').locator('.legend b').textContent()).toBe(
      shown(growth.data.at(-1).n_users),
    )
    await looksGood(person, 'insight')
    await close()
  })

  it('show quotas, the ledger and the requests of the API', async () => {
    const person = await open('usage')
    const { page, close } = person
    const { data } = await ofApi('/organization')
    await page.getByText(`${shown(data.use.n_accounts)}, unlimited`).waitFor()
    const ledger = page.locator('.card', { has: page.getByRole('heading', { name: 'Headcount ledger' }) })
    await ledger.locator('.legend b').first().waitFor()
    const history = (await ofApi(`/usage/history?date_from=${dayBefore(6)}&limit=500`)).data.at(-1)
    expect(await ledger.locator('.legend b').allTextContents()).toEqual([
      shown(history.n_accounts),
      shown(history.n_users_nominative + history.n_users_generic),
    ])
    await expect
      .poll(async () => (await ofApi(`/usage/api?date_from=${dayBefore(6)}`)).data.at(-1).by_endpoint_class.verify, {
        timeout: 30_000,
      })
      .toBeGreaterThan(5)
    await page.reload()
    await person.signIn(service.apikey)
    const requests = page.locator('.card', { has: page.getByRole('heading', { name: 'Requests to the APIs' }) })
    await requests.getByText('Show as a table').click()
    const days = (await ofApi(`/usage/api?date_from=${dayBefore(6)}`)).data
    expect(await requests.locator('tbody tr').count()).toBe(days.length)
    expect(await requests.locator('tbody tr').last().locator('td').first().textContent()).toBe(
      shown(days.at(-1).by_endpoint_class.verify),
    )
    await requests.getByText('Show as a table').click()
    await looksGood(person, 'usage')
    await close()
  })
})
