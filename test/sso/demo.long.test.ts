import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { person } from '../../src/typist/made-up-person.js'
import { hasChromium, keySender, launch, type Stroke } from '../harness/browser.js'
import { openPage, picture } from '../harness/pages.js'
import { until } from '../harness/patience.js'
import { startProcess } from '../harness/service-process.js'

it.skipIf(!hasChromium)('the demo signs a person in at a made-up application, by typing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'keystride-demo-'))
  const port = await freePort()
  // npm sets `npm_lifecycle_event` to the name of its script, `start`.
  const service = await startProcess({
    PORT: String(port),
    KEYSTRIDE_DATA: join(folder, 'data'),
    npm_lifecycle_event: 'start',
  })
  const browser = await launch()
  try {
    await until(() => /The wiki: \S+\n.* Sign in there as ann/.test(service.output()), 'start')
    const wiki = /The wiki: (\S+)/.exec(service.output())?.[1] ?? ''
    const { page, close } = await openPage(browser, wiki)
    await picture(page, 'sso-30-wiki')
    const begins = async () => {
      await page.getByRole('link', { name: 'Sign in by typing' }).click()
      await page.getByLabel('User name').fill('ann')
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await begins()
    await page.getByRole('button', { name: 'Send me a one-time password' }).click()
    await page.getByLabel('Six digits').waitFor()
    const mailed = () => /The mail to ann has the one-time password (\d{6})/.exec(service.output())?.[1] ?? ''
    await until(() => mailed() !== '')
    await page.getByLabel('Six digits').fill(mailed())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('heading', { name: 'Let us learn how you type' }).waitFor()
    const who = person(81)
    for (let n = 0; n < 14 && !page.url().startsWith(wiki); n++) {
      // One pattern in fifty is classified as a machine's, which ends a sign-in.
      if ((await page.locator('#typed').count()) === 0) {
        await page.goto(wiki)
        await begins()
        await page.locator('#typed').waitFor()
      }
      const words = (await page.locator('#words li').allTextContents()).join(' ')
      await page.locator('#typed').focus()
      await (await keySender(page)).types(who.types(words, n).kevt as unknown as Stroke[])
      const loaded = page.waitForEvent('load')
      await page.keyboard.press('Enter')
      await loaded
      if ((await page.locator('#onward').count()) > 0) await page.waitForURL(`${wiki}/`)
    }
    await page.getByText('Signed in as ann, by typing.').waitFor()
    await picture(page, 'sso-31-signed-in')
    await page.getByRole('link', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in by typing' }).waitFor()
    await close()
    await service.stop()
    await until(() =>
      fetch(wiki).then(
        () => false,
        () => true,
      ),
    )
  } finally {
    await browser.close()
    await service.kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})
