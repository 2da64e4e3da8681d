import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../api/enrolled.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { hasChromium, launch, openPage, type Stroke, type TypingPage } from './browser.js'

describe.skipIf(!hasChromium)('a recorded pattern', () => {
  let browser: Browser
  let service: TestService
  let page: TypingPage
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await freshDatabase()
    service = await startService(database.url)
    browser = await launch()
    page = await openPage(browser)
    await page.run("window.recorder = createRecorder({ inputs: [at('words'), at('secret')], pointer: true })")
    stop = async () => {
      await browser.close()
      await service.close()
      await database.drop()
    }
  })
  afterAll(async () => stop())

  /** The recorded pattern of a typing, sent with stamped times or in real time. */
  async function record(how: 'types' | 'typesLive', strokes: readonly Stroke[], input = 'words'): Promise<unknown> {
    await page.run(`at('${input}').value = ''; recorder.reset(); at('${input}').focus()`)
    await page[how](strokes)
    const { pattern, unusable } = await page.run('recorder.take()')
    expect(unusable).toBeNull()
    return pattern
  }
  const strokesOf = (seed: number, n: number) => person(seed).types(text(n), n).kevt as unknown as Stroke[]

  async function begin(userRef: string): Promise<string> {
    await service.call('POST', `/users/${userRef}`)
    return (await service.bootstrap(userRef)).session
  }
  /** Made-up people are sometimes detected as bots: they then type once more. */
  async function enrolled(userRef: string, session: string, patternOf: (n: number) => Promise<unknown>, count: number) {
    for (let n = 0, stored = 0; stored < count; n++) {
      const body = await patternOf(n)
      const { status, json } = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
      if (status === 422) expect(json.reason).toBe('detection-bot')
      else {
        expect([status, json.created, json.nPatternsRef]).toEqual([200, true, ++stored])
      }
    }
  }

  it('typed in real time and stamped by the browser is accepted for enrollment', async () => {
    const session = await begin('live')
    await enrolled('live', session, (n) => record('typesLive', strokesOf(71, n)), 1)
  }, 120_000)

  it.each([
    ['words', 80],
    ['secret', 90],
  ] as const)('of one person in #%s enrolls and signs in only that person', async (input, owner) => {
    const userRef = `owner-of-${input}`
    const session = await begin(userRef)
    await enrolled(userRef, session, (n) => record('types', strokesOf(owner, n), input), 5)
    const verify = async (seed: number, n: number) => {
      const body = await record('types', strokesOf(seed, n), input)
      const { status, json } = await service.call('POST', `/users/${userRef}/verify`, {
        session: await begin(userRef),
        body,
      })
      expect([status, json.refPatternsStatus[input === 'words' ? 'textVisible' : 'textSensitive']]).toEqual([200, 'ok'])
      return json.authentication.authenticated
    }
    // Masked typing holds less evidence: the owner sometimes has to type again.
    const own = [await verify(owner, 100), await verify(owner, 101), await verify(owner, 102)]
    expect(own).toContain(true)
    expect([await verify(owner + 1, 200), await verify(owner + 2, 201), await verify(owner + 3, 202)]).toEqual([
      false,
      false,
      false,
    ])
  })

  it('is refused if an automation tool pressed the keys at full speed', async () => {
    await page.run("at('words').value = ''; recorder.reset(); at('words').focus()")
    await page.typesLive(strokesOf(70, 1).map((stroke) => ({ ...stroke, et: 0 })))
    expect(await page.run('recorder.take()')).toMatchObject({ pattern: null })
  })
})
