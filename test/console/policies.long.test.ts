import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visited } from '../api/dashboard/sign-ins.js'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { consoleOf, issueKey, looksGood, operator, typedService } from './console.js'

describe.skipIf(!hasChromium)('policies in the console', { timeout: 120_000 }, () => {
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
    const { page } = person
    await page.locator('h1').waitFor()
    const confirmed = async (name: string, word?: string) => {
      await page.locator('.acts').getByRole('button', { name, exact: true }).click()
      if (word !== undefined) await page.getByRole('dialog').getByRole('textbox').fill(word)
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    return { ...person, confirmed }
  }
  const ofApi = async (path: string) => (await service.dashboard('GET', path)).json.data
  const byName = async (name: string) =>
    (await ofApi('/policies?archived=true')).find((one: { name: string }) => one.name === name)

  it('are created from the default, and each field says what is wrong while one types', async () => {
    const person = await open('policies')
    const { page, close } = person
    await page.locator('.row-link').first().waitFor()
    await looksGood(person, 'policies')
    await page.getByRole('link', { name: 'New policy' }).click()
    const create = page.getByRole('button', { name: 'Create policy' })
    expect(await create.isDisabled()).toBe(true)
    await page.getByLabel('Name').fill('vault')
    expect(await create.isEnabled()).toBe(true)
    for (const [label, wrong, problem, right] of [
      ['Threshold', '1', 'A number from 0.01 to 0.99.', '0.8'],
      ['Influence of the context', '', 'A number from 0 to 0.5.', '0.3'],
      ['Attempts by code', '2.5', 'A whole number from 1 to 10.', '2'],
      ['Weak codes', '1234, abc', 'At most 1,000 codes of 4 to 12 digits each.', '123123 000000'],
      ['Device', '-1', 'A number from 0 to 100.', '3'],
    ] as const) {
      await page.getByLabel(label, { exact: true }).fill(wrong)
      await page.getByText(problem).waitFor()
      expect([label, await create.isDisabled()]).toEqual([label, true])
      await page.getByLabel(label, { exact: true }).fill(right)
      expect([label, await create.isEnabled()]).toEqual([label, true])
    }
    await page.getByLabel('Groups').fill('accounting, board')
    await page.getByLabel('Below the threshold').selectOption('Security')
    await create.click()
    await page.getByText('vault is created.').waitFor()
    const policy = await byName('vault')
    expect(page.url()).toBe(`${consoleOf(service)}policies/${policy.id}`)
    expect(policy).toMatchObject({
      decision_threshold: 0.8,
      contextual_influence: 0.3,
      priority: 'security',
      groups: ['accounting', 'board'],
      indicators: { device: { weight: 3 } },
      security_code_fallback: { max_code_attempts: 2, weak_codes: ['123123', '000000'] },
    })
    await close()
  })

  it('are changed, simulated, made the shadow and the default, and archived', async () => {
    const { id } = await byName('vault')
    const person = await open(`policies/${id}?range=7d`)
    const { page, confirmed, close } = person
    await page.getByLabel('Threshold', { exact: true }).fill('0.99')
    await page.getByRole('button', { name: 'Simulate before saving' }).click()
    await page.getByRole('heading', { name: 'Simulation of the unsaved policy' }).waitFor()
    const draft = { ...(await byName('vault')), decision_threshold: 0.99 }
    const { id: _, is_default, is_shadow, archived_at, created_at, updated_at, ...policy } = draft
    const from = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10)
    const { json: tried } = await service.dashboard('POST', '/policies/simulate', { body: { policy, date_from: from } })
    expect(tried.data.n_changed).toBeGreaterThan(0)
    await page.getByText(`${tried.data.n_changed} of ${tried.data.n_attempts} decisions would change`).waitFor()
    expect((await byName('vault')).decision_threshold).toBe(0.8)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('vault is saved.').waitFor()
    expect((await byName('vault')).decision_threshold).toBe(0.99)

    await page.getByRole('button', { name: 'Simulate', exact: true }).click()
    await page.getByText(/of .* decisions would change/).waitFor()
    const date_from = new Date(Date.now() - 6 * 86_400_000).toISOString().slice(0, 10)
    const { json } = await service.dashboard('POST', `/policies/${id}/simulate`, { body: { date_from } })
    expect(json.data.n_changed).toBeGreaterThan(0)
    await page.getByText(`${json.data.n_changed} of ${json.data.n_attempts} decisions would change`).waitFor()
    await looksGood(person, 'policy')

    await confirmed('Make shadow')
    await page.getByRole('heading', { name: 'As the shadow policy' }).waitFor()
    expect((await byName('vault')).is_shadow).toBe(true)
    await visited(service, 'dora')
    await expect
      .poll(async () => (await service.dashboard('GET', `/policies/${id}/shadow`)).json.data.n_attempts, {
        timeout: 40_000,
      })
      .toBeGreaterThan(1)
    await person.go(`policies/${id}?range=30d`)
    const { json: shadowed } = await service.dashboard('GET', `/policies/${id}/shadow`)
    const legend = page.locator('.card', { hasText: 'As the shadow policy' }).locator('.legend b')
    await legend.first().waitFor()
    const differences = (await legend.allTextContents()).map(Number)
    expect(differences.reduce((sum, n) => sum + n, 0)).toBe(shadowed.data.n_attempts)
    expect((differences[1] ?? 0) + (differences[2] ?? 0)).toBe(shadowed.data.n_different)
    await confirmed('End shadow')
    expect((await byName('vault')).is_shadow).toBe(false)
    await confirmed('Make default')
    expect((await byName('vault')).is_default).toBe(true)
    await page.getByRole('button', { name: 'Archive' }).waitFor({ state: 'detached' })
    await person.go(`policies/${(await byName('default')).id}`)
    await page.getByRole('heading', { name: 'default' }).waitFor()
    await confirmed('Archive', 'default')
    expect((await byName('default')).archived_at).not.toBeNull()
    await page.locator('.badge:text-is("Archived")').waitFor()
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
    await close()
  })

  it('are shown to a key that only reads, without an action but with the simulation', async () => {
    const { id } = await byName('vault')
    const { page, go, close } = await open(`policies/${id}`, await issueKey(service, 'dashboard:read'))
    await page.getByLabel('Threshold', { exact: true }).waitFor()
    expect(await page.getByLabel('Threshold', { exact: true }).isDisabled()).toBe(true)
    expect(await page.locator('main button').allTextContents()).toEqual(['Simulate'])
    await go('policies')
    await page.locator('.row-link').first().waitFor()
    expect(await page.getByRole('link', { name: 'New policy' }).count()).toBe(0)
    await close()
  })
})
