import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from '../harness/browser.js'
import { enroll } from '../harness/enrolled.js'
import { until } from '../harness/patience.js'
import { visited } from '../harness/sign-ins.js'
import { datagramSink, smtpSink } from '../servers/sinks.js'
import { hostileTexts } from '../web/hostile.js'
import { type ConsoleWorld, consoleOf, dayBefore, issueKey, looksGood, openConsole, operator } from './console.js'

describe.skipIf(!hasChromium)('the console of a service that is set up', () => {
  let world: ConsoleWorld
  let service: ConsoleWorld['service']
  let open: ConsoleWorld['open']
  beforeAll(async () => {
    world = await openConsole()
    ;({ service, open } = world)
  })
  afterAll(async () => world?.stop())
  const ofApi = async (path: string) => (await world.ofApi(path)).data
  const post = async (path: string, body: object) => {
    const { status, json } = await service.dashboard('POST', path, { body })
    expect([path, status < 300, json.message]).toEqual([path, true, json.message])
  }

  describe('alerts', () => {
    const alerts = async (key?: string) => {
      const person = await open('alerts', key)
      await person.page.getByLabel('A sign-in is blocked: Syslog').waitFor()
      return person
    }

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
      const { page, dialog, close } = person
      const card = person.card('E-mail')
      await card.getByRole('button', { name: 'Set up' }).click()
      await dialog.getByLabel('Host').fill('not a host')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('must be a host name or an address').waitFor()
      for (const [label, value] of [
        ['Host', '127.0.0.1'],
        ['Sender', 'keystride@example.com'],
        ['Recipients', 'a@example.com, b@example.com'],
        ['User', 'keystride'],
        ['Password', 'a secret of the mail'],
      ] as const)
        await dialog.getByLabel(label).fill(value)
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
      const { page, dialog, close } = person
      const card = person.card('Webhook')
      const fresh = page.getByRole('dialog', { name: 'The new signing secret' })
      const secretOnce = async () => {
        const secret = await fresh.locator('code').innerText()
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
        await fresh.getByRole('button', { name: 'Close' }).click()
        await fresh.waitFor({ state: 'detached' })
        expect(await page.content()).not.toContain(secret)
        return secret
      }
      await card.getByRole('button', { name: 'Set up' }).click()
      await dialog.getByText('If it is empty, the service generates one and shows it once.').waitFor()
      await dialog.getByLabel('URL').fill('https://127.0.0.1:8443/hooks')
      await dialog.getByRole('button', { name: 'Save' }).click()
      const first = await secretOnce()
      await card.getByText('https://127.0.0.1:8443/hooks').waitFor()
      expect(await ofApi('/alert/webhook')).toEqual({ url: 'https://127.0.0.1:8443/hooks', secret_set: true })
      await card.getByRole('button', { name: 'Change' }).click()
      await dialog.getByText('If it is empty, the stored one stays.').waitFor()
      await dialog.getByLabel('URL').fill('https://127.0.0.1:8443/moved')
      await dialog.getByRole('button', { name: 'Save' }).click()
      await card.getByText('https://127.0.0.1:8443/moved').waitFor()
      expect(await fresh.count()).toBe(0)
      await card.getByRole('button', { name: 'New secret' }).click()
      await dialog.getByRole('button', { name: 'New secret' }).click()
      expect(await secretOnce()).not.toBe(first)
      await close()
    })

    it('have their deliveries listed, with the reason of a failure and the state of the channel', async () => {
      const gone = await smtpSink()
      await gone.close()
      const there = await datagramSink()
      const mail = { host: '127.0.0.1', tls: 'none', sender: 'a@example.com', recipients: ['b@example.com'] }
      await post('/alert/email', { ...mail, port: gone.port })
      await post('/alert/syslog', { host: '127.0.0.1', port: there.port, transport: 'udp' })
      await post('/alert', { blocked: { email: true, syslog: true } })
      await visited(service, 'dora')
      const listed = (state: string) => ofApi(`/alert/deliveries?state=${state}`)
      await until(async () => (await listed('waiting'))[0]?.tries > 0 && (await listed('delivered')).length === 1)
      const person = await alerts()
      const { page, close } = person
      const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr')
      await rows.nth(1).waitFor()
      const failed = /A sign-in is blocked.*Waiting.*No connection/s
      expect(await rows.filter({ hasText: 'E-mail' }).innerText()).toMatch(failed)
      expect(await rows.filter({ hasText: 'Syslog' }).innerText()).toMatch(/Delivered.*UDP does not confirm/s)
      await page.getByText(/E-mail: 1 waiting, failed tries in a row: \d+, next try /).waitFor()
      await looksGood(person, 'alerts')
      await page.getByLabel('State').selectOption('Delivered')
      await rows.filter({ hasText: 'E-mail' }).waitFor({ state: 'detached' })
      expect(await rows.count()).toBe(1)
      await close()
      await post('/alert', { blocked: { email: false, syslog: false } })
      for (const channel of ['email', 'syslog', 'webhook']) await service.dashboard('DELETE', `/alert/${channel}`)
      await there.close()
      const reader = await alerts(await issueKey(service, 'dashboard:read'))
      await reader.page.getByText('Nothing is sent over this channel yet.').nth(3).waitFor()
      expect(await reader.page.locator('main button').count()).toBe(0)
      expect(await reader.page.locator('.matrix input:enabled').count()).toBe(0)
      await reader.close()
    })
  })

  describe('exports', () => {
    it('are asked for, written, shown as the API has them, and downloaded', async () => {
      const person = await open('exports')
      const { page, close } = person
      await page.getByText('No archives').waitFor()
      const today = dayBefore(0)
      await page.getByLabel('First day').fill(today)
      await page.getByLabel('Last day').fill('2020-01-01')
      await page.getByText('The last day must not be before the first.').waitFor()
      expect(await page.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true)
      await page.getByLabel('Last day').fill(today)
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      await page.getByText('The export is queued.').waitFor()
      await page.getByText('Ready').waitFor()
      const [archive] = (await service.dashboard('POST', '/management/logs-archives')).json.data
      const tomorrow = new Date(Date.parse(today) + 24 * 3600 * 1000).toISOString()
      expect(archive).toMatchObject({ kind: 'authentications', date_from: `${today}T00:00:00.000Z`, date_to: tomorrow })
      expect(await page.locator('tbody td').first().textContent()).toBe(`${today} to ${today}`)
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download' }).click(),
      ])
      expect(saved.suggestedFilename()).toBe(`authentications-${archive.id}.zip`)
      const bytes = readFileSync(await saved.path())
      expect([bytes.subarray(0, 2).toString(), bytes.length]).toEqual(['PK', archive.size])
      await page.locator('.toast').waitFor({ state: 'detached' })
      await looksGood(person, 'exports')
      await close()
    })
  })

  describe('the organization', () => {
    it('issues a key, shows it this once, and revokes it', async () => {
      const person = await open('organization')
      const { page, dialog, close } = person
      await page.getByText(service.organizationId).waitFor()
      await looksGood(person, 'organization')
      await page.getByRole('button', { name: 'Issue a key' }).click()
      await dialog.getByLabel('Label').fill('console of Ann')
      await dialog.getByLabel(/^links:/).check()
      await dialog.getByLabel('Last day').fill('2020-01-01')
      await dialog.getByRole('button', { name: 'Issue a key' }).click()
      const refusal = dialog.getByRole('alert').getByText(/Request /)
      await refusal.waitFor()
      await dialog.getByLabel('Last day').fill('2099-12-31')
      await dialog.getByRole('button', { name: 'Issue a key' }).click()
      const fresh = (await dialog.locator('.fresh').textContent()) ?? ''
      const issued = (await ofApi('/keys')).filter(({ label }: { label: string }) => label === 'console of Ann')
      expect(issued).toMatchObject([{ scopes: ['links', 'dashboard:read'], expires_at: '2099-12-31T23:59:59.000Z' }])
      const reads = async () => (await service.dashboard('GET', '/key', { apikey: fresh })).status
      expect(await reads()).toBe(200)
      await dialog.getByRole('button', { name: 'Close' }).click()
      const row = page.getByRole('row', { name: /console of Ann/ })
      await row.waitFor()
      expect(await page.content()).not.toContain(fresh)
      await row.getByRole('button', { name: 'Revoke' }).click()
      expect(await dialog.getByRole('button', { name: 'Revoke' }).isDisabled()).toBe(true)
      await dialog.getByLabel('Type console of Ann to confirm').fill('console of Ann')
      await dialog.getByRole('button', { name: 'Revoke' }).click()
      await page.getByText('“console of Ann” is revoked.').waitFor()
      await until(async () => (await reads()) === 401)
      await page.getByRole('link', { name: 'All keys' }).click()
      await row.getByText('Revoked', { exact: true }).waitFor()
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
      const own = async () =>
        (await service.call('GET', '/organization/typing-words?language=fr&core=false')).json.words
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
      expect(await own()).toMatchObject([{ word: 'clavecin', enabled: true }])
      await page.getByLabel('Filter by a part of the word').fill('clavec')
      const row = page.getByRole('row', { name: /^clavecin/ })
      await row.getByRole('button', { name: 'Disable' }).click()
      await page.getByText('“clavecin” is disabled.').waitFor()
      expect(await own()).toMatchObject([{ word: 'clavecin', enabled: false }])
      await row.getByRole('button', { name: 'Delete' }).click()
      await page.getByText('No such word').waitFor()
      expect(await own()).toEqual([])
      await page.getByLabel('Default language').selectOption('Deutsch')
      await page.getByText('The setting is saved.').first().waitFor()
      await page.getByLabel('Language of a person').selectOption('Always the default')
      const language = async () => (await service.call('GET', '/organization/language')).json
      await expect.poll(language).toMatchObject({ default_language: 'de', language_mode: 'forced' })
      await close()
    })
  })

  describe('the system', () => {
    it('is a page that the health of the overview leads to', async () => {
      const person = await open('', await issueKey(service, 'dashboard:read'))
      const { page, close } = person
      // Made-up people are not offered to a key that cannot create them.
      await page.getByText('Service', { exact: true }).waitFor()
      expect(await page.getByText('Made-up people').count()).toBe(0)
      await page.getByRole('link', { name: 'Versions, stores and background jobs' }).click()
      await page.getByRole('heading', { name: 'System', exact: true }).waitFor()
      await page.getByText('All stores are reachable').waitFor()
      const data = await ofApi('/system')
      const facts = (await page.locator('.facts').allTextContents()).join(' ')
      for (const known of [data.version, data.model.name, data.database.schema_version, data.database.server_version])
        expect(facts).toContain(known)
      expect(facts).toMatch(/PostgreSQLReachable answers in [\d.]+ ms/)
      for (const [name, rows] of [
        ['Processes', 1],
        ['Background jobs', data.queues.length],
      ] as const)
        expect(await page.getByRole('region', { name }).locator('tbody tr').count()).toBe(rows)
      await looksGood(person, 'system')
      await close()
    })

    it('marks a store that is lost, and jobs that failed or wait for too long', async () => {
      const { page, signIn, close } = await operator(world.browser, service)
      const answer = await world.ofApi('/system')
      const [exports, ...others] = answer.data.queues
      const queues = [{ ...exports, n_waiting: 2, oldest_waiting_s: 7300, n_failed: 3 }, ...others]
      const stores = [...answer.data.stores, { name: 'Redis', reachable: false, latency_ms: null }]
      const reason = 'degraded: Redis out of reach'
      await page.route('**/dashboard/system', (route) =>
        route.fulfill({ json: { ...answer, data: { ...answer.data, status: 'NOK', reason, stores, queues } } }),
      )
      await signIn(service.apikey)
      await page.getByRole('link', { name: 'System' }).click()
      await page.getByText(reason).waitFor()
      await page.locator('.badge.bad:text-is("Unreachable")').first().waitFor()
      await page.locator('.badge.bad:text-is("3 failed")').waitFor()
      await page.locator('.badge.warn:text-is("2 hours")').waitFor()
      await close()
    })
  })

  it('fills with made-up people, who enroll, sign in and are attacked, and deletes them without anyone else', async () => {
    const count = async (path: string) => (await world.ofApi(path)).count
    expect((await service.call('POST', '/users/ann-made-up-01')).status).toBe(201)
    const before = await count('/authentications')
    const person = await open()
    const { page, close } = person
    await page.getByRole('button', { name: 'Fill with made-up people' }).click()
    await page.getByRole('progressbar').waitFor()
    await until(async () => (await page.getByText('The made-up people have signed in.').count()) > 0, 'start')
    await page.getByText('their sign-ins are made up').waitFor()
    expect(await count('/users?user_ref_filter=made-up-')).toBe(25)
    const all = (await count('/authentications')) - before
    expect(all).toBeGreaterThan(24 * 6)
    expect(await count('/authentications?reason=detection-bot')).toBeGreaterThan(12)
    expect(await count('/authentications?reason=fraud-detected')).toBeGreaterThan(12)
    expect(await count('/authentications?recommended_action=auth')).toBeGreaterThan(all / 3)
    expect(await count('/authentications?recommended_action=block')).toBeGreaterThan(24)
    await page.getByRole('button', { name: 'Delete the made-up people' }).click()
    await page.getByText('The made-up people are deleted.').waitFor()
    expect(await count('/users?user_ref_filter=made-up-')).toBe(1)
    expect(await count('/users?user_ref_filter=ann')).toBe(2)
    await close()
  })

  describe('hostile texts', () => {
    const texts = hostileTexts(17)

    /** Puts each text in every field that takes one and that the console shows. */
    async function fill() {
      const who = await enroll(service, 'typist')
      const {
        id: _,
        is_default,
        is_shadow,
        archived_at,
        created_at,
        updated_at,
        ...rules
      } = await ofApi('/default-policy')
      for (const [i, text] of texts.entries()) {
        const body = { user_display_name: text, groups: [text], tag: { [`k${i}`]: text } }
        expect((await service.call('POST', `/users/person-${i}`, { body })).status).toBe(201)
        await post('/policies', { ...rules, name: text, groups: [`${text}${i}`] })
        await post('/keys', { label: text, scopes: ['dashboard:read'] })
        const { session } = await service.bootstrap('typist')
        const d = { ua: text, gpu: text, navLanguage: 'en', tz: text }
        const pattern = { ...(who.fresh() as object), tags: [{ k: 'app', v: text.slice(0, 80) }], d }
        expect((await service.call('POST', '/users/typist/verify', { session, body: pattern })).status).toBe(200)
      }
    }

    it('are shown as they are on every page: no script, no dialog, no report, no request elsewhere', async () => {
      await fill()
      const { page, go, close } = await open()
      let dialogs = 0
      page.on('dialog', (dialog) => {
        dialogs++
        void dialog.dismiss()
      })
      const ids = async (path: string): Promise<string[]> => (await ofApi(path)).map(({ id }: { id: string }) => id)
      const said = (text: string) => encodeURIComponent(text)
      // biome-ignore format: many short cases, some to a line
      const views = [
        '', 'users', 'users?view=activity', 'users?view=locked', 'authentications', 'insight', 'policies', 'policies/new',
        'alerts', 'words', 'usage', 'exports', 'system', 'organization', 'organization?view=all',
        ...texts.map((_, i) => `users/person-${i}`),
        ...(await ids('/policies')).map((id) => `policies/${id}`),
        ...(await ids('/authentications?user_ref=typist&limit=17')).map((id) => `authentications/${id}`),
        ...texts.flatMap((text) => [
          `users?filter=${said(text)}`,
          `users/${said(text)}`,
          `authentications?user=${said(text)}&application=${said(text)}&outcome=${said(text)}&from=${said(text)}`,
          `${said(text)}?range=${said(text)}`,
        ]),
      ]
      for (const address of views) {
        await go(address)
        await page.locator('main h1').waitFor()
        await expect.poll(() => page.locator('main .loading').count()).toBe(0)
        expect([address, await page.evaluate('document.scripts.length')]).toEqual([address, 1])
      }
      await go('users/person-5')
      await page
        .getByText(texts[5] ?? '')
        .first()
        .waitFor()
      await go('organization')
      await page.getByRole('row').nth(1).waitFor()
      const shown = (await page.locator('tbody th').allTextContents()).join('\n')
      expect(texts.filter((text) => shown.includes(text)).length).toBeGreaterThan(15)
      expect(dialogs).toBe(0)
      // `close` looks for reports of the policy and for requests to another origin.
      await close()
    })
  })

  describe('policies', () => {
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
      const { page, go, confirmed, close } = person
      const agrees = async (path: string, body: object) => {
        const { data } = (await service.dashboard('POST', path, { body: { ...body, date_from: dayBefore(6) } })).json
        expect(data.n_changed).toBeGreaterThan(0)
        await page.getByText(`${data.n_changed} of ${data.n_attempts} decisions would change`).waitFor()
      }
      await page.getByLabel('Threshold', { exact: true }).fill('0.99')
      await page.getByRole('button', { name: 'Simulate before saving' }).click()
      await page.getByRole('heading', { name: 'Simulation of the unsaved policy' }).waitFor()
      const { id: _, is_default, is_shadow, archived_at, created_at, updated_at, ...saved } = await byName('vault')
      expect(saved.decision_threshold).toBe(0.8)
      await agrees('/policies/simulate', { policy: { ...saved, decision_threshold: 0.99 } })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('vault is saved.').waitFor()
      expect((await byName('vault')).decision_threshold).toBe(0.99)
      await page.getByRole('button', { name: 'Simulate', exact: true }).click()
      await agrees(`/policies/${id}/simulate`, {})
      await looksGood(person, 'policy')

      await confirmed('Make shadow')
      await page.getByRole('heading', { name: 'As the shadow policy' }).waitFor()
      expect((await byName('vault')).is_shadow).toBe(true)
      const { nAttempts } = await visited(service, 'erin')
      const shadow = () => ofApi(`/policies/${id}/shadow`)
      await until(async () => (await shadow()).n_attempts === nAttempts)
      await go(`policies/${id}?range=30d`)
      const { n_different } = await shadow()
      const legend = page.locator('.card', { hasText: 'As the shadow policy' }).locator('.legend b')
      await legend.first().waitFor()
      const [same = 0, ...differences] = (await legend.allTextContents()).map(Number)
      const different = differences.reduce((sum, n) => sum + n, 0)
      expect([same + different, (differences[0] ?? 0) + (differences[1] ?? 0)]).toEqual([nAttempts, n_different])
      await confirmed('End shadow')
      expect((await byName('vault')).is_shadow).toBe(false)
      await confirmed('Make default')
      expect((await byName('vault')).is_default).toBe(true)
      await page.getByRole('button', { name: 'Archive' }).waitFor({ state: 'detached' })
      await go(`policies/${(await byName('default')).id}`)
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
})
