import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LANGUAGES } from '../../src/domain/typing-words.js'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'
import { enroll } from './enrolled.js'

const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const TABLET =
  'Mozilla/5.0 (Linux; Android 14; SM-X910) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const DESKTOP = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

/** The same typing from another device. */
const from = (body: unknown, d: object) => ({ ...(body as object), d })
const TOUCHED = [
  ['a phone by its user agent', { ua: PHONE }],
  ['a tablet by its user agent', { ua: TABLET }],
  ['a phone by its client hints', { uaData: { platform: 'Android', mobile: true } }],
  ['a phone that asks for the pages of computers', { ua: DESKTOP, uaData: { platform: 'Linux', mobile: true } }],
] as const
const TYPED = [
  ['a desktop', { ua: DESKTOP, uaData: { platform: 'Linux', mobile: false } }],
  ['an unknown device', { ua: 'typing-robot/1' }],
  ['no description', {}],
] as const

const started = async (more: Record<string, string>) => startService((await freshDatabase()).url, { more, demo: true })
/** The pages on which people type, as a device gets them. */
async function pagesOn(service: TestService, userRef: string, ua: string, language = 'en', mobile?: boolean) {
  const { key } = (await service.callLinks('POST', `/api/links/create-profile/${userRef}`)).json
  const open = async (path: string) => {
    const hint = mobile === undefined ? {} : { 'sec-ch-ua-mobile': mobile ? '?1' : '?0' }
    const headers = { 'user-agent': ua, ...hint }
    const answer = await fetch(`${service.auth}/${path}?language=${language}`, { headers })
    expect(answer.status).toBe(200)
    return answer.text()
  }
  return { link: await open(`b/${key}`), trying: await open('try') }
}

describe('a pattern of a touch screen', () => {
  let service: TestService
  beforeAll(async () => {
    service = await started({})
  })
  afterAll(() => service.close())

  const verified = (userRef: string, session: string, body: unknown) =>
    service.call('POST', `/users/${userRef}/verify`, { session, body })

  it.each(TOUCHED)('is refused on enroll and on verify, and counts as no attempt: %s', async (_, d) => {
    const who = await enroll(service, `touched-${TOUCHED.findIndex(([, one]) => one === d)}`)
    const { userRef, session } = who
    const enrolled = await service.call('POST', `/users/${userRef}/typing-patterns`, {
      session,
      body: from(who.fresh(), d),
    })
    const answer = await verified(userRef, session, from(who.fresh(), d))
    for (const { status, json } of [enrolled, answer]) {
      expect([status, json.reason]).toEqual([422, 'invalid-data'])
      expect(json.message).toContain('d describes a phone or tablet')
    }
    const { json } = await verified(userRef, session, who.fresh())
    expect(json.nextAttempt?.remainingBiometricAttempts ?? 2).toBe(2)
  })

  it('is known afterwards: the same typing without its device is a replay', async () => {
    const { userRef, session, fresh } = await enroll(service, 'captured')
    const body = fresh()
    expect((await verified(userRef, session, from(body, { ua: PHONE }))).status).toBe(422)
    const { json } = await verified(userRef, session, from(body, {}))
    expect([json.action, json.reason]).toEqual(['rejected', 'fraud-detected'])
  })

  it.each(TYPED)('is only one that its device describes as one: %s is scored', async (_, d) => {
    const who = await enroll(service, `typed-${TYPED.findIndex(([, one]) => one === d)}`)
    const { status, json } = await verified(who.userRef, who.session, from(who.fresh(), d))
    expect([status, ['verified', 'rejected'].includes(json.action)]).toEqual([200, true])
  })

  it.each([
    ['a phone', PHONE, undefined],
    ['a tablet', TABLET, undefined],
    ['a tablet with hints', TABLET, false],
    ['a desktop', DESKTOP, undefined],
    ['a desktop with hints', DESKTOP, false],
    ['a phone that asks for the pages of computers', DESKTOP, true],
    ['an unknown device', 'typing-robot/1', undefined],
    ['an unknown phone', 'typing-robot/1', true],
    ['no description', '', undefined],
  ])('is refused exactly where the pages show no form: %s', async (name, ua, mobile) => {
    const userRef = `paged-${name.replaceAll(' ', '-')}`
    const { link, trying } = await pagesOn(service, userRef, ua, 'en', mobile)
    const who = await enroll(service, `${userRef}-typing`)
    const d = { ua, ...(mobile === undefined ? {} : { uaData: { platform: 'any', mobile } }) }
    const { status } = await verified(who.userRef, who.session, from(who.fresh(), d))
    const forms = [link, trying].map((page) => page.includes('<keystride-typing'))
    expect([status, forms]).toEqual(status === 422 ? [422, [false, false]] : [200, [true, true]])
    if (status === 422) for (const page of [link, trying]) expect(page).toContain('<h1>Please use a computer</h1>')
  })

  it('has a page that asks for a computer in every language, without a script', async () => {
    const texts = new Set<string>()
    for (const language of LANGUAGES) {
      const { link, trying } = await pagesOn(service, 'paged', PHONE, language)
      for (const page of [link, trying]) {
        expect(page).toContain(`<html lang="${language}">`)
        expect(page).not.toContain('<script')
        texts.add(/<h1>.*<\/p>/.exec(page)?.[0] ?? '')
      }
    }
    expect(texts.size).toBe(LANGUAGES.length)
  })
})

it('TOUCH_SCREENS=accept scores the pattern of a phone, and shows it the form', async () => {
  const service = await started({ TOUCH_SCREENS: 'accept' })
  try {
    const who = await enroll(service, 'accepted')
    const body = from(who.fresh(), { ua: PHONE })
    const { status } = await service.call('POST', `/users/${who.userRef}/verify`, { session: who.session, body })
    expect(status).toBe(200)
    const { link, trying } = await pagesOn(service, 'form', PHONE)
    for (const page of [link, trying]) expect(page).toContain('<keystride-typing')
  } finally {
    await service.close()
  }
})
