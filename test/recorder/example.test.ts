import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../src/storage/postgres/embedded/embedded-running.js'
import { person } from '../../src/typist/made-up-person.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { hasChromium, keySender, launch, type Stroke } from './browser.js'

/** A page is slow on a busy machine. */
const PATIENT = { timeout: 30_000 }
const root = fileURLToPath(new URL('../..', import.meta.url))
const example = /```js recorder\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/integrate.md'), 'utf8'))?.[1] ?? ''

describe.skipIf(!hasChromium)('the sign-in of the integration guide', () => {
  // Below the root, where `@keystride/recorder` resolves.
  const file = join(root, 'build', `example-${process.pid}.mjs`)
  const folder = mkdtempSync(join(tmpdir(), 'keystride-example-'))
  let browser: Browser
  let service: TestService
  let server: ChildProcess
  let page: Page
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await freshDatabase()
    service = await startService(database.url)
    const port = await freePort()
    mkdirSync(join(folder, '.keystride'))
    writeFileSync(join(folder, '.keystride/demo.json'), JSON.stringify({ apikey: service.apikey }))
    writeFileSync(file, example.replace('http://localhost:8080/core', service.core).replace('3000', String(port)))
    server = spawn(process.execPath, [file], { cwd: folder, stdio: 'inherit' })
    browser = await launch()
    page = await browser.newPage()
    for (let tries = 0; ; tries++) {
      const opened = await page.goto(`http://localhost:${port}/`).catch(() => null)
      if (opened !== null || tries === 300) break
      await page.waitForTimeout(100)
    }
    stop = async () => {
      await browser.close()
      server.kill()
      await service.close()
      await database.drop()
      rmSync(file)
      rmSync(folder, { recursive: true })
    }
  })
  afterAll(async () => stop())

  it('enrolls with five patterns, recognizes the same person, and reports input that is not typing', async () => {
    const shown = page.locator('b')
    const status = page.getByRole('status')
    const keys = await keySender(page)
    const answers: string[] = []
    let n = 0
    const sends = async (before: () => Promise<unknown>) => {
      const words = (await shown.textContent()) ?? ''
      await page.getByRole('textbox').focus()
      await before()
      await page.getByRole('button').click()
      await expect.poll(() => shown.textContent(), PATIENT).not.toBe(words)
      answers.push((await status.textContent()) ?? '')
    }
    const types = async () => {
      const words = (await shown.textContent()) ?? ''
      await keys.types(person(61).types(words, n++).kevt as unknown as Stroke[])
    }
    await expect.poll(() => shown.textContent(), PATIENT).not.toBe('')
    while (answers.at(-1) !== '5 of 5' && n < 12) await sends(types)
    expect(answers.filter((answer) => / of 5$/.test(answer))).toEqual([
      '1 of 5',
      '2 of 5',
      '3 of 5',
      '4 of 5',
      '5 of 5',
    ])
    for (let tries = 0; tries < 4 && answers.at(-1) !== 'signed in'; tries++) await sends(types)
    expect(answers.at(-1)).toBe('signed in')
    await sends(() => page.keyboard.insertText('said aloud, not typed'))
    expect(answers.at(-1)).toBe('inserted')
  }, 120_000)
})
