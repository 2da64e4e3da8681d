import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { hasChromium, keySender, launch, type Stroke } from '../harness/browser.js'
import { sharedService, type TestService } from '../harness/service.js'
import { startChild } from '../servers/child.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ALL = readdirSync(join(root, 'examples'))
const sourceOf = (file: string) => readFileSync(join(root, 'examples', file), 'utf8')
const USER = 'ann@example.com'

it.each([
  ['backend/sign-in.mjs', 'backend/server.mjs'],
  ['backend/sign-in.mjs', 'backend/express.mjs'],
  ['single-sign-on/server.mjs'],
])('the example of %s %s is shorter than 100 lines', (...files) => {
  expect(files.map(sourceOf).join('').split('\n').length).toBeLessThan(100)
})

it('the guide shows the example on node:http as it is', () => {
  const shown = readFileSync(join(root, 'docs/integrate.md'), 'utf8').matchAll(/```js (\S+\.mjs)\n([\s\S]*?)```/g)
  const files = ['sign-in.mjs', 'server.mjs'].map((file) => [file, sourceOf(`backend/${file}`)])
  expect([...shown].map(([, name, text]) => [name, text])).toEqual(files)
})

it('the packages of the examples are those that are tested', () => {
  const { devDependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of ALL) {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'examples', name, 'package.json'), 'utf8'))
    for (const [other, version] of Object.entries(dependencies)) {
      const local = /^@keystride\/(.*)/.exec(other)?.[1]
      const tested =
        local === undefined
          ? (devDependencies[other] ?? optionalDependencies[other])
          : JSON.parse(readFileSync(join(root, 'packages', local, 'package.json'), 'utf8')).version
      expect([name, other, version]).toEqual([name, other, tested])
    }
  }
})

let browser: Browser
beforeAll(async () => {
  if (hasChromium) browser = await launch()
})
afterAll(async () => browser?.close())

/** The demo of `npm start` is the test of the other example. */
describe.skipIf(!hasChromium).each(['server.mjs', 'express.mjs'])('the example backend/%s, in a browser', (file) => {
  let service: TestService
  let url: string
  let server: ReturnType<typeof startChild>
  beforeAll(async () => {
    service = await sharedService()
    const policy = (await service.dashboard('GET', '/default-policy')).json.data
    const security_code_fallback = { ...policy.security_code_fallback, enabled: true }
    await service.dashboard('PUT', `/policies/${policy.id}`, { body: { ...policy, security_code_fallback } })
    const port = String(await freePort())
    const env = {
      PATH: process.env.PATH ?? '',
      PORT: port,
      KEYSTRIDE_URL: service.core.replace(/\/core$/, ''),
      KEYSTRIDE_KEY: service.apikey,
    }
    server = startChild(process.execPath, [file], {
      cwd: join(root, 'examples/backend'),
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (server.stdout !== null) await once(server.stdout, 'data')
    url = `http://localhost:${port}/`
  })
  afterAll(() => server?.kill())

  /** Begins a sign-in in a browser of its own; the page must keep its policy. */
  async function begin(user = USER) {
    const page = await (await browser.newContext()).newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on(
      'console',
      (message) => message.text().includes('Content Security Policy') && complaints.push(message.text()),
    )
    await page.goto(url)
    await page.getByLabel('Your e-mail').fill(user)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.locator('#words li').first().waitFor()
    return { page, complaints }
  }
  let typed = 0
  async function types(page: Page, who: MadeUpPerson): Promise<string> {
    const keys = await keySender(page)
    const words = (await page.locator('#words li').allTextContents()).join(' ')
    await page.locator('#typed').focus()
    await keys.types(who.types(words, ++typed).kevt as unknown as Stroke[])
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    return (await page.locator('body').innerText()).replace(/\s+/g, ' ')
  }

  it('enrolls a person, signs that person in by typing and by code, and nobody else', async () => {
    const [ann, eve] = [person(611), person(655)]
    const { page, complaints } = await begin()
    for (let tries = 0; tries < 12 && (await page.locator('#count').isVisible()); tries++) await types(page, ann)
    expect((await service.bootstrap(USER)).json).toMatchObject({ biometricStatus: 'ok', nPatternsRef: 5 })
    let shown = ''
    for (let tries = 0; tries < 4 && !shown.includes(`Signed in as ${USER}`); tries++) shown = await types(page, ann)
    expect(shown).toContain(`Signed in as ${USER}`)

    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByLabel('Your e-mail').waitFor()

    const other = await begin()
    for (let tries = 0; tries < 3; tries++) shown = await types(other.page, eve)
    expect(shown).toMatch(/Not recognized|Not certain/)
    expect(shown).toMatch(/That was the last try|Security code/)

    const { session } = await service.bootstrap(USER)
    await service.call('PUT', `/users/${USER}/security-code`, { session, body: { securityCode: '749205' } })
    const third = await begin()
    await third.page.getByLabel('Security code').fill('749205')
    await third.page.getByRole('button', { name: 'Use the code' }).click()
    await third.page.getByText('The code is right. Ask for one more factor.').waitFor()
    expect([...complaints, ...other.complaints, ...third.complaints]).toEqual([])
  })

  it('asks a person to come back if the policy wants hours between the patterns of an enrollment', async () => {
    const policy = (await service.dashboard('GET', '/default-policy')).json.data
    await service.dashboard('PUT', `/policies/${policy.id}`, {
      body: { ...policy, enrollment: { minHoursBetween: 20 } },
    })
    const { page } = await begin('bob@example.com')
    let shown = ''
    for (let tries = 0; tries < 8 && !shown.includes('all for now'); tries++) shown = await types(page, person(612))
    expect(shown).toMatch(/Thank you, that is all for now. Please come back after 20\d\d-/)
    await page.getByRole('button', { name: 'Start again' }).click()
    await page.getByLabel('Your e-mail').waitFor()
  })
})
