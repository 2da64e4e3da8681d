import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'

const file = (path: string) => new URL(`../../${path}`, import.meta.url)
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'

/** Whether there is a Chromium for tests (`CHROMIUM`, else Debian's); prints a line if there is none. */
export const hasChromium = existsSync(executablePath)
if (!hasChromium) {
  const line = `NO CHROMIUM at ${executablePath}: the recorder's tests in a browser are SKIPPED (set CHROMIUM)`
  if (process.env.REQUIRE_CHROMIUM === '1') throw new Error(line)
  console.warn(`\n*** ${line} ***\n`)
}

const POLICY = "default-src 'none'; script-src 'self'"
const FILES: Record<string, { readonly type: string; readonly path: URL }> = {
  '/': { type: 'text/html; charset=utf-8', path: file('test/recorder/page/page.html') },
  '/page.js': { type: 'text/javascript', path: file('test/recorder/page/page.js') },
  '/recorder.js': { type: 'text/javascript', path: file('packages/recorder/dist/recorder.js') },
}

/** A key event as in patterns; only these fields are sent to the browser. */
export interface Stroke {
  readonly type: 'keydown' | 'keyup'
  readonly et: number
  readonly k: string
  readonly c: string
  readonly kc: number
}

/** Strokes of the letters a to z, spaces and Backspace (`<`), `[letter, pressMs, releaseMs]` each, in order of time. */
export function strokes(keys: readonly (readonly [string, number, number])[]): Stroke[] {
  const named = (letter: string) => {
    if (letter === ' ') return { k: ' ', c: 'Space', kc: 32 }
    if (letter === '<') return { k: 'Backspace', c: 'Backspace', kc: 8 }
    if (letter === '^') return { k: 'Shift', c: 'ShiftLeft', kc: 16 }
    return { k: letter, c: `Key${letter.toUpperCase()}`, kc: letter.toUpperCase().charCodeAt(0) }
  }
  return keys
    .flatMap(([letter, press, release]): Stroke[] => [
      { type: 'keydown', et: press, ...named(letter) },
      { type: 'keyup', et: release, ...named(letter) },
    ])
    .sort((a, b) => a.et - b.et)
}

/** Typing of a text at an even pace, unlike a person's: only for tests of the recorder. */
export const evenly = (text: string): Stroke[] =>
  strokes([...text].map((letter, i) => [letter, 120 * i + (i % 5), 120 * i + 80 + (i % 7)]))

const MODIFIERS: Record<string, number> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

interface KeySender {
  /** Sends the strokes at once, stamped with their times: half a second after the previous typing. */
  types(strokes: readonly Stroke[]): Promise<void>
  /** Presses one key with modifiers, such as `Control+KeyV`; `commands` are its editor commands. */
  shortcut(name: string, commands?: readonly string[]): Promise<void>
  /** Start of the next `types`, ms on the page's clock. */
  clockMs(): number
}

/** A page with inputs, the recorder and a naive client, under the strictest policy, driven with real key events. */
export interface TypingPage extends KeySender {
  readonly cdp: CDPSession
  /** Every path that the page has requested. */
  readonly asked: readonly string[]
  /** Evaluates an expression in the page; only JSON values are returned. */
  // biome-ignore lint/suspicious/noExplicitAny: each test says what it expects
  run(expression: string): Promise<any>
  close(): Promise<void>
}

export const launch = (): Promise<Browser> => chromium.launch({ executablePath, args: ['--no-sandbox'] })

export async function openPage(browser: Browser): Promise<TypingPage> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const found = FILES[request.url ?? '']
    if (found === undefined) response.writeHead(404).end()
    else
      response
        .writeHead(200, { 'content-type': found.type, 'content-security-policy': POLICY })
        .end(readFileSync(found.path))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const page = await browser.newPage()
  await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
  const cdp = await page.context().newCDPSession(page)
  const run: TypingPage['run'] = async (expression) => {
    const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', { expression, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? 'threw')
    return result.value
  }
  return {
    cdp,
    asked,
    run,
    ...(await keySender(page)),
    async close() {
      await page.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends key events to the focused element of a page. */
export async function keySender(page: Page): Promise<KeySender> {
  const cdp = await page.context().newCDPSession(page)
  const { result } = await cdp.send('Runtime.evaluate', { expression: 'performance.timeOrigin' })
  const originMs = Number(result.value)
  let clockMs = 60_000
  const held = new Set<string>()

  const send = ({ type, k, c, kc }: Stroke, stampMs: number, commands: readonly string[] = []) => {
    if (type === 'keydown') held.add(k)
    else held.delete(k)
    const modifiers = [...held].reduce((sum, key) => sum + (MODIFIERS[key] ?? 0), 0)
    const text = k.length === 1 && !held.has('Control') && !held.has('Meta') ? { text: k } : {}
    return cdp.send('Input.dispatchKeyEvent', {
      type: type === 'keyup' ? 'keyUp' : 'text' in text ? 'keyDown' : 'rawKeyDown',
      key: k,
      code: c,
      windowsVirtualKeyCode: kc,
      modifiers,
      ...(type === 'keydown' ? text : {}),
      ...(commands.length > 0 ? { commands: [...commands] } : {}),
      ...(k === 'Backspace' && type === 'keydown' ? { commands: ['deleteBackward'] } : {}),
      timestamp: (originMs + stampMs) / 1000,
    })
  }
  return {
    async types(all) {
      const begin = clockMs
      await Promise.all(all.map((stroke) => send(stroke, begin + stroke.et)))
      clockMs = begin + Math.max(0, ...all.map(({ et }) => et)) + 500
    },
    async shortcut(name, commands = []) {
      const keys = name.split('+').map((part): Omit<Stroke, 'type' | 'et'> => {
        if (part in MODIFIERS) return { k: part, c: `${part}Left`, kc: { Shift: 16, Control: 17, Alt: 18 }[part] ?? 91 }
        return part.startsWith('Key')
          ? { k: part.slice(3).toLowerCase(), c: part, kc: part.charCodeAt(3) }
          : { k: part, c: part, kc: part === 'Insert' ? 45 : 0 }
      })
      for (const [i, key] of keys.entries()) {
        await send({ type: 'keydown', et: 0, ...key }, clockMs, i === keys.length - 1 ? commands : [])
        clockMs += 60
      }
      for (const key of keys.reverse()) {
        await send({ type: 'keyup', et: 0, ...key }, clockMs)
        clockMs += 60
      }
      clockMs += 300
    },
    clockMs: () => clockMs,
  }
}
