import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../harness/browser.js'
import { linkAddress } from '../harness/pages.js'
import { until } from '../harness/patience.js'
import { visited } from '../harness/sign-ins.js'
import { type ConsoleWorld, consoleOf, dayBefore, issueKey, looksGood, openConsole, operator } from './console.js'

const three = (value: number) => value.toFixed(3)
const grouped = (n: number) => n.toLocaleString('en-GB')
/** Queries from the first day of the default range on, and of the range of 30 days. */
const week = () => `date_from=${dayBefore(6)}`
const month = () => `date_from=${dayBefore(29)}`

describe.skipIf(!hasChromium)('the console with many people', () => {
  let world: ConsoleWorld
  let service: ConsoleWorld['service']
  let open: ConsoleWorld['open']
  let ofApi: ConsoleWorld['ofApi']
  beforeAll(async () => {
    world = await openConsole({ filled: true })
    ;({ service, open, ofApi } = world)
  })
  afterAll(async () => world?.stop())

  describe('as a whole', () => {
    const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' }).waitFor()

    it('explains an unknown key, and signs in with a right one, at the address that was opened', async () => {
      const person = await operator(world.browser, service, '?range=30d')
      const { page, signIn, close } = person
      await looksGood(person, 'sign-in')
      await signIn('ks_wrong')
      await page.getByText('does not know this key').waitFor()
      await signIn(service.apikey)
      await overview(page)
      expect(new URL(page.url()).search).toBe('?range=30d')
      const range = page.getByRole('navigation', { name: 'Range' }).locator('[aria-current]')
      expect(await range.textContent()).toBe('30 days')
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await page.reload()
      await page.getByLabel('API key').waitFor()
      await close()
    })

    it('speaks the language of the browser', async () => {
      const context = await world.browser.newContext({ locale: 'de-DE' })
      const page = await context.newPage()
      await page.goto(consoleOf(service))
      await page.locator('input').first().fill(service.apikey)
      await page.locator('input').first().press('Enter')
      await page.getByRole('heading', { name: 'Übersicht', exact: true }).waitFor()
      expect(await page.evaluate('document.documentElement.lang')).toBe('de')
      await context.close()
    })

    it('says in a sentence that a key lacks the scope', async () => {
      const { page, close } = await open('', await issueKey(service, 'core'))
      await page.getByRole('heading', { name: 'This key does not open the console' }).waitFor()
      await page.getByRole('button', { name: 'Sign in with another key' }).click()
      await page.getByLabel('API key').waitFor()
      await close()
    })

    it('keeps the key in the tab only if asked to, and forgets it at the sign-out', async () => {
      const { page, signIn, close } = await operator(world.browser, service)
      await signIn(service.apikey, true)
      await overview(page)
      await page.reload()
      await overview(page)
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('API key').waitFor()
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await close()
    })

    it('locks after 15 minutes without use, and opens the same view again', async () => {
      const { page, signIn, close } = await operator(world.browser, service, '?range=90d')
      await page.clock.install()
      await signIn(service.apikey, true)
      await overview(page)
      await page.clock.fastForward('14:00')
      await page.keyboard.press('Shift')
      await page.clock.fastForward('14:00')
      expect(await page.getByRole('heading', { name: 'Overview' }).isVisible()).toBe(true)
      await page.clock.fastForward('01:30')
      await page.getByRole('heading', { name: 'Locked' }).waitFor()
      expect(await page.getByText('ann').count()).toBe(0)
      expect(await page.evaluate('sessionStorage.length')).toBe(0)
      await signIn(service.apikey)
      await overview(page)
      expect(new URL(page.url()).search).toBe('?range=90d')
      await close()
    })

    it('signs out when the key is revoked', async () => {
      const { page, go, close } = await open()
      await page.route('**/dashboard/**', (route) => route.fulfill({ status: 401, json: { success: false } }))
      await go('?range=24h')
      await page.getByText('no longer accepts this key').waitFor()
      await close()
    })

    it('shows an error with its request id, and loads again', async () => {
      const { page, signIn, close } = await operator(world.browser, service)
      await page.route('**/authentications-history*', (route) =>
        route.fulfill({
          status: 500,
          headers: { 'x-request-id': '0198c0de-0000-7000-8000-000000000000' },
          json: { success: false, message: 'internal error' },
        }),
      )
      await signIn(service.apikey)
      await page.getByText('Request 0198c0de-0000-7000-8000-000000000000').waitFor()
      await page.unroute('**/authentications-history*')
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByText('Success rate').waitFor()
      await close()
    })

    it('links to no view that it does not have', async () => {
      const { page, go, close } = await open()
      await page.getByText('Success rate').waitFor()
      const links = await page.evaluate<string[]>(
        "[...document.querySelectorAll('a[href]:not([data-load], .skip)')].map(({ href }) => href)",
      )
      for (const link of new Set(links)) {
        await go(link.slice(consoleOf(service).length))
        await page.locator('h1').waitFor()
        expect([link, await page.getByText('No such page').count()]).toEqual([link, 0])
      }
      await go('nowhere')
      await page.getByRole('heading', { name: 'No such page' }).waitFor()
      await close()
    })

    it('marks notifications as read, and offers that to no key that only reads', async () => {
      const reader = await open('', await issueKey(service, 'dashboard:read'))
      await reader.page.getByText(/unread/).waitFor()
      expect(await reader.page.locator('main button').count()).toBe(0)
      await reader.close()
      const { page, close } = await open()
      await page.getByRole('button', { name: 'Mark all as read' }).click()
      await page.getByText('All notifications are marked as read.').waitFor()
      await page.getByText(/unread/).waitFor({ state: 'detached' })
      expect((await ofApi('/notifications')).unread).toBe(0)
      await close()
    })

    it('shows on the overview the figures of the API', async () => {
      const { page, close } = await open()
      const tile = (name: string) => page.locator(`.tile:has(.name:text-is("${name}")) b`).textContent()
      await page.getByText('Success rate').waitFor()
      const { data } = await ofApi(`/authentications-history?${week()}&bucket=day`)
      const sum = (field: string) =>
        data.reduce((all: number, row: Record<string, number>) => all + (row[field] ?? 0), 0)
      expect(sum('n')).toBeGreaterThan(500)
      const percent = (part: number) => `${Math.round((part / sum('n')) * 1000) / 10}%`
      const { count } = await ofApi('/aggregations/blocked-users')
      for (const [name, figure] of [
        ['Sign-ins', String(sum('n'))],
        ['Success rate', percent(sum('authenticated'))],
        ['Challenge rate', percent(sum('challenged'))],
        ['Blocked sign-ins', String(sum('blocked'))],
        ['Users locked now', String(count)],
      ] as const)
        expect([name, await tile(name)]).toEqual([name, figure])
      await page.getByText('Show as a table').click()
      expect(await page.locator('table tbody tr').count()).toBe(data.length)
      const latest = page.locator('table tbody tr').last().locator('td').first()
      expect(await latest.textContent()).toBe(String(data.at(-1).n))
      const time = page.locator('.feed time').first()
      expect(await time.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
      await close()
    })
  })

  describe('users', () => {
    const users = async (path: string) => {
      const person = await open(path)
      await person.page.locator('table tbody tr').first().waitFor()
      const named = '.row-link .named > span:first-child, tbody th .named > span:first-child'
      /** Waits until the rows are those of the API. */
      const shows = async (query: string) => {
        const wanted = (await ofApi(query)).data.map((row: { user_ref: string }) => row.user_ref)
        await expect.poll(() => person.page.locator(named).allTextContents()).toEqual(wanted)
        return wanted as string[]
      }
      return { ...person, shows }
    }

    it('are paged by the API, forward and back', async () => {
      const person = await users('users')
      const { page, shows, close, asked } = person
      await shows('/users?limit=25')
      await looksGood(person, 'users')
      await page.getByRole('link', { name: 'Next' }).click()
      await page.getByText('26–50 of 122').waitFor()
      expect(new URL(page.url()).search).toBe('?skip=25')
      await shows('/users?limit=25&skip=25')
      await page.goBack()
      await page.getByText('1–25 of 122').waitFor()
      await page.goForward()
      await page.getByText('26–50 of 122').waitFor()
      await page.getByRole('link', { name: 'Previous' }).click()
      await page.getByText('1–25 of 122').waitFor()
      expect(asked.some((url) => /limit=(?!25|6|1\b)/.test(url))).toBe(false)
      await close()
    })

    it('are filtered by a text, status and group and ordered, as the address says, and show their locks', async () => {
      await service.call('PATCH', '/users/ann', { body: { groups: ['night shift'] } })
      const { page, shows, close, go } = await users('users')
      await page.getByLabel('Filter by user reference').fill('BOB')
      expect(await shows('/users?user_ref_filter=bob')).toEqual(['bob@example.com'])
      expect(new URL(page.url()).search).toBe('?filter=BOB')
      await page.getByLabel('Filter by user reference').fill('nobody has this')
      await page.getByText('No user reference contains this text').waitFor()
      await go('users?skip=5000')
      await page.getByRole('link', { name: 'To the first page' }).click()
      await page.getByText('1–25 of 122').waitFor()
      await page.getByRole('combobox', { name: 'Profile' }).selectOption('Complete')
      expect(await shows('/users?biometric_status=ok&limit=25')).toContain('ann')
      await page.getByRole('combobox', { name: 'Group' }).selectOption('night shift')
      expect(await shows('/users?group=night%20shift')).toEqual(['ann'])
      expect(new URL(page.url()).search).toBe('?status=ok&group=night+shift')
      await page.getByRole('combobox', { name: 'Profile' }).selectOption('Reset')
      await page.getByText('No user matches the filters').waitFor()
      await go('users?group=staff')
      await shows('/users?group=staff&limit=25')
      await page.getByRole('link', { name: 'User', exact: true }).click()
      await page.locator('[aria-sort="descending"]:has-text("User")').waitFor()
      await shows('/users?group=staff&sort=user_ref&limit=25')
      await go('users?sort=last_authentication')
      await shows('/users?sort=last_authentication&limit=25')
      await service.dashboard('POST', '/users/ann/actions', { body: { action: 'lock' } })
      await go('users?group=night+shift')
      await page.locator('tbody .badge.bad:text-is("Locked")').waitFor()
      await go('users?view=locked')
      expect(await shows('/aggregations/blocked-users')).toContain('ann')
      await page.getByText('an operator unlocks').first().waitFor()
      await service.dashboard('POST', '/users/ann/actions', { body: { action: 'unlock' } })
      await close()
    })

    it('are ordered by a figure of the window', async () => {
      const { page, shows, close } = await users('users?view=activity&range=30d')
      await page.getByRole('link', { name: 'Blocked' }).click()
      await page.locator('[aria-sort="descending"]:has-text("Blocked")').waitFor()
      await shows(`/sorting/users?sort=blocked&limit=25&${month()}`)
      await page.getByRole('link', { name: 'Blocked' }).click()
      await page.locator('[aria-sort="ascending"]:has-text("Blocked")').waitFor()
      await shows(`/sorting/users?sort=blocked&order=asc&limit=25&${month()}`)
      await close()
    })

    it('open by arrow keys and Enter, and by a click on the row', async () => {
      const { page, go, close } = await users('users')
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

  describe('a user', () => {
    const user = async (userRef: string, key = service.apikey) => {
      const person = await open(`users/${encodeURIComponent(userRef)}`, key)
      await person.page.getByRole('heading', { name: 'Account' }).waitFor()
      const act = async (name: string) => {
        await person.confirmed(name)
        await person.page.getByText(`${name} is done for ${userRef}.`).waitFor()
      }
      return { ...person, act }
    }
    const actionsOn = async (userRef: string) =>
      (await ofApi(`/users/${userRef}/actions`)).data.map((row: { action: string }) => row.action)
    const pendingOf = async (userRef: string) => (await ofApi(`/users/${userRef}`)).data.members[0].pending_action

    it('has a profile and a timeline from the API', async () => {
      const person = await user('ann')
      const { page, close } = person
      const [member] = (await ofApi('/users/ann')).data.members
      await page.getByText(`${member.n_patterns_ref} of ${member.target_ref_patterns}`).waitFor()
      const logs = await ofApi('/users/ann/logs?limit=25')
      await page.locator('table.rows tbody tr').first().waitFor()
      const times = page.locator('table.rows tbody time')
      expect(await times.evaluateAll((all) => all.map((one) => one.getAttribute('datetime')))).toEqual(
        logs.data.map((row: { created_at: string }) => row.created_at),
      )
      await looksGood(person, 'user')
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

    it('is found, has the last sign-in read, and is unlocked with the keyboard alone', async () => {
      const locked = await service.dashboard('POST', '/users/ann/actions', { body: { action: 'lock' } })
      expect(locked.status).toBe(200)
      const { page, close } = await open()
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
      const at = `document.activeElement.href?.endsWith('/authentications/${last.id}') ?? false`
      for (let rows = 0; rows < 12 && !(await page.evaluate<boolean>(at)); rows++) await keyboard.press('ArrowDown')
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
      expect((await actionsOn('ann')).slice(0, 2)).toEqual(['unlock', 'lock'])
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

    it('is deleted once the reference was typed', async () => {
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
  })

  describe('sign-ins', () => {
    const counted = (page: Page, n: number) => page.getByText(new RegExp(`^1–\\d+ of ${grouped(n)}$`)).waitFor()
    const rows = (page: Page) => page.locator('tbody tr')

    it('are listed page by page, with every filter in the address', async () => {
      const person = await open('authentications')
      const { page, go, close } = person
      const select = (label: string, option: string) => page.getByLabel(label).selectOption(option)
      const counts = async (filter: string) => {
        const { count } = await ofApi(`/authentications?${week()}&limit=1${filter}`)
        await counted(page, count)
        return count
      }
      await counts('')
      await select('Outcome', 'Blocked')
      const blocked = await counts('&recommended_action=block')
      expect(new URL(page.url()).search).toBe('?outcome=block')
      expect(await rows(page).count()).toBe(Math.min(25, blocked))
      await select('Outcome', 'Outcome: all')
      await select('Method', 'Code')
      await counts('&auth_method=security_code')
      await select('Method', 'Method: all')
      await page.getByLabel('User reference').fill('ann')
      await counts('&user_ref=ann')
      await page.getByLabel('User reference').fill('nobody at all')
      await page.getByText('No sign-in of this window matches').waitFor()
      await page.getByRole('link', { name: 'Without filters' }).click()
      await counts('')
      await looksGood(person, 'authentications')
      await page.getByLabel('Application').locator('option').nth(1).waitFor({ state: 'attached' })
      // The address that a bucket of a chart leads to.
      await go('authentications?from=2020-01-01T00%3A00%3A00Z&to=2020-01-02T00%3A00%3A00Z')
      await page.getByText('No sign-ins in this window').waitFor()
      await page.getByRole('link', { name: 'Show a whole range' }).click()
      await rows(page).first().waitFor()
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
      const { challenge_from, decision_threshold } = presses.policy
      const limits = `challenged from ${three(challenge_from)}, authenticated from ${three(decision_threshold)}`
      await page.getByRole('img', { name: `Confidence ${three(attempt.confidence)}: ${limits}` }).waitFor()
      const caps = await page.locator('.press .cap').allTextContents()
      const keys = presses.presses.map(({ second }: { second: string }) => (second === 'Space' ? '␣' : second))
      expect(caps).toEqual(keys)
      const strong = presses.presses.filter(({ spoke_for }: { spoke_for: number }) => spoke_for >= 2).length
      expect(await page.locator('.press.g4').count()).toBe(strong)
      await page.getByText('Show as a table').click()
      expect(await page.locator('details table.rows tbody tr').count()).toBeGreaterThanOrEqual(keys.length)
      await page.getByText('Show as a table').click()
      const { data: verdicts } = await ofApi(`/authentication/${attempt.id}/what-if`)
      const policies = page.locator('.card', { hasText: 'By each policy' }).locator('tbody tr')
      expect(await policies.count()).toBe(verdicts.length)
      expect(await policies.first().locator('td').nth(1).textContent()).toBe(
        `${three(verdicts[0].confidence)} / ${three(verdicts[0].decision_threshold)}`,
      )
      const { data: full } = await ofApi(`/authentications/${attempt.id}`)
      expect(await page.locator('.indicators details').count()).toBe(full.indicators.length)
      const typed = page.locator('.indicators summary', { hasText: 'Typed by a person' })
      await typed.click()
      await page.locator('.indicators code', { hasText: 'bot_likelihood' }).waitFor()
      await typed.click()
      await looksGood(person, 'authentication')
      await close()
    })

    it('appear by themselves in the live list, and say why there is no picture: a code, deleted patterns', async () => {
      const { page, go, close } = await open('authentications?live=1')
      await rows(page).first().waitFor()
      await visited(service, 'carol')
      await page.locator('tbody tr', { hasText: 'carol' }).first().waitFor()
      const [coded] = (await ofApi('/authentications?auth_method=security_code&limit=1')).data
      await go(`authentications/${coded.id}`)
      await page.getByText('A security code was entered.').waitFor()
      expect(await page.getByRole('heading', { name: 'By each policy' }).count()).toBe(0)
      const [typed] = (await ofApi('/authentications?user_ref=carol&auth_method=biometric')).data
      const reset = await service.dashboard('POST', '/users/carol/actions', { body: { action: 'reset-profile' } })
      expect(reset.status).toBe(200)
      await go(`authentications/${typed.id}`)
      await page.getByRole('heading', { name: 'Sign-in of carol' }).waitFor()
      const { message } = await ofApi(`/authentication/${typed.id}/presses`)
      await page.getByText(message).waitFor()
      await page.getByRole('heading', { name: 'By each policy' }).waitFor()
      await close()
    })
  })

  describe('insight and usage', () => {
    it('show the hours, the confidence, the places and the devices of the API', async () => {
      const person = await open('insight?range=30d')
      const { card, close } = person
      await card('Hours of the week').locator('td.heat-5').first().waitFor()
      const { week: hours } = (await ofApi(`/aggregations/connexion-stats?${month()}`)).data
      const [monday] = hours.filter(({ day, hour }: Record<string, number>) => day === 0 && hour === 13)
      const cells = card('Hours of the week').locator('tbody tr').first().locator('td')
      expect(await cells.count()).toBe(24)
      expect(await cells.nth(13).textContent()).toBe(grouped(monday.n))
      const { bins } = (await ofApi(`/aggregations/confidence?${month()}`)).data
      await card('Confidence by outcome').getByText('Show as a table').click()
      const last = card('Confidence by outcome').locator('tbody tr').last()
      expect(await last.locator('th').textContent()).toBe('95 to 100')
      expect(await last.locator('td').allTextContents()).toEqual(
        ['authenticated', 'challenged', 'blocked'].map((field) => grouped(bins.at(-1)[field])),
      )
      await card('Confidence by outcome').getByText('Show as a table').click()
      const { data: applications } = await ofApi(`/aggregations/application/?${month()}`)
      const names = await card('Applications').locator('.bar-name').allTextContents()
      expect(names).toEqual(applications.slice(0, 8).map(({ application }: { application: string }) => application))
      const places = (await ofApi(`/aggregations/geolocation?${month()}`)).data
      const located = places.reduce((sum: number, { n }: { n: number }) => sum + n, 0)
      expect(await card('Places').locator('.bars li').allTextContents()).toEqual([`City, FR${grouped(located)}100%`])
      const device = (await ofApi(`/aggregations/contextual/device?${month()}`)).data
      const [first] = device.values.filter(({ signal }: { signal: string }) => signal === 'browser')
      const listed = card('Devices').locator('.bars').first().locator('li').first()
      expect(await listed.textContent()).toContain(`${first.value}${grouped(first.n)}`)
      const growth = await ofApi(`/users-growth?${month()}&bucket=day`)
      expect(await card('Users that exist now, by creation').locator('.legend b').textContent()).toBe(
        grouped(growth.data.at(-1).n_users),
      )
      await looksGood(person, 'insight')
      await close()
    })

    it('show quotas, the ledger and the requests of the API', async () => {
      const person = await open('usage')
      const { page, go, card, close } = person
      const { use } = (await ofApi('/organization')).data
      await page.getByText(`${grouped(use.n_accounts)}, unlimited`).waitFor()
      const ledger = card('Headcount ledger').locator('.legend b')
      await ledger.first().waitFor()
      const history = (await ofApi(`/usage/history?${week()}&limit=500`)).data.at(-1)
      expect(await ledger.allTextContents()).toEqual([
        grouped(history.n_accounts),
        grouped(history.n_users_nominative + history.n_users_generic),
      ])
      await looksGood(person, 'usage')
      // The service counts requests in memory and stores the counts later.
      const rows = card('Requests to the APIs').locator('tbody tr')
      await until(async () => {
        await go('exports')
        await go('usage')
        await card('Requests to the APIs').getByText('Show as a table').click()
        const days = (await ofApi(`/usage/api?${week()}`)).data
        const verifies = days.at(-1)?.by_endpoint_class.verify ?? 0
        if (verifies <= 5 || (await rows.count()) !== days.length) return false
        return (await rows.last().locator('td').first().textContent()) === grouped(verifies)
      })
      await close()
    })
  })
})
