import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { KeystrideTyping } from '@keystride/recorder/element'
import { build } from 'esbuild'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { person } from '../../src/typist/made-up-person.js'
import { hasChromium, keySender, launch, type Stroke } from '../harness/browser.js'
import { findings } from '../harness/pages.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = (name: string) => readFileSync(`${root}/packages/recorder/dist/${name}`, 'utf8')
/** The strictest policy under which a page can have a script: no style of its own, no inline script, trusted types required. */
const POLICY =
  "default-src 'none'; script-src 'self'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
const WORDS = 'second working listing million during links'
const LANGUAGES = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pt']

const typed = (seed = 1) => person(81).types(WORDS, seed).kevt as unknown as Stroke[]
const plain = (
  attributes: string,
  around = '',
  lang = 'en',
) => `<!doctype html><html lang="${lang}"><title>Sign in</title><main>
<h1>Sign in</h1><form id="form" method="post" action="/sign-in">${around}
<keystride-typing id="typing" words="${WORDS}" words-lang="en" ${attributes}><button>Go on</button></keystride-typing></form></main>
<script type="module" src="/element.js"></script></html>`

/** A page that a framework renders: properties and attributes as JSX gives them. */
const FRAMEWORK = `import { render } from 'preact'
import { signal } from '@preact/signals'
const words = signal(${JSON.stringify(WORDS.split(' '))})
const done = signal(0)
const App = () => <form id="form"><keystride-typing id="typing" name="pattern" words={words.value} words-lang="en"
  required done={done.value} target={5}><button>Go on</button></keystride-typing></form>
render(<App />, document.querySelector('main'))
Object.assign(window, { renderAgain: () => { done.value++ } })`

it.each(LANGUAGES)('advises a computer on a touch screen, and no keyboard to connect: %s', async (language) => {
  const texts: Record<string, { phone: string }> = await import(`../../packages/recorder/src/texts/${language}.ts`)
  const advice = texts[language]?.phone.split('. ').at(-1)
  expect(advice).toMatch(/computer|ordinateur|ordenador|computador/i)
  expect(advice).not.toMatch(/keyboard|tastatur|clavier|teclado|tastiera|toetsenbord/i)
})

describe.skipIf(!hasChromium)('the element <keystride-typing>', () => {
  let browser: Browser
  let url: string
  let html = ''
  let posted: URLSearchParams[] = []
  let missing: readonly string[] = []
  let framework = ''
  let close: () => void
  beforeAll(async () => {
    const built = await build({
      stdin: { contents: FRAMEWORK, loader: 'tsx', resolveDir: root },
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    })
    framework = built.outputFiles[0]?.text ?? ''
    const server = createServer(async (request, response) => {
      const path = request.url ?? ''
      response.setHeader('content-security-policy', POLICY)
      if (request.method === 'POST') {
        let body = ''
        for await (const part of request) body += part
        posted.push(new URLSearchParams(body))
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>Done</title><h1>Done</h1>')
      } else if (path === '/') response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
      else if (path === '/framework.js') response.setHeader('content-type', 'text/javascript').end(framework)
      else if (path.endsWith('.js') && !missing.includes(path))
        response.setHeader('content-type', 'text/javascript; charset=utf-8').end(dist(path.slice(1)))
      else response.writeHead(404).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    browser = await launch()
    close = () => {
      server.closeAllConnections()
      server.close()
    }
  })
  afterAll(async () => {
    await browser?.close()
    close?.()
  })

  /** Opens a page; `check` fails if the page broke its policy or threw. */
  async function open(page: string, options: BrowserContextOptions = {}) {
    html = page
    posted = []
    missing = []
    const context = await browser.newContext(options)
    const opened = await context.newPage()
    const complaints: string[] = []
    opened.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    opened.on('pageerror', (error) => complaints.push(String(error)))
    await opened.goto(url)
    await opened.locator('#label').filter({ hasText: /./ }).waitFor()
    const keys = await keySender(opened)
    return {
      page: opened,
      keys,
      focus: () => opened.locator('#typed').focus(),
      hint: () => opened.locator('#hint').textContent(),
      async close() {
        await context.close()
        expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([])
      },
    }
  }
  const element = <T>(page: Page, read: (typing: KeystrideTyping) => T): Promise<T> =>
    page.locator('#typing').evaluate(read as never) as Promise<T>

  it('submits the pattern with its form, on Enter and by a button, without a script of the page', async () => {
    for (const submit of ['Enter', 'button']) {
      const { page, keys, focus, close } = await open(
        plain('name="pattern" required', '<input name="user" value="ann">'),
      )
      await focus()
      await keys.types(typed())
      if (submit === 'Enter') await page.keyboard.press('Enter')
      else await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('heading', { name: 'Done' }).waitFor()
      expect(posted).toHaveLength(1)
      expect(posted[0]?.get('user')).toBe('ann')
      const read = readTypingPattern(Buffer.from(posted[0]?.get('pattern') ?? ''))
      expect(read.ok || read.message).toBe(true)
      expect(read.ok && read.presses.length).toBeGreaterThanOrEqual(WORDS.length)
      await close()
    }
  })

  it('keeps the form back without a pattern, says why, and focuses the field', async () => {
    const { page, keys, hint, close } = await open(plain('name="pattern" required'))
    await page.getByRole('button', { name: 'Go on' }).click()
    expect(await hint()).toBe('Not all of the words are there yet.')
    expect(await element(page, (typing) => typing.validity.valueMissing)).toBe(true)
    expect(await page.evaluate('document.activeElement.id')).toBe('typing')
    await keys.types(person(81).types('second qqqq', 2).kevt as unknown as Stroke[])
    await page.keyboard.press('Enter')
    await expect.poll(hint).toBe('Not all of the words are there yet.')
    expect(await element(page, (typing) => [typing.checkValidity(), typing.value, typing.pattern])).toEqual([
      false,
      '',
      null,
    ])
    expect(posted).toEqual([])
    await close()
  })

  it('without `required` submits no value for an empty field, and none for words half typed', async () => {
    const { page, keys, focus, close } = await open(plain('name="pattern"'))
    await focus()
    await keys.types(person(81).types('second work', 1).kevt as unknown as Stroke[])
    await page.getByRole('button', { name: 'Go on' }).click()
    expect(posted).toEqual([])
    await element(page, (typing) => typing.reset())
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('heading', { name: 'Done' }).waitFor()
    expect([...(posted[0]?.keys() ?? [])]).toEqual([])
    await close()
  })

  it('takes part in a form like an input: reset, disabled by a fieldset, label texts, FormData', async () => {
    const { page, keys, focus, close } = await open(
      plain('name="pattern" required')
        .replace('<keystride', '<fieldset><keystride')
        .replace('</form>', '</fieldset></form>'),
    )
    await focus()
    await keys.types(typed())
    const submitted = 'new FormData(document.forms[0]).get("pattern")'
    const value = await element(page, (typing) => typing.value)
    expect(JSON.parse(value).k).toEqual(JSON.parse(await page.evaluate(submitted)).k)
    await page.evaluate('document.forms[0].reset()')
    expect(await element(page, (typing) => [typing.value, typing.form?.id, typing.name])).toEqual([
      '',
      'form',
      'pattern',
    ])
    expect(await page.evaluate(submitted)).toBeNull()
    await page.evaluate('document.querySelector("fieldset").disabled = true')
    expect(await page.locator('#typed').isDisabled()).toBe(true)
    await page.evaluate('document.querySelector("fieldset").disabled = false')
    expect(await page.locator('#typed').isDisabled()).toBe(false)
    await close()
  })

  it('refuses pasted and scripted text, and says so', async () => {
    const { page, keys, focus, hint, close } = await open(plain('name="pattern" required'))
    await focus()
    await page.keyboard.insertText(WORDS)
    await expect.poll(hint).toMatch(/without key presses/)
    expect(await page.locator('#typed').inputValue()).toBe('')
    const field = "document.getElementById('typing').shadowRoot.querySelector('input')"
    await page.evaluate(`${field}.value = 'second working listing million during link'`)
    await keys.types([
      { type: 'keydown', et: 0, k: 's', c: 'KeyS', kc: 83 },
      { type: 'keyup', et: 70, k: 's', c: 'KeyS', kc: 83 },
    ])
    await expect.poll(hint).toMatch(/filled in text/)
    expect(await element(page, (typing) => typing.pattern)).toBeNull()
    await close()
  })

  it('takes no keys while busy, and begins the words again after a refusal of the service', async () => {
    const { page, keys, focus, hint, close } = await open(plain('name="pattern" required'))
    await focus()
    await keys.types(typed())
    await element(page, (typing) => {
      typing.busy = true
    })
    expect(await hint()).toBe('One moment …')
    await keys.types(typed(2))
    await page.keyboard.press('Enter')
    expect(posted).toEqual([])
    await element(page, (typing) => {
      typing.busy = false
      typing.again('detection-bot')
    })
    expect(await hint()).toMatch(/too even for a person/)
    expect(await element(page, (typing) => typing.value)).toBe('')
    await element(page, (typing) => typing.show(['one', 'two three'], 'en'))
    expect(await page.locator('#words li').allTextContents()).toEqual(['one', 'two', 'three'])
    await close()
  })

  it('has a mode, a progress and an accent colour', async () => {
    const { page, keys, focus, close } = await open(
      plain('name="pattern" required mode="sensitive" done="2" target="5"'),
    )
    await focus()
    await keys.types(typed())
    const pattern = await element(page, (typing) => typing.pattern)
    expect([pattern?.agent.mode, new Set(pattern?.k.map(({ k }) => k))]).toEqual(['sensitive', new Set([''])])
    expect(await page.locator('#count').textContent()).toBe('Pattern 3 of 5')
    expect(await page.locator('#steps li.done').count()).toBe(2)
    await page.evaluate("document.getElementById('typing').style.setProperty('--keystride-accent', 'rgb(1, 2, 3)')")
    const colour = `getComputedStyle(document.getElementById('typing').shadowRoot.querySelector('#steps .done'), '::before').backgroundColor`
    await expect.poll(() => page.evaluate(colour)).toBe('rgb(1, 2, 3)')
    await page.evaluate("document.getElementById('typing').removeAttribute('target')")
    expect(await page.locator('#count').isVisible()).toBe(false)
    await close()
  })

  it('speaks the language of the page or its own, and English if that is unknown or does not load', async () => {
    for (const [html, label] of [
      [plain('', '', 'fr-XX'), /^Tapez/],
      [plain('lang="fr"'), /^Tapez/],
      [plain('lang="xx"'), /^Type these words/],
    ] as const) {
      const { page, close } = await open(html)
      await page.locator('#label').filter({ hasText: label }).waitFor()
      await close()
    }
    html = plain('lang="fr"')
    missing = ['/texts/fr.js']
    const page = await browser.newPage()
    await page.goto(url)
    await page
      .locator('#label')
      .filter({ hasText: /^Type these words/ })
      .waitFor()
    await page.close()
  })

  it('warns on a device with only a touch screen, before the first key press', async () => {
    const phone = await open(plain('required'), {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    })
    expect(await phone.page.locator('#touch').isVisible()).toBe(true)
    expect(await findings(phone.page)).toEqual([])
    await phone.close()
    const desk = await open(plain('required'))
    expect(await desk.page.locator('#touch').isVisible()).toBe(false)
    await desk.close()
  })

  it('has no accessibility finding, light and dark, and is operated by the keyboard alone', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = plain('required done="1" target="5"').replace(
        '<title>',
        '<meta name="color-scheme" content="light dark"><title>',
      )
      const opened = await open(page, { colorScheme })
      // axe takes a page without a background for white.
      await opened.page.evaluate(
        "{ const sheet = new CSSStyleSheet(); sheet.replaceSync('body { background: Canvas }'); document.adoptedStyleSheets = [sheet] }",
      )
      await opened.page.keyboard.press('Tab')
      await opened.keys.types(person(81).types('second wrong ', 1).kevt as unknown as Stroke[])
      expect(await opened.page.locator('#words [data-mark=wrong]').count()).toBe(1)
      expect(await findings(opened.page)).toEqual([])
      await opened.page.keyboard.press('Tab')
      expect(await opened.page.evaluate('document.activeElement.tagName')).toBe('BUTTON')
      await opened.page.keyboard.press('Tab')
      await opened.page.keyboard.press('Enter')
      expect(await opened.page.locator('#recorded li').first().isVisible()).toBe(true)
      expect(await findings(opened.page)).toEqual([])
      // Screen readers get the name, the help and the status of the field.
      const field = opened.page.getByRole('textbox', { name: 'Type these words, with a space between them' })
      expect(await field.getAttribute('aria-describedby')).toBe('help hint')
      expect(await opened.page.getByRole('status').count()).toBe(1)
      await opened.close()
    }
  })

  it('works in a framework without a wrapper, and a new rendering keeps what was typed', async () => {
    const page = `<!doctype html><html lang="en"><title>App</title><main></main><script type="module" src="/element.js"></script>
<script type="module" src="/framework.js"></script></html>`
    const opened = await open(page)
    expect(await opened.page.locator('#words li').allTextContents()).toEqual(WORDS.split(' '))
    await opened.focus()
    await opened.keys.types(typed())
    await opened.page.evaluate('renderAgain()')
    await expect.poll(() => opened.page.locator('#count').textContent()).toBe('Pattern 2 of 5')
    expect(await element(opened.page, (typing) => typing.pattern?.k.length)).toBeGreaterThanOrEqual(WORDS.length)
    await opened.close()
  })

  it('moves in the document, and records again where it is put', async () => {
    const { page, keys, focus, close } = await open(plain('name="pattern" required'))
    await page.evaluate('document.querySelector("main").append(document.forms[0])')
    await focus()
    await keys.types(typed())
    expect(await element(page, (typing) => typing.pattern?.k.length)).toBeGreaterThanOrEqual(WORDS.length)
    await close()
  })
})
