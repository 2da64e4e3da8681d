import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { filledService, looksGood, operator } from './console.js'

describe.skipIf(!hasChromium)('users in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await filledService())
  }, 120_000)
  afterAll(async () => stop())

  const users = async (path: string) => {
    const person = await operator(browser, service, path)
    await person.signIn(service.apikey)
    await person.page.locator('table tbody tr').first().waitFor()
    const refs = () =>
      person.page.locator('.row-link .named > span:first-child, tbody th .named > span:first-child').allTextContents()
    return { ...person, refs }
  }
  const refsOf = async (path: string) =>
    (await service.dashboard('GET', path)).json.data.map((row: { user_ref: string }) => row.user_ref)

  it('are paged by the API, forward and back', async () => {
    const { page, refs, close, asked } = await users('users')
    expect(await refs()).toEqual(await refsOf('/users?limit=25'))
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByText('26–50 of 122').waitFor()
    expect(new URL(page.url()).search).toBe('?skip=25')
    expect(await refs()).toEqual(await refsOf('/users?limit=25&skip=25'))
    await page.goBack()
    await page.getByText('1–25 of 122').waitFor()
    await page.goForward()
    await page.getByText('26–50 of 122').waitFor()
    await page.getByRole('link', { name: 'Previous' }).click()
    await page.getByText('1–25 of 122').waitFor()
    expect(asked.some((url) => /limit=(?!25|6|1\b)/.test(url))).toBe(false)
    await close()
  })

  it('are filtered by a text, which the address keeps', async () => {
    const { page, refs, close, go } = await users('users')
    await page.getByLabel('Filter by user reference').fill('BOB')
    await expect.poll(refs).toEqual(['bob@example.com'])
    expect(new URL(page.url()).search).toBe('?filter=BOB')
    await page.getByLabel('Filter by user reference').fill('nobody has this')
    await page.getByText('No user reference contains this text').waitFor()
    await go('users?skip=5000')
    await page.getByRole('link', { name: 'To the first page' }).click()
    await page.getByText('1–25 of 122').waitFor()
    await close()
  })

  it('are filtered by status and group and ordered, as the address says, and show their locks', async () => {
    await service.call('PATCH', '/users/ann', { body: { groups: ['night shift'] } })
    const { page, refs, close, go } = await users('users')
    await page.getByRole('combobox', { name: 'Profile' }).selectOption('Complete')
    await expect.poll(refs).toEqual(await refsOf('/users?biometric_status=ok&limit=25'))
    expect(await refs()).toContain('ann')
    await page.getByRole('combobox', { name: 'Group' }).selectOption('night shift')
    await expect.poll(refs).toEqual(['ann'])
    expect(new URL(page.url()).search).toBe('?status=ok&group=night+shift')
    await page.getByRole('combobox', { name: 'Profile' }).selectOption('Reset')
    await page.getByText('No user is like this').waitFor()
    await go('users?group=staff')
    await expect.poll(refs).toEqual(await refsOf('/users?group=staff&limit=25'))
    await page.getByRole('link', { name: 'User', exact: true }).click()
    await page.locator('[aria-sort="descending"]:has-text("User")').waitFor()
    await expect.poll(refs).toEqual(await refsOf('/users?group=staff&sort=user_ref&limit=25'))
    await go('users?sort=last_authentication')
    await expect.poll(refs).toEqual(await refsOf('/users?sort=last_authentication&limit=25'))
    await service.dashboard('POST', '/users/ann/actions', { body: { action: 'lock' } })
    await go('users?group=night+shift')
    await page.locator('tbody .badge.bad:text-is("Locked")').waitFor()
    await service.dashboard('POST', '/users/ann/actions', { body: { action: 'unlock' } })
    await close()
  })

  it('are ordered by a figure of the window', async () => {
    const { page, refs, close } = await users('users?view=activity&range=30d')
    await page.getByRole('link', { name: 'Blocked' }).click()
    await page.locator('[aria-sort="descending"]:has-text("Blocked")').waitFor()
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10)
    await expect.poll(refs).toEqual(await refsOf(`/sorting/users?sort=blocked&limit=25&date_from=${from}`))
    await page.getByRole('link', { name: 'Blocked' }).click()
    await page.locator('[aria-sort="ascending"]:has-text("Blocked")').waitFor()
    await expect.poll(refs).toEqual(await refsOf(`/sorting/users?sort=blocked&order=asc&limit=25&date_from=${from}`))
    await close()
  })

  it('that are locked now are a list', async () => {
    await service.dashboard('POST', '/users/bob@example.com/actions', { body: { action: 'lock' } })
    const { page, refs, close } = await users('users?view=locked')
    expect(await refs()).toEqual(await refsOf('/aggregations/blocked-users'))
    expect(await refs()).toContain('bob@example.com')
    await page.getByText('an operator unlocks').first().waitFor()
    await close()
  })

  it('look good', async () => {
    const person = await users('users')
    await looksGood(person, 'users')
    await person.go('users?view=activity&range=30d&sort=confidence')
    await person.page.locator('[aria-sort]').waitFor()
    await looksGood(person, 'users-activity')
    await person.close()
  })
})
