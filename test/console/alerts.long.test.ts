import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { visited } from '../api/dashboard/sign-ins.js'
import { hasChromium } from '../recorder/browser.js'
import { datagramSink, smtpSink } from '../servers/sinks.js'
import type { TestService } from '../service.js'
import { issueKey, looksGood, operator, typedService } from './console.js'

describe.skipIf(!hasChromium)('alerts in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await typedService())
  }, 120_000)
  afterAll(async () => stop())

  const alerts = async (key = service.apikey) => {
    const person = await operator(browser, service, 'alerts')
    await person.signIn(key)
    await person.page.getByLabel('A sign-in is blocked: Syslog').waitFor()
    return person
  }
  const ofApi = async (path: string) => (await service.dashboard('GET', path)).json.data

  it('have a rule for each event and channel, which a tick changes', async () => {
    const { page, close } = await alerts()
    const before = await ofApi('/alert')
    expect(await page.locator('.matrix tbody tr').count()).toBe(Object.keys(before).length)
    await page.getByLabel('A sign-in is blocked: Syslog').check()
    await page.getByText('A sign-in is blocked: sent by Syslog.').waitFor()
    expect(await ofApi('/alert')).toEqual({ ...before, blocked: { ...before.blocked, syslog: true } })
    await page.getByLabel('A sign-in is blocked: Syslog').uncheck()
    await page.getByText('A sign-in is blocked: no longer sent by Syslog.').waitFor()
    expect(await ofApi('/alert')).toEqual(before)
    await close()
  })

  it('have channels that are set up, tested, changed and removed', async () => {
    const person = await alerts()
    const { page, close } = person
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'E-mail', exact: true }) })
    const dialog = page.getByRole('dialog')
    await card.getByRole('button', { name: 'Set up' }).click()
    await dialog.getByLabel('Host').fill('not a host')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('must be a host name or an address').waitFor()
    await dialog.getByLabel('Host').fill('127.0.0.1')
    await dialog.getByLabel('Sender').fill('keystride@example.com')
    await dialog.getByLabel('Recipients').fill('a@example.com, b@example.com')
    await dialog.getByLabel('User').fill('keystride')
    await dialog.getByLabel('Password').fill('a secret of the mail')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('E-mail is saved.').waitFor()
    expect(await ofApi('/alert/email')).toEqual({
      host: '127.0.0.1',
      port: 587,
      tls: 'starttls',
      sender: 'keystride@example.com',
      recipients: ['a@example.com', 'b@example.com'],
      user: 'keystride',
      password_set: true,
    })
    await card.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText(/The test was not sent: /).waitFor()
    await looksGood(person, 'alerts')
    await card.getByRole('button', { name: 'Change' }).click()
    expect(await dialog.getByLabel('Password').inputValue()).toBe('')
    await dialog.getByLabel('Port').fill('465')
    await dialog.getByLabel('Encryption').selectOption('tls')
    await looksGood(person, 'alert-channel')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await ofApi('/alert/email')).toMatchObject({ port: 465, tls: 'tls', password_set: true })
    await card.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('E-mail is removed.').waitFor()
    expect(await ofApi('/alert/email')).toBeNull()
    await close()
  })

  it('show the secret of a webhook once, when it is generated', async () => {
    const person = await alerts()
    const { page, close } = person
    const card = page.locator('.card', { has: page.getByRole('heading', { name: 'Webhook', exact: true }) })
    const dialog = page.getByRole('dialog')
    await card.getByRole('button', { name: 'Set up' }).click()
    await dialog.getByText('Empty: the service generates one and shows it once.').waitFor()
    await dialog.getByLabel('URL').fill('https://127.0.0.1:8443/hooks')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const fresh = page.getByRole('dialog', { name: 'The new signing secret' })
    const first = await fresh.locator('code').innerText()
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await looksGood(person, 'alert-secret')
    await fresh.getByRole('button', { name: 'Close' }).click()
    await card.getByText('https://127.0.0.1:8443/hooks').waitFor()
    expect(await page.content()).not.toContain(first)
    expect(await ofApi('/alert/webhook')).toEqual({ url: 'https://127.0.0.1:8443/hooks', secret_set: true })
    await card.getByRole('button', { name: 'Change' }).click()
    await dialog.getByText('Empty: the stored one stays.').waitFor()
    await dialog.getByLabel('URL').fill('https://127.0.0.1:8443/moved')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await card.getByText('https://127.0.0.1:8443/moved').waitFor()
    expect(await fresh.count()).toBe(0)
    await card.getByRole('button', { name: 'New secret' }).click()
    await dialog.getByRole('button', { name: 'New secret' }).click()
    const second = await fresh.locator('code').innerText()
    expect(second).toMatch(/^whsec_/)
    expect(second).not.toBe(first)
    await fresh.getByRole('button', { name: 'Close' }).click()
    await card.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Webhook is removed.').waitFor()
    expect(await ofApi('/alert/webhook')).toBeNull()
    await close()
  })

  it('have their deliveries listed, with the reason of a failure and the state of the channel', async () => {
    const gone = await smtpSink()
    await gone.close()
    const there = await datagramSink()
    const set = async (path: string, body: object) =>
      expect((await service.dashboard('POST', path, { body })).status).toBe(200)
    const mail = {
      host: '127.0.0.1',
      port: gone.port,
      tls: 'none',
      sender: 'a@example.com',
      recipients: ['b@example.com'],
    }
    await set('/alert/email', mail)
    await set('/alert/syslog', { host: '127.0.0.1', port: there.port, transport: 'udp' })
    await set('/alert', { blocked: { email: true, syslog: true } })
    await visited(service, 'dora')
    const listed = async (query: string) => (await service.dashboard('GET', `/alert/deliveries?${query}`)).json
    const tried = async () =>
      (await listed('state=waiting')).data[0]?.tries > 0 && (await listed('state=delivered')).count === 1
    await vi.waitUntil(tried, { timeout: 30_000, interval: 200 })

    const person = await alerts()
    const { page, close } = person
    const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr')
    await rows.nth(1).waitFor()
    expect(await rows.filter({ hasText: 'E-mail' }).innerText()).toMatch(
      /A sign-in is blocked.*Waiting.*No connection/s,
    )
    expect(await rows.filter({ hasText: 'Syslog' }).innerText()).toMatch(/Delivered.*UDP does not confirm/s)
    await page.getByText(/E-mail: 1 waiting, failed tries in a row: \d+, next try /).waitFor()
    await looksGood(person, 'alert-deliveries')
    await page.getByLabel('State').selectOption('Delivered')
    await rows.filter({ hasText: 'E-mail' }).waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(1)
    await set('/alert', { blocked: { email: false, syslog: false } })
    for (const channel of ['email', 'syslog']) await service.dashboard('DELETE', `/alert/${channel}`)
    await there.close()
    await close()
  })

  it('are shown to a key that only reads, without an action', async () => {
    const { page, close } = await alerts(await issueKey(service, 'dashboard:read'))
    await page.getByText('Nothing is sent over this channel yet.').nth(3).waitFor()
    expect(await page.locator('main button').count()).toBe(0)
    expect(await page.locator('.matrix input:enabled').count()).toBe(0)
    await close()
  })
})
