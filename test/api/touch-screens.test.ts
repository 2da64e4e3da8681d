import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { type Enrolled, enroll, linkTo, verifyOf } from '../harness/enrolled.js'
import { startService, type TestService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const TABLET =
  'Mozilla/5.0 (Linux; Android 14; SM-X910) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

/** Devices by user agent and, if any, client hint, and whether they have a touch screen. */
const DEVICES: readonly (readonly [name: string, ua: string, mobile: boolean | undefined, touched: boolean])[] = [
  ['a phone', PHONE, undefined, true],
  ['a tablet', TABLET, undefined, true],
  ['a tablet with hints', TABLET, false, true],
  ['a phone that asks for the pages of computers', DESKTOP, true, true],
  ['an unknown phone', 'typing-robot/1', true, true],
  ['a desktop', DESKTOP, undefined, false],
  ['a desktop with hints', DESKTOP, false, false],
  ['an unknown device', 'typing-robot/1', undefined, false],
  ['no description', '', undefined, false],
]

/** The same typing from another device. */
const from = (body: unknown, d: object) => ({ ...(body as object), d })
const started = async (more: Record<string, string>) => startService((await freshDatabase()).url, { more, demo: true })
/** The pages on which people type, as a device gets them. */
async function pagesOn(service: TestService, ua: string, { language = 'en', mobile }: Record<string, unknown> = {}) {
  const key = await linkTo(service, 'create', 'reader')
  const hint = mobile === undefined ? {} : { 'sec-ch-ua-mobile': mobile === true ? '?1' : '?0' }
  const headers = { 'user-agent': ua, ...hint }
  const answers = [`b/${key}`, 'try'].map((path) => fetch(`${service.auth}/${path}?language=${language}`, { headers }))
  return Promise.all((await Promise.all(answers)).map((answer) => answer.text()))
}

describe('a pattern of a touch screen', () => {
  let service: TestService
  let who: Enrolled
  beforeAll(async () => {
    service = await started({})
    who = await enroll(service, 'typist')
  })
  afterAll(() => service.close())

  it.each(DEVICES)('is refused exactly where the pages show no form: %s', async (_, ua, mobile, touched) => {
    const d = { ua, ...(mobile === undefined ? {} : { uaData: { platform: 'any', mobile } }) }
    const { session } = await service.bootstrap('typist')
    const path = '/users/typist/typing-patterns'
    const enrolled = await service.call('POST', path, { session, body: from(who.fresh(), d) })
    const verified = await verifyOf(service, 'typist', from(who.fresh(), d), session)
    expect([enrolled.status, verified.status]).toEqual(touched ? [422, 422] : [409, 200])
    if (touched) expect(verified.json.message).toContain('d describes a phone or tablet')
    for (const page of await pagesOn(service, ua, { mobile })) {
      expect(page.includes('<keystride-typing')).toBe(!touched)
      expect(page.includes('<h1>Please use a computer</h1>')).toBe(touched)
    }
  })

  it('counts as no attempt, and is known afterwards: the same typing without its device is a replay', async () => {
    const { session } = await service.bootstrap('typist')
    const body = who.fresh()
    const phone = { uaData: { platform: 'Android', mobile: true } }
    expect((await verifyOf(service, 'typist', from(body, phone), session)).status).toBe(422)
    const { json } = await verifyOf(service, 'typist', from(body, {}), session)
    expect([json.action, json.reason]).toEqual(['rejected', 'fraud-detected'])
    expect(json.nextAttempt.remainingBiometricAttempts).toBe(2)
  })

  it('has a page that asks for a computer in every language, without a script', async () => {
    const texts = new Set<string>()
    for (const language of LANGUAGES)
      for (const page of await pagesOn(service, PHONE, { language })) {
        expect(page).toContain(`<html lang="${language}">`)
        expect(page).not.toContain('<script')
        texts.add(/<h1>.*<\/p>/.exec(page)?.[0] ?? '')
      }
    expect(texts.size).toBe(LANGUAGES.length)
  })
})

it('TOUCH_SCREENS=accept scores the pattern of a phone, and shows it the form', async () => {
  const service = await started({ TOUCH_SCREENS: 'accept' })
  const who = await enroll(service, 'accepted')
  expect((await verifyOf(service, 'accepted', from(who.fresh(), { ua: PHONE }))).status).toBe(200)
  for (const page of await pagesOn(service, PHONE)) expect(page).toContain('<keystride-typing')
  await service.close()
})
