import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../recorder/browser.js'
import type { TestService } from '../service.js'
import { linkAddress } from '../web/pages.js'
import { consoleOf, filledService, issueKey, looksGood, operator } from './console.js'

describe.skipIf(!hasChromium)('a user in the console', { timeout: 120_000 }, () => {
  let service: TestService
  let browser: Browser
  let stop: () => Promise<void>
  beforeAll(async () => {
    ;({ service, browser, stop } = await filledService())
  }, 120_000)
  afterAll(async () => stop())

  const user = async (userRef: string, key = service.apikey, query = '') => {
    const person = await operator(browser, service, `users/${encodeURIComponent(userRef)}${query}`)
    await person.signIn(key)
    await person.page.getByRole('heading', { name: 'Account' }).waitFor()
    const dialog = person.page.getByRole('dialog')
    const act = async (name: string) => {
      await person.page.locator('.acts').getByRole('button', { name, exact: true }).click()
      await dialog.getByRole('button', { name, exact: true }).click()
      await person.page.getByText(`${name} is done for ${userRef}.`).waitFor()
    }
    return { ...person, dialog, act }
  }
  const ofApi = async (path: string) => (await service.dashboard('GET', path)).json
  const actionsOn = async (userRef: string) =>
    (await ofApi(`/users/${userRef}/actions`)).data.map((row: { action: string }) => row.action)
  const pendingOf = async (userRef: string) => (await ofApi(`/users/${userRef}`)).data.members[0].pending_action

  it('has its profile and its timeline from the API', async () => {
    const person = await user('ann')
    const { page, close } = person
    const { data } = await ofApi('/users/ann')
    const [member] = data.members
    await page.getByText(`${member.n_patterns_ref} of ${member.target_ref_patterns}`).waitFor()
    const logs = await ofApi('/users/ann/logs?limit=25')
    await page.locator('table.rows tbody tr').first().waitFor()
    expect(
      await page.locator('table.rows tbody time').evaluateAll((all) => all.map((one) => one.getAttribute('datetime'))),
    ).toEqual(logs.data.map((row: { created_at: string }) => row.created_at))
    await looksGood(person, 'user')
    await close()
  })

  it('has the hours and the devices of its own sign-ins', async () => {
    const { page, close } = await user('ann', service.apikey, '?range=30d')
    const card = (title: string) =>
      page.locator('.card', { has: page.getByRole('heading', { name: title, exact: true }) })
    const from = new Date(Date.now() - 29 * 86_400_000).toISOString().slice(0, 10)
    const { data } = await ofApi(`/aggregations/connexion-stats?user_ref=ann&date_from=${from}`)
    await card('Hours of the week').locator('td.heat-5').first().waitFor()
    expect((await card('Hours of the week').locator('tbody td').allTextContents()).map(Number)).toEqual(
      data.week.map(({ n }: { n: number }) => n),
    )
    const device = await ofApi(`/aggregations/contextual/device?user_ref=ann&date_from=${from}`)
    const [first] = device.data.values.filter(({ signal }: { signal: string }) => signal === 'browser')
    expect(await card('Devices').locator('.bars li').first().textContent()).toContain(`${first.value}${first.n}`)
    await card('Places').getByText('No place is known').waitFor()
    await close()
  })

  it('is locked and unlocked after a confirmation, which Escape cancels', async () => {
    const { page, dialog, act, close } = await user('bob@example.com')
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await dialog.getByText('until an operator unlocks').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await actionsOn('bob@example.com')).toEqual([])
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Lock')
    await act('Lock')
    await page.locator('table.rows tbody td:text-is("Lock")').waitFor()
    const locked = async () =>
      (await ofApi('/aggregations/blocked-users?limit=500')).data.map((row: { user_ref: string }) => row.user_ref)
    expect(await locked()).toContain('bob@example.com')
    await act('Unlock')
    expect(await locked()).not.toContain('bob@example.com')
    await page.getByRole('link', { name: 'Log of actions' }).click()
    await expect.poll(() => page.locator('table.rows tbody tr').count()).toBe(2)
    expect(await actionsOn('bob@example.com')).toEqual(['unlock', 'lock'])
    await close()
  })

  it('is found, has its last sign-in read, and is unlocked with the keyboard alone', async () => {
    const locked = await service.dashboard('POST', '/users/ann/actions', { body: { action: 'lock' } })
    expect(locked.status).toBe(200)
    const { page, signIn, close } = await operator(browser, service)
    await signIn(service.apikey)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const { keyboard } = page
    const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""')
    const tabTo = async (name: RegExp) => {
      for (let presses = 0; presses < 60; presses++) {
        await keyboard.press('Tab')
        if (name.test(await focused())) return
      }
      throw new Error(`no press of Tab reached ${name}; the last one reached "${await focused()}"`)
    }
    await keyboard.press('/')
    await keyboard.type('ann')
    await page.getByRole('option', { name: 'ann' }).waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('Enter')
    await page.locator('.row-link').first().waitFor()
    await page.getByRole('region', { name: 'Timeline' }).focus()
    const [last] = (await ofApi('/authentications?user_ref=ann&limit=1')).data
    for (let rows = 0; rows < 10; rows++) {
      await keyboard.press('ArrowDown')
      if (await page.evaluate<boolean>(`document.activeElement.href?.endsWith('/authentications/${last.id}') ?? false`))
        break
    }
    await keyboard.press('Enter')
    await page.waitForURL(`**/authentications/${last.id}`)
    await page.getByRole('heading', { name: 'Sign-in of ann' }).waitFor()
    // Alt and the left arrow are the browser's own, and are not sent to a page.
    await page.goBack()
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await tabTo(/^Unlock$/)
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    if (!/^Unlock$/.test(await focused())) await tabTo(/^Unlock$/)
    await keyboard.press('Enter')
    await page.getByText('Unlock is done for ann.').waitFor()
    expect(await actionsOn('ann')).toEqual(['unlock', 'lock'])
    await close()
  })

  it('gets an action for the next sign-in, which can be cancelled', async () => {
    const { page, act, close } = await user('bob@example.com')
    expect(await page.getByRole('button', { name: 'Cancel queued action' }).count()).toBe(0)
    await act('Queue update')
    expect(await pendingOf('bob@example.com')).toBe('UPDATE_BIOMETRIC_PROFILE')
    await act('Cancel queued action')
    expect(await pendingOf('bob@example.com')).toBeNull()
    await act('Queue reset')
    expect(await pendingOf('bob@example.com')).toBe('RESET_BIOMETRIC_PROFILE')
    await act('Clear code')
    await act('Reset profile')
    expect((await ofApi('/users/bob@example.com')).data.biometric_status).toBe('reset')
    await close()
  })

  it('shows why an action was refused, with the request id', async () => {
    const { page, dialog, close } = await user('ann')
    await page.route('**/actions', (route) =>
      route.fulfill({ status: 503, headers: { 'x-request-id': 'of-the-refusal' }, json: { message: 'not now' } }),
    )
    await page.getByRole('button', { name: 'Unlock', exact: true }).click()
    await dialog.getByRole('button', { name: 'Unlock' }).click()
    await dialog.getByText('Request of-the-refusal').waitFor()
    await dialog.getByText('not now').waitFor()
    await close()
  })

  it('gets a profile link, with a QR code, that can be copied', async () => {
    const person = await user('bob@example.com')
    const { page, context, dialog, close } = person
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Profile link' }).click()
    await dialog.getByLabel('Valid for').selectOption('1 hour')
    await dialog.getByRole('button', { name: 'Make link' }).click()
    await dialog.getByRole('img', { name: 'QR code of the link' }).waitFor()
    await looksGood(person, 'profile-link')
    const link = await dialog.getByLabel('Link', { exact: true }).inputValue()
    expect((await fetch(linkAddress(service, link.split('/').at(-1) ?? ''))).status).toBe(200)
    await dialog.getByRole('button', { name: 'Copy link' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    await close()
  })

  it('is deleted once its reference was typed', async () => {
    const { page, dialog, close } = await user('user-7@example.com')
    await page.getByRole('button', { name: 'Delete user' }).click()
    const remove = dialog.getByRole('button', { name: 'Delete user' })
    expect(await remove.isDisabled()).toBe(true)
    await page.keyboard.type('user-7@example.co')
    expect(await remove.isDisabled()).toBe(true)
    await page.keyboard.type('m')
    await page.keyboard.press('Enter')
    await page.getByText('user-7@example.com is deleted.').waitFor()
    expect(page.url()).toBe(`${consoleOf(service)}users`)
    expect((await service.dashboard('GET', '/users/user-7@example.com')).status).toBe(404)
    await close()
  })

  it('offers no action to a key that only reads, and only those that a key opens', async () => {
    const reader = await user('ann', await issueKey(service, 'dashboard:read'))
    await reader.page.locator('table.rows tbody tr').first().waitFor()
    expect(await reader.page.locator('main button').count()).toBe(0)
    await reader.close()
    const dashboard = await user('ann', await issueKey(service, 'dashboard'))
    await dashboard.page.getByRole('button', { name: 'Lock', exact: true }).waitFor()
    expect(await dashboard.page.getByRole('button', { name: /Delete|link/ }).count()).toBe(0)
    await dashboard.close()
  })

  it('opens from the list by arrow keys and Enter, and by a click on the row', async () => {
    const { page, signIn, go, close } = await operator(browser, service, 'users')
    await signIn(service.apikey)
    await page.locator('.row-link').first().waitFor()
    const refs = await page.locator('.row-link').allTextContents()
    await page.getByRole('region', { name: 'All users' }).focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('heading', { name: refs[1] ?? '', exact: true }).waitFor()
    await go('users')
    await page.locator('tbody tr').nth(3).locator('td').nth(2).click()
    await page.getByRole('heading', { name: refs[3] ?? '', exact: true }).waitFor()
    await close()
  })
})
