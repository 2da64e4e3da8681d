import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { person } from '../../src/typist/made-up-person.js'
import { hasChromium, keySender, launch, type Stroke } from '../harness/browser.js'
import { findings, focused, openPage, picture } from '../harness/pages.js'
import { hasApache, startApache } from '../servers/apache.js'
import { BASE, hasSlapd, READER, startSlapd } from '../servers/slapd.js'
import {
  type Bridge,
  CALLBACK,
  CLIENT_SECRET,
  enrolled,
  latestPassword,
  openWorld,
  startBridge,
  type World,
} from './bridge.js'

const LOCALES = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl']
const ENTRA = 'https://login.example/entra'
const PHONE = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 }

/** People of the directory: name and seed of their typing. `cleo` has no address. */
const SEEDS = { ada: 71, cleo: 73, gus: 77, hal: 78 } as const
type Name = keyof typeof SEEDS

describe.skipIf(!hasChromium || !hasApache || !hasSlapd)(
  'a page behind Apache, with people of an LDAP directory',
  () => {
    let world: World
    let slapd: Awaited<ReturnType<typeof startSlapd>>
    let bridge: Bridge
    let site: Awaited<ReturnType<typeof startSite>>
    let browser: Browser
    beforeAll(async () => {
      world = await openWorld()
      const people = Object.keys(SEEDS).map((uid) => ({
        uid,
        cn: `The person ${uid}`,
        ...(uid === 'cleo' ? {} : { mail: `${uid}@example.org` }),
      }))
      slapd = await startSlapd(people)
      const [port, sitePort] = [await freePort(), await freePort()]
      bridge = await startBridge(world.service, world.mail.port, {
        port,
        directory: { kind: 'ldap', url: slapd.url, base: BASE, bindDn: READER.dn, bindPasswordFile: 'reader' },
        files: { reader: READER.password },
        settings: {
          clients: [
            // The client by which a person enrolls without a browser.
            { id: 'app', secret: CLIENT_SECRET, redirectUris: [CALLBACK] },
            { id: 'entra', flow: 'id_token', redirectUris: [ENTRA] },
            {
              id: 'wiki',
              name: 'The wiki',
              secret: CLIENT_SECRET,
              redirectUris: [`http://localhost:${sitePort}/oidc/callback`],
              postLogoutRedirectUris: [`http://localhost:${sitePort}/bye`],
              backchannelLogoutUri: `http://localhost:${sitePort}/oidc/callback?logout=backchannel`,
            },
          ],
        },
      })
      site = await startSite(sitePort, bridge.issuer)
      browser = await launch()
    })
    afterAll(async () => {
      await browser.close()
      await site.close()
      await bridge.close()
      await slapd.close()
      await world.close()
    })

    const passwordOf = (name: Name) => latestPassword(world, `${name}@example.org`)

    /** A new browser at the page that Apache protects. */
    async function visit(options: Parameters<Browser['newContext']>[0] = {}) {
      const { page, close } = await openPage(browser, site.url, { reducedMotion: 'reduce', ...options })
      /** Types the words of the page. */
      const types = async (name: Name) => {
        const text = (await page.locator('#words li').allTextContents()).join(' ')
        await page.locator('#typed').focus()
        await (await keySender(page)).types(person(SEEDS[name]).types(text, typed++).kevt as unknown as Stroke[])
        const loaded = page.waitForEvent('load')
        await page.keyboard.press('Enter')
        await loaded
      }
      return {
        page,
        close,
        types,
        /**
         * Types until the browser comes to the address. One pattern in fifty is classified as a machine's, which ends a sign-in: begins
         * again then, up to five times.
         */
        async signsIn(name: Name, address = site.url, begins: () => Promise<unknown> = () => begin(page, name)) {
          for (let tries = 1; ; tries++) {
            await types(name)
            const arrived = page.waitForURL(address).then(() => true)
            const noted = page.locator('.notice small').waitFor()
            if (await Promise.race([arrived, noted.then(() => false)])) return
            expect(tries, `not recognized: ${await codeOf(page)}`).toBeLessThan(5)
            await begins()
          }
        },
      }
    }
    let typed = 1
    /** Comes to the page that asks a person to type, in a browser that has no cookies. */
    async function begin(page: Page, name: Name) {
      // Apache keeps seven sign-ins in progress at most.
      await page.context().clearCookies()
      await page.goto(site.url)
      await enters(page, name)
    }

    it('proves a new person by mail, enrolls by typing, and opens the page', async () => {
      const { page, close, types, signsIn } = await visit()
      expect(await page.locator('h1').textContent()).toBe('Sign in')
      await looksRight(page, 'sso-01-name')
      await enters(page, 'eda')
      expect(await codeOf(page)).toBe('(101)')
      await enters(page, 'ada')
      await looksRight(page, 'sso-02-send')
      await press(page, 'Send me a one-time password')
      expect(await page.locator('#work').textContent()).toContain('a•••@example.org')
      await looksRight(page, 'sso-03-password')
      // The password is pasted as a mail may show it: in the digits of another script, with spaces.
      const pasted = [...passwordOf('ada')].map((digit) => `${String.fromCharCode(0x660 + Number(digit))} `).join('')
      await page.locator('#password').focus()
      await page.keyboard.insertText(pasted)
      expect(await page.locator('#password').inputValue()).toBe(pasted)
      await press(page, 'Continue')
      expect(await page.locator('h1').textContent()).toBe('Let us learn how you type')
      await looksRight(page, 'sso-04-enroll')
      for (let n = 0; n < 12 && (await page.locator('h1').textContent()) === 'Let us learn how you type'; n++)
        await types('ada')
      expect(await page.locator('h1').textContent()).toBe('Type to sign in')
      await looksRight(page, 'sso-06-type')
      await signsIn('ada')
      expect(await page.locator('h1').textContent()).toBe('Welcome, The person ada')
      expect(site.latest()).toMatchObject({
        oidc_claim_sub: 'ada',
        oidc_claim_email: 'ada@example.org',
        oidc_claim_acr: 'urn:keystride:typing',
        oidc_claim_amr: 'typing',
      })
      await close()
    })

    it('signs out at Apache and at the bridge', async () => {
      await enrolled(world, bridge, 'gus', SEEDS.gus)
      const { page, close, signsIn } = await visit()
      const signIn = async () => {
        await enters(page, 'gus')
        await signsIn('gus')
      }
      await signIn()
      await page.goto(`${site.url}oidc/callback?logout=${encodeURIComponent(`${site.url}bye`)}`)
      await looksRight(page, 'sso-07-sign-out')
      await press(page, 'Sign out')
      expect(page.url()).toBe(`${site.url}bye`)
      await page.goto(site.url)
      await signIn()
      // The bridge notifies Apache, whose cookie the browser keeps.
      await page.goto(`${bridge.issuer}/session/end`)
      await press(page, 'Sign out')
      await looksRight(page, 'sso-08-signed-out')
      await page.goto(site.url)
      expect(await page.locator('h1').textContent()).toBe('Sign in')
      await close()
    })

    it('refuses a person without an address with 102, and goes back to Apache', async () => {
      const { page, close } = await visit()
      await enters(page, 'cleo')
      expect([await page.locator('h1').textContent(), await codeOf(page)]).toEqual(['You are not signed in', '(102)'])
      expect(await focused(page)).toBe('H1')
      await looksRight(page, 'sso-11-refused')
      await press(page, 'Back to the application')
      await page.waitForURL(/interaction/)
      expect(await page.locator('h1').textContent()).toBe('Sign in')
      await close()
    })

    it('posts the ID token to a provider that takes it by form', async () => {
      await enrolled(world, bridge, 'hal', SEEDS.hal)
      const { page, close, signsIn } = await visit()
      let posted = ''
      await page.route(ENTRA, async (route) => {
        posted = route.request().postData() ?? ''
        await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Taken</title>' })
      })
      const asked = {
        client_id: 'entra',
        response_type: 'id_token',
        response_mode: 'form_post',
        scope: 'openid',
        redirect_uri: ENTRA,
        state: 'a state',
        nonce: 'a nonce',
        login_hint: 'hal',
      }
      const begins = () => page.goto(`${bridge.issuer}/auth?${new URLSearchParams(asked)}`)
      await begins()
      await signsIn('hal', ENTRA, begins)
      const form = new URLSearchParams(posted)
      expect(form.get('state')).toBe('a state')
      expect(decodeJwt(form.get('id_token') ?? '')).toMatchObject({ sub: 'hal', nonce: 'a nonce', amr: ['typing'] })
      await close()
    })

    it('fits a phone, in the language of the browser', async () => {
      for (const locale of LOCALES) {
        const { page, close } = await visit({ ...PHONE, locale })
        expect(await page.getAttribute('html', 'lang')).toBe(locale)
        const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
        expect(await fits()).toBe(true)
        await page.locator('#name').fill('ada')
        await page.keyboard.press('Enter')
        await page.locator('#typed').waitFor()
        expect(await fits()).toBe(true)
        await picture(page, `sso-20-phone-${locale}`)
        await close()
      }
    })
  },
)

/** The number of the situation that the page names; null if it names none. */
async function codeOf(page: Page): Promise<string | null> {
  const note = page.locator('.notice small')
  return (await note.count()) === 0 ? null : note.textContent()
}

async function enters(page: Page, name: string): Promise<void> {
  await page.locator('#name').fill(name)
  await press(page, 'Continue')
}

/** Presses the button and waits for the next page. */
async function press(page: Page, button: string): Promise<void> {
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name: button, exact: true }).click()
  await loaded
}

/** No finding of axe, light and dark, and a picture of each. */
async function looksRight(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await findings(page)).toEqual([])
    await picture(page, `${name}-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: null })
}

/** Apache in front of an application that greets the person by the headers it gets. */
async function startSite(port: number, issuer: string) {
  let latest: IncomingHttpHeaders = {}
  const server = createServer((request, response) => {
    if (request.url === '/') latest = request.headers
    const name = String(request.headers.oidc_claim_name ?? 'stranger')
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Wiki</title><h1>Welcome, ${name}</h1>`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const application = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const apache = await startApache({ port, issuer, clientSecret: CLIENT_SECRET, application })
  return {
    url: `${apache.url}/`,
    latest: () => latest,
    async close() {
      await apache.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
