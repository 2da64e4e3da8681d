import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { person, randomFrom } from '../../src/typist/made-up-person.js'
import { evenly, hasChromium, launch, openPage, type Stroke, type TypingPage } from '../harness/browser.js'
import { type Enrolled, enroll, text } from '../harness/enrolled.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

/** Puts text into `#words` in a way that is not, or not only, typing. */
type Way = (page: TypingPage, who: Enrolled) => Promise<unknown>

/** Number of captures of pasted, filled-in and mixed text: a thousand at full length, as promised. */
const MIXTURES = LONG ? 1000 : 30
const OTHER = 'nobody typed this here'

const typed: Way = (page, who) => page.types((who.fresh() as { kevt: Stroke[] }).kevt)
const copied: Way = async (page) => {
  await page.run(`at('source').value = '${OTHER}'; at('source').focus()`)
  await page.shortcut('Control+KeyA', ['selectAll'])
  await page.shortcut('Control+KeyC', ['copy'])
  await page.run("naive.forget(); at('words').focus()")
}
const paste: Way = async (page, who) => {
  await copied(page, who)
  await page.shortcut('Control+KeyV', ['paste'])
}
const pasteWithInsert: Way = async (page, who) => {
  await copied(page, who)
  await page.shortcut('Shift+Insert', ['paste'])
}
const drop: Way = async (page) => {
  const [x, y] = await page.run("(({ x, y }) => [x + 9, y + 9])(at('words').getBoundingClientRect())")
  const data = { items: [{ mimeType: 'text/plain', data: OTHER }], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await page.cdp.send('Input.dispatchDragEvent', { type, x, y, data })
}
const autofill: Way = async (page) => {
  const { root } = await page.cdp.send('DOM.getDocument')
  const { nodeId } = await page.cdp.send('DOM.querySelector', { nodeId: root.nodeId, selector: '#card' })
  const { node } = await page.cdp.send('DOM.describeNode', { nodeId })
  const card = { number: '4444444444444444', name: 'Ann Example', expiryMonth: '12', expiryYear: '2040', cvc: '123' }
  await page.cdp.send('Autofill.enable')
  await page.cdp.send('Autofill.trigger', { fieldId: node.backendNodeId, card })
  await until(async () => (await page.run("at('card').value")) !== '')
}
const script: Way = (page) => page.run(`at('words').value = '${OTHER}'`)
/** Sets the value and dispatches synthetic events, as browser extensions do. */
const passwordManager: Way = (page) =>
  page.run(`for (const key of '${OTHER}') {
    const code = 'Key' + key.toUpperCase()
    at('words').dispatchEvent(new KeyboardEvent('keydown', { key, code, keyCode: 65, bubbles: true }))
    at('words').value += key
    at('words').dispatchEvent(new InputEvent('input', { data: key, inputType: 'insertText', bubbles: true }))
    at('words').dispatchEvent(new KeyboardEvent('keyup', { key, code, keyCode: 65, bubbles: true }))
  }`)
const dictation: Way = async (page) => {
  for (const word of OTHER.split(' ')) await page.cdp.send('Input.insertText', { text: `${word} ` })
}
const letterByLetter: Way = async (page) => {
  for (const letter of OTHER) await page.cdp.send('Input.insertText', { text: letter })
}
const compose: Way = async (page) => {
  for (const letters of ['k', 'ko', 'kon', 'こん', 'こんにちは']) {
    await page.types([{ type: 'keydown', et: 0, k: 'Process', c: 'KeyK', kc: 229 }])
    const at = letters.length
    await page.cdp.send('Input.imeSetComposition', { text: letters, selectionStart: at, selectionEnd: at })
    await page.types([{ type: 'keyup', et: 0, k: 'k', c: 'KeyK', kc: 75 }])
  }
  await page.cdp.send('Input.insertText', { text: 'こんにちは' })
}
/** Key events of an input method: timed, without names. */
const composeLong: Way = async (page, who) => {
  const { kevt } = who.fresh() as { kevt: Stroke[] }
  await page.types(kevt.map((stroke) => ({ ...stroke, k: 'Process', kc: 229 })))
  await compose(page, who)
}
const phone: Way = async (page, who) => {
  const { kevt } = who.fresh() as { kevt: Stroke[] }
  await page.types(kevt.map((stroke) => ({ ...stroke, k: 'Unidentified', c: '', kc: 229 })))
}
const few: Way = (page) => page.types(evenly('too few'))

const both =
  (...ways: Way[]): Way =>
  async (page, who) => {
    for (const way of ways) await way(page, who)
  }

/** `honest` means that the keys alone are the owner's typing of a whole text, so a pattern of them counts if it is sent. */
const WAYS: readonly (readonly [what: string, reason: string, way: Way, honest: 'honest' | ''])[] = [
  ['pasted text', 'pasted', paste, ''],
  ['pasted text, by Insert', 'pasted', pasteWithInsert, ''],
  ['dropped text', 'dropped', drop, ''],
  ["text from the browser's autofill", 'autofilled', autofill, ''],
  ['text from a script', 'autofilled', script, ''],
  ['text from a password manager', 'autofilled', passwordManager, ''],
  ['dictated words', 'inserted', dictation, ''],
  ['letters without keys', 'inserted', letterByLetter, ''],
  ['composed text', 'composition', compose, ''],
  ['composed text with key events', 'composition', composeLong, ''],
  ["a phone's keyboard", 'noKeyEvents', phone, ''],
  ['seven letters', 'tooShort', few, ''],
  ['typing, then pasted text', 'pasted', both(typed, paste), ''],
  ['pasted text, then typing', 'pasted', both(paste, typed), ''],
  ['typing before and after pasted text', 'pasted', both(few, pasteWithInsert, typed), ''],
  ['typing, then dropped text', 'dropped', both(typed, drop), 'honest'],
  ['dropped text, then typing', 'dropped', both(drop, typed), 'honest'],
  ['typing, then autofill', 'autofilled', both(typed, autofill), 'honest'],
  ['typing after a script', 'autofilled', both(script, typed), 'honest'],
  ['typing before a script', 'autofilled', both(typed, script), 'honest'],
  ['typing, then dictation', 'inserted', both(typed, dictation), 'honest'],
  ['typing, then composition', 'composition', both(typed, compose), 'honest'],
]

describe.skipIf(!hasChromium)('text that was not typed', () => {
  let browser: Browser
  let service: TestService
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await freshDatabase()
    service = await startService(database.url)
    stop = async () => {
      await service.close()
      await database.drop()
    }
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await stop()
  })

  const sent = { captures: 0, authenticated: 0, stored: 0 }
  it.each(WAYS)(
    '%s is "%s": the recorder gives no pattern, and the service refuses the pattern of a naive client',
    async (what, reason, way, honest) => {
      const who = await enroll(service, `user-${what.replace(/[^a-z]+/g, '-')}`)
      const page = await openPage(browser)
      try {
        await page.run("window.recorder = createRecorder({ inputs: [at('words'), at('card')] }); at('words').focus()")
        await way(page, who)
        const taken = await page.run('recorder.take()')
        expect(taken).toMatchObject({ unusable: reason, pattern: null })
        const refused: string[] = ['detection-bot', 'invalid-data', 'fraud-detected']
        const bodies = honest === '' ? [taken.pattern, await page.run('naive.body()')] : [taken.pattern]
        for (const body of bodies) {
          const begun = (await service.bootstrap(who.userRef)).session
          const verified = await service.call('POST', `/users/${who.userRef}/verify`, { session: begun, body })
          sent.captures++
          if (verified.json.authentication?.authenticated) sent.authenticated++
          const novice = `new-${who.userRef}`
          await service.call('POST', `/users/${novice}`)
          const { session } = await service.bootstrap(novice)
          const enrolled = await service.call('POST', `/users/${novice}/typing-patterns`, { session, body })
          expect(enrolled.status).toBe(422)
          expect(refused).toContain(enrolled.json.reason)
          sent.stored += (await service.bootstrap(novice)).json.nPatternsRef
        }
      } finally {
        await page.close()
      }
    },
  )

  it('gives no pattern in any mixture with typing', async () => {
    const who = await enroll(service, 'mixed', 0)
    const page = await openPage(browser)
    await page.run("window.recorder = createRecorder({ inputs: [at('words'), at('card')] })")
    const random = randomFrom(20_261_121)
    let patterns = 0
    const foreign = WAYS.filter(([, reason]) => reason !== 'tooShort').map(([what, , way]) => ({ what, way }))
    for (let n = 0; n < MIXTURES; n++) {
      const { what, way } = foreign[Math.floor(random() * foreign.length)] ?? { what: '', way: few }
      await page.run("for (const id of ['words', 'card', 'second']) at(id).value = ''")
      await page.run("recorder.reset(); naive.forget(); at('words').focus()")
      if (random() < 0.5) await typed(page, who)
      await way(page, who)
      await page.run("at('words').focus()")
      if (random() < 0.5) await typed(page, who)
      if (!(await page.run('recorder.take().pattern === null'))) {
        patterns++
        console.log(`a pattern of mixture ${n}: ${what}`)
      }
    }
    await page.close()
    const mixtures = MIXTURES.toLocaleString('en')
    figure('T07', `${patterns} of ${mixtures} mixtures gave a pattern`, '0', patterns === 0)
  }, 3_600_000)

  it('authenticates nobody and becomes no reference if a client sends it anyway', () => {
    const { captures, authenticated, stored } = sent
    expect(captures).toBeGreaterThanOrEqual(WAYS.length)
    figure(
      'T07',
      `${authenticated} of ${captures} sent captures authenticated, ${stored} stored`,
      '0',
      authenticated + stored === 0,
    )
  })

  it('is deleted on reset, and typing counts again', async () => {
    const page = await openPage(browser)
    await page.run("window.recorder = createRecorder({ inputs: [at('words')] }); at('words').focus()")
    await drop(page, await enroll(service, 'forgiven', 0))
    expect((await page.run('recorder.take()')).unusable).toBe('dropped')
    await page.run("at('words').value = ''; recorder.reset()")
    await page.types(evenly(text(1)))
    expect((await page.run('recorder.take()')).unusable).toBeNull()
    await page.close()
  })

  it.each([
    ['words', 'textVisible', 80],
    ['secret', 'textSensitive', 90],
  ] as const)('typing of one person in #%s enrolls and signs in only that person', async (input, kind, owner) => {
    const page = await openPage(browser)
    await page.run("window.recorder = createRecorder({ inputs: [at('words'), at('secret')], pointer: true })")
    const recorded = async (seed: number, n: number): Promise<unknown> => {
      await page.run(`at('${input}').value = ''; recorder.reset(); at('${input}').focus()`)
      await page.types(person(seed).types(text(n), n).kevt as unknown as Stroke[])
      const taken = await page.run('recorder.take()')
      expect(taken.unusable).toBeNull()
      return taken.pattern
    }
    const at = `/users/owner-of-${input}`
    await service.call('POST', at)
    const { session } = await service.bootstrap(`owner-of-${input}`)
    for (let n = 0, stored = 0; stored < 5; n++) {
      const enrolled = await service.call('POST', `${at}/typing-patterns`, { session, body: await recorded(owner, n) })
      // Made-up people are sometimes classified as machines: they then type once more.
      if (enrolled.status === 422) expect([n < 20, enrolled.json.reason]).toEqual([true, 'detection-bot'])
      else expect([enrolled.status, enrolled.json.nPatternsRef]).toEqual([200, ++stored])
    }
    const verify = async (seed: number, n: number) => {
      const begun = (await service.bootstrap(`owner-of-${input}`)).session
      const body = await recorded(seed, n)
      const { status, json } = await service.call('POST', `${at}/verify`, { session: begun, body })
      expect([status, json.refPatternsStatus[kind]]).toEqual([200, 'ok'])
      return json.authentication.authenticated
    }
    // Masked typing holds less evidence: the owner sometimes has to type again.
    expect([await verify(owner, 100), await verify(owner, 101), await verify(owner, 102)]).toContain(true)
    for (let n = 1; n <= 3; n++) expect(await verify(owner + n, 199 + n)).toBe(false)
    await page.close()
  })
})
