import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { TypingPattern } from '@keystride/recorder'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import {
  CAPTURE_MAX_MS,
  CAPTURE_MIN_MS,
  FLIGHT_MAX_MS,
  HOLD_MAX_MS,
  KEYDOWNS_MAX,
  KEYDOWNS_MIN,
  readTypingPattern,
  type TypingPattern as WirePattern,
} from '../../src/domain/typing-pattern.js'
import { person } from '../../src/typist/made-up-person.js'
import { evenly, hasChromium, launch, openPage, type Stroke, strokes, type TypingPage } from '../harness/browser.js'

const TEXT = 'the quick brown fox jumps over the lazy dog'
/** A person's typing, with times rounded to a tick, in ms. */
const ticking = (tickMs: number): Stroke[] =>
  (person(3).types(TEXT, 1).kevt as unknown as Stroke[]).map((stroke) => ({
    ...stroke,
    et: Math.floor(stroke.et / tickMs) * tickMs,
  }))
/** Shift and a letter, another letter and its deletion. */
const HOW_X_BECOMES_T = strokes([
  ['^', 0, 300],
  ['T', 130, 210],
  ['x', 400, 470],
  ['<', 600, 690],
])
/** 70 presses at this interval take more than ten minutes. */
const LONG_MS = CAPTURE_MAX_MS / 69
const built = new URL('../../packages/recorder/dist/recorder.js', import.meta.url)

/** Compiles only if every field that the recorder writes is a field of the wire, of the same type. */
export const onTheWire = (pattern: TypingPattern): z.input<typeof WirePattern> => ({
  ...pattern,
  tags: [...pattern.tags],
  kevt: [...pattern.kevt],
  k: [...pattern.k],
  m: [...(pattern.m ?? [])],
})

describe('the built module', () => {
  const source = readFileSync(built, 'utf8')
  it('is under 8 kB compressed, imports nothing, stores nothing, sends nothing and evaluates nothing', () => {
    expect(gzipSync(source).length).toBeLessThan(8_000)
    expect(source).not.toMatch(/\bimport\b[^*\n]*['"]/)
    expect(source).not.toMatch(/(local|session)Storage|indexedDB|document\.cookie|fetch\(|XMLHttp|sendBeacon|eval\(/)
  })
})

describe.skipIf(!hasChromium)('the recorder in Chromium', () => {
  let browser: Browser
  let page: TypingPage
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(async () => browser?.close())
  beforeEach(async () => {
    page = await openPage(browser)
  })
  afterEach(async () => page.close())

  /** Starts a recorder of the textarea, or of the inputs in the options, and focuses the textarea. */
  const record = (options = "{ inputs: [at('words')] }", focus = 'words') =>
    page.run(`window.states = []
      window.recorder = createRecorder({ onChange: (state) => states.push(state), ...${options} })
      at('${focus}').focus()`)
  const take = () => page.run('recorder.take()')
  /** The pattern; fails if the service cannot read it. */
  async function pattern(): Promise<TypingPattern> {
    const taken = await take()
    expect(taken.unusable).toBeNull()
    const read = readTypingPattern(Buffer.from(JSON.stringify(taken.pattern)))
    expect(read.ok || read.message).toBe(true)
    expect(read.ok && read.presses.length).toBe(taken.presses)
    return taken.pattern
  }
  const told = (events: readonly Pick<Stroke, 'type' | 'c'>[]) => events.map(({ type, c }) => `${type} ${c}`)
  const apart = (recorded: readonly { et: number }[], sent: readonly { et: number }[]) =>
    recorded.map(({ et }, i) => Math.abs(et - (sent[i]?.et ?? 0) + (sent[0]?.et ?? 0)))

  it('writes each key event with its key, its order and its time, also while the page is busy', async () => {
    await record()
    await page.run('setTimeout(() => { for (const end = performance.now() + 250; performance.now() < end; ); })')
    const sent = person(3).types(TEXT, 1).kevt as unknown as Stroke[]
    await page.types(sent)
    const { kevt, k, ...others } = await pattern()
    expect(told(kevt)).toEqual(told(sent))
    // Chromium rounds both times to a tenth: they differ by at most two tenths, plus a rounding of doubles.
    expect(Math.max(...apart(kevt, sent))).toBeLessThan(0.25)
    expect(k.map((record) => record.k).join('')).toBe(TEXT)
    expect(kevt.map(({ seqn }) => seqn)).toEqual(kevt.map((_, i) => i))
    expect(kevt.every((event) => event.eId === 'words' && !event.r && Math.abs(event.t - Date.now()) < 3_600_000)).toBe(
      true,
    )
    expect(others).toMatchObject({ agent: { type: 'browser', mode: 'visible' }, version: '1.0.0', tId: 1, tags: [] })
    expect(others.sId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Object.keys(others).sort()).toEqual(['agent', 'd', 'sId', 'tId', 'tags', 'version'])
    expect(Object.keys(others.d)).not.toContain('fonts')
  })

  it('never writes decreasing times, whatever the browser stamps', async () => {
    await record()
    await page.types(evenly(TEXT).map((stroke, i) => ({ ...stroke, et: stroke.et - (i === 20 ? 400 : 0) })))
    const { kevt } = await pattern()
    expect(kevt.every(({ et }, i) => et >= (kevt[i - 1]?.et ?? 0))).toBe(true)
  })

  it('accepts a clock of 60 ticks a second, and overlapping presses, however fast', async () => {
    // Each key of the second typing is held until the second key after it goes down.
    for (const sent of [ticking(1000 / 60), strokes([...TEXT].map((letter, i) => [letter, 60 * i, 60 * i + 95]))]) {
      await record()
      await page.types(sent)
      const { kevt } = await pattern()
      expect(told(kevt)).toEqual(told(sent))
      expect(Math.max(...apart(kevt, sent))).toBeLessThan(0.25)
      await page.run("recorder.stop(); at('words').value = ''")
    }
  })

  it('drops the auto-repeat of a held key', async () => {
    await record()
    await page.types(evenly(`${TEXT} `))
    const now = page.clockMs()
    const key = { key: 'm', code: 'KeyM', windowsVirtualKeyCode: 77, text: 'm' }
    const origin = await page.run('performance.timeOrigin')
    for (let i = 0; i < 10; i++)
      await page.cdp.send('Input.dispatchKeyEvent', {
        type: 'keyDown',
        ...key,
        autoRepeat: i > 0,
        timestamp: (origin + now + 400 * Math.sign(i) + 30 * i) / 1000,
      })
    await page.cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key, timestamp: (origin + now + 800) / 1000 })
    const { k } = await pattern()
    expect(await page.run("at('words').value.endsWith('mmmmmmmmmm')")).toBe(true)
    expect(k.length).toBe(TEXT.length + 2)
    expect(k.at(-1)).toMatchObject({ k: 'm' })
    expect(k.at(-1)?.h).toBeCloseTo(800, 0)
  })

  it('records modifiers and Backspace like other keys, but not Shift held over many letters', async () => {
    await record()
    await page.types(HOW_X_BECOMES_T)
    await page.types(
      strokes([['^', 0, 6 * 400], ...[...'abcdef'].map((x, i) => [x, 50 + 400 * i, 130 + 400 * i] as const)]),
    )
    await page.types(evenly(TEXT))
    const { kevt, k } = await pattern()
    expect(k.slice(0, 4).map(({ c }) => c)).toEqual(['ShiftLeft', 'KeyT', 'KeyX', 'Backspace'])
    expect(kevt[1]).toMatchObject({ c: 'KeyT', k: 'T', shiftKey: true })
    // The service would refuse the overlong hold.
    expect(k.slice(4).map(({ c }) => c)).not.toContain('ShiftLeft')
    expect(await page.run("at('words').value")).toMatch(/^Tabcdef/i)
  })

  it('follows a key over a change of focus, and records several inputs into one pattern', async () => {
    await record("{ inputs: [at('words'), at('second')] }")
    await page.types(evenly('one two three').slice(0, -1))
    await page.run("at('second').focus()")
    await page.types([{ type: 'keyup', et: 0, k: 'e', c: 'KeyE', kc: 69 }])
    await page.types(evenly('four five'))
    const { kevt, k } = await pattern()
    expect(k.map((record) => record.k).join('')).toBe('one two threefour five')
    expect(new Set(kevt.map(({ eId }) => eId))).toEqual(new Set(['words', 'second']))
    expect(k[12]?.h).toBeGreaterThan(80)
  })

  it('drops a key whose release is lost, with the focus or before the next press', async () => {
    await record()
    await page.types(evenly(TEXT))
    const key = (type: Stroke['type'], et: number): Stroke => ({ type, et, k: 'q', c: 'KeyQ', kc: 81 })
    await page.types([key('keydown', 0)])
    await page.run("window.dispatchEvent(new FocusEvent('blur'))")
    await page.types([key('keyup', 3_000)])
    await page.types(evenly(' and more'))
    await page.types([key('keydown', 0), key('keydown', 700), key('keyup', 790)])
    const { k } = await pattern()
    expect(k.map((record) => record.k).join('')).toBe(`${TEXT} and moreq`)
    expect(k.at(-1)?.h).toBeCloseTo(90, 0)
  })

  it('accepts a dead key and its letter as typing', async () => {
    await record()
    await page.types(evenly(TEXT))
    await page.types([{ type: 'keydown', et: 0, k: 'Dead', c: 'Quote', kc: 222 }])
    await page.types([{ type: 'keyup', et: 0, k: 'Dead', c: 'Quote', kc: 222 }])
    await page.cdp.send('Input.imeSetComposition', { text: '´', selectionStart: 1, selectionEnd: 1 })
    await page.types([{ type: 'keydown', et: 0, k: 'Process', c: 'KeyE', kc: 229 }])
    await page.cdp.send('Input.insertText', { text: 'é' })
    await page.types([{ type: 'keyup', et: 0, k: 'é', c: 'KeyE', kc: 69 }])
    expect((await pattern()).k.slice(-2).map(({ c }) => c)).toEqual(['Quote', 'KeyE'])
  })

  it('masks typing into a password field, and keeps its times', async () => {
    const letters = [...'ßøłđŧŋħæþœµ§«»€']
    const sent: Stroke[] = letters
      .flatMap((k, i): Stroke[] => {
        const key = { k, c: `Key${String.fromCharCode(65 + i)}`, kc: 65 + i }
        return [
          { type: 'keydown', et: 130 * i, ...key },
          { type: 'keyup', et: 130 * i + 90 + 60 * (i % 3), ...key },
        ]
      })
      .sort((a, b) => a.et - b.et)
    await record("{ inputs: [at('secret')] }", 'secret')
    await page.types(sent)
    const masked = await pattern()
    expect(await page.run("at('secret').value")).toBe(letters.join(''))
    expect(masked.agent.mode).toBe('sensitive')
    const { d: _, ...written } = masked
    const text = JSON.stringify([written, await page.run('states')])
    expect(letters.filter((letter) => text.includes(letter))).toEqual([])
    expect(text).not.toMatch(/Key[A-Z]/)
    expect(masked.kevt.every(({ k, c, kc, l }) => k === '' && /^Masked[123]$/.test(c) && kc === 0 && l === 0)).toBe(
      true,
    )
    expect(Math.max(...apart(masked.kevt, sent))).toBeLessThan(0.25)
  })

  it('masks the whole pattern once a password field is typed into, shown or not', async () => {
    await record("{ inputs: [at('words'), at('secret')] }")
    await page.types(evenly('ann example com'))
    expect((await pattern()).agent.mode).toBe('visible')
    await page.run("at('secret').type = 'text'; at('secret').focus()")
    await page.types(HOW_X_BECOMES_T)
    const masked = await pattern()
    expect(masked.agent.mode).toBe('sensitive')
    expect(JSON.stringify(masked.kevt)).not.toMatch(/Key[A-Z]|Shift[LR]|Backspace|"(ctrl|alt|shift|meta)Key":true/)
    expect(masked.k.length).toBe(19)
  })

  it('masks on demand, and does not record a password visibly', async () => {
    await record("{ inputs: [at('words')], mode: 'sensitive' }")
    await page.types(evenly(TEXT))
    expect((await pattern()).kevt.every(({ k }) => k === '')).toBe(true)
    await expect(record("{ inputs: [at('secret')], mode: 'visible' }")).rejects.toThrow(/password field/)
  })

  it('numbers patterns, deletes presses on reset, records nothing after stop', async () => {
    await record("{ inputs: [at('words')], tags: [{ k: 'page', v: 'sign-in' }] }")
    await page.types(evenly(TEXT))
    expect(await pattern()).toMatchObject({ tId: 1, tags: [{ k: 'page', v: 'sign-in' }] })
    expect((await pattern()).tId).toBe(2)
    await page.run("at('words').value = ''; recorder.reset()")
    expect(await take()).toEqual({ presses: 0, unusable: 'empty', pattern: null })
    await page.types(evenly(TEXT))
    expect(await pattern()).toMatchObject({ tId: 3, kevt: expect.objectContaining({ length: 2 * TEXT.length }) })
    const heard = await page.run('states.length')
    await page.run('recorder.stop(); states.length = 0')
    await page.types(evenly(TEXT))
    expect(await page.run('states')).toEqual([])
    expect(heard).toBeGreaterThan(4 * TEXT.length)
    expect(await take()).toMatchObject({ unusable: 'empty', pattern: null })
  })

  it('reports progress, and stops recording a detached input and keeps its presses', async () => {
    await record("{ inputs: [at('words'), at('second')] }")
    await page.types(evenly(TEXT))
    const states: { presses: number; unusable: string | null }[] = await page.run('states')
    expect(states.at(-1)).toEqual({ presses: TEXT.length, unusable: null })
    expect(states.find(({ unusable }) => unusable === null)?.presses).toBe(KEYDOWNS_MIN)
    await page.run("recorder.detach(at('words'))")
    await page.types(evenly(TEXT))
    expect((await pattern()).k.length).toBe(TEXT.length)
  })

  it('records the pointer if asked, ten times a second at most', async () => {
    await record("{ inputs: [at('words')], pointer: true }")
    await page.types(evenly(TEXT))
    const origin = await page.run('performance.timeOrigin')
    for (let i = 0; i < 100; i++)
      await page.cdp.send('Input.dispatchMouseEvent', {
        type: 'mouseMoved',
        x: 10 + i,
        y: 20,
        timestamp: (origin + page.clockMs() + 10 * i) / 1000,
      })
    const { m = [] } = await pattern()
    expect(m.length).toBeGreaterThan(3)
    expect(m.every(({ type, et }, i) => type === 'move' && et >= (m[i - 1]?.et ?? -100) + 99)).toBe(true)
  })

  it('works under a policy that allows only scripts of its own origin, requests nothing and stores nothing', async () => {
    await record()
    await page.types(evenly(TEXT))
    await pattern()
    expect(await page.run('violations')).toEqual([])
    expect(page.asked.filter((path) => path !== '/favicon.ico')).toEqual(['/', '/page.js', '/recorder.js'])
    expect(await page.run('[document.cookie, localStorage.length, sessionStorage.length]')).toEqual(['', 0, 0])
  })

  describe('gives the reason without a pattern', () => {
    const alternating = (n: number, everyMs: number) =>
      strokes(Array.from({ length: n }, (_, i) => [i % 2 ? 'a' : 'b', everyMs * i, everyMs * i + 50]))
    it.each([
      ['empty', []],
      ['tooShort', evenly(TEXT.slice(0, KEYDOWNS_MIN - 1))],
      ['tooShort', strokes([...TEXT.slice(0, 20)].map((x, i) => [x, 40 * i, 40 * i + CAPTURE_MIN_MS / 10]))],
      ['tooLong', alternating(KEYDOWNS_MAX + 1, 70)],
      ['tooLong', alternating(70, LONG_MS)],
      ['paused', evenly(TEXT).map((stroke) => ({ ...stroke, et: stroke.et + (stroke.et > 1200 ? FLIGHT_MAX_MS : 0) }))],
      ['coarseTimer', ticking(100)],
      ['coarseTimer', ticking(50)],
      ['coarseTimer', ticking(1000 / 30)],
      ['incomplete', evenly(TEXT).filter(({ type }, i) => type === 'keydown' || i % 8 > 4)],
      ['incomplete', strokes([...TEXT].map((x, i) => [x, HOLD_MAX_MS * 1.2 * i, HOLD_MAX_MS * (1.2 * i + 1.1)]))],
    ] as const)('%s', async (unusable, sent) => {
      await record()
      await page.types(sent)
      expect(await take()).toMatchObject({ unusable, pattern: null })
    })
  })
})
