import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { issueKey, looksGood, operator, typedService } from './console.js'

describe.skipIf(!hasChromium)('the organization and its words in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await typedService())
  }, 120_000)
  afterAll(async () => stop())

  const open = async (path: string, key = service.apikey) => {
    const person = await operator(browser, service, path)
    await person.signIn(key)
    await person.page.locator('main h1').waitFor()
    return person
  }
  const keys = async () => (await service.dashboard('GET', '/keys')).json.data
  const words = async (query: string) =>
    (await service.call('GET', `/organization/typing-words?${query}`)).json.words as {
      word: string
      enabled: boolean
    }[]

  it('issues a key, shows it this once, and revokes it', async () => {
    const person = await open('organization')
    const { page, close } = person
    await page.getByText(service.organizationId).waitFor()
    await looksGood(person, 'organization')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label').fill('console of Ann')
    await dialog.getByLabel(/^links:/).check()
    await dialog.getByLabel('Last day').fill('2099-12-31')
    await dialog.getByRole('button', { name: 'Issue a key' }).click()
    const fresh = (await dialog.locator('.fresh').textContent()) ?? ''
    const [issued] = await keys()
    expect(issued).toMatchObject({
      label: 'console of Ann',
      scopes: ['links', 'dashboard:read'],
      expires_at: '2099-12-31T23:59:59.000Z',
    })
    const reads = async () => (await service.dashboard('GET', '/key', { apikey: fresh })).status
    expect(await reads()).toBe(200)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /console of Ann/ }).waitFor()
    expect(await page.content()).not.toContain(fresh)
    await page
      .getByRole('row', { name: /console of Ann/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    expect(await dialog.getByRole('button', { name: 'Revoke' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type console of Ann to confirm').fill('console of Ann')
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('“console of Ann” is revoked.').waitFor()
    await expect.poll(reads, { timeout: 5000 }).toBe(401)
    await page.getByRole('link', { name: 'All keys' }).click()
    await page
      .getByRole('row', { name: /console of Ann/ })
      .getByText('Revoked', { exact: true })
      .waitFor()
    await close()
  })

  it('explains a refused key in the dialog', async () => {
    const { page, close } = await open('organization')
    await page.getByRole('button', { name: 'Issue a key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label').fill('ended')
    await dialog.getByLabel('Last day').fill('2020-01-01')
    await dialog.getByRole('button', { name: 'Issue a key' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/Request /)
      .waitFor()
    expect((await keys()).filter(({ label }: { label: string }) => label === 'ended')).toEqual([])
    await close()
  })

  it('offers no action to a key that only reads', async () => {
    const { page, go, close } = await open('organization', await issueKey(service, 'dashboard:read'))
    await page.getByText(service.organizationId).waitFor()
    await page.locator('tbody tr').first().waitFor()
    expect(await page.locator('main button').count()).toBe(0)
    await go('words')
    await page.getByText('This key does not open the words').waitFor()
    await close()
  })

  it('adds, disables and deletes words, and changes the language', async () => {
    const person = await open('words')
    const { page, close } = person
    await page.getByRole('link', { name: 'Français' }).click()
    await page.getByText(/0 own, \d+ shipped/).waitFor()
    await looksGood(person, 'words')
    await page.getByLabel('New word').fill('a b')
    expect(await page.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true)
    await page.getByLabel('New word').fill('Clavecin')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('“Clavecin” is added.').waitFor()
    expect(await words('language=fr&core=false')).toMatchObject([{ word: 'clavecin', enabled: true }])
    await page.getByLabel('Filter by a part of the word').fill('clavec')
    const row = page.getByRole('row', { name: /^clavecin/ })
    await row.getByRole('button', { name: 'Disable' }).click()
    await page.getByText('“clavecin” is disabled.').waitFor()
    expect(await words('language=fr&core=false')).toMatchObject([{ word: 'clavecin', enabled: false }])
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No such word').waitFor()
    expect(await words('language=fr&core=false')).toEqual([])
    await page.getByLabel('Default language').selectOption('Deutsch')
    await page.getByText('The setting is saved.').first().waitFor()
    await page.getByLabel('Language of a person').selectOption('Always the default')
    const language = async () => (await service.call('GET', '/organization/language')).json
    await expect.poll(language).toMatchObject({ default_language: 'de', language_mode: 'forced' })
    await close()
  })
})
