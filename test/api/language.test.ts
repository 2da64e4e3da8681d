import { afterAll, describe, expect, it } from 'vitest'
import { enroll, linkTo, stranger } from '../harness/enrolled.js'
import { startService } from '../harness/service.js'
import { freshDatabase } from '../servers/database.js'

const service = await startService((await freshDatabase()).url, { demo: true })
afterAll(() => service.close())

const ILL_FORMED = ['xx-!!', '', 'e', 'en_US', '-fr', 'fr-', 'a'.repeat(36), 'en-toolongsubtag', "fr'--"]
const UNKNOWN = ['xx', 'tlh', 'zh-Hant-TW', 'gsw-CH', 'ja-JP']
const MESSAGE = /^query\.language: must/

const keyOfLink = (userRef: string) => linkTo(service, 'create', userRef)
const ask = async (path: string, options: RequestInit = {}) => {
  const answer = await fetch(`${service.auth}${path}`, options)
  return { status: answer.status, language: answer.headers.get('content-language'), text: await answer.text() }
}

describe('the language query', () => {
  it('that is no language tag is 422, wherever words are requested', async () => {
    const { session } = await service.bootstrap('ann')
    await service.call('POST', '/users/ann')
    const key = await keyOfLink('ann')
    for (const language of ILL_FORMED.map(encodeURIComponent)) {
      const query = `?language=${language}`
      const answers = [
        await service.call('GET', `/users/ann${query}`),
        await service.call('POST', `/users/ann/typing-patterns${query}`, { session, body: stranger() }),
        await service.call('POST', `/users/ann/verify${query}`, { session, body: stranger() }),
        await service.call('POST', `/user-verify/ann${query}`, { body: stranger() }),
        await service.callLinks('POST', `/typing-patterns${query}`, {
          headers: { 'x-link-key': key },
          body: stranger(),
        }),
      ]
      const begun = await ask(`/try/begin${query}`, { method: 'POST' })
      for (const { status, json } of [...answers, { status: begun.status, json: JSON.parse(begun.text) }])
        expect([language, status, json]).toMatchObject([
          language,
          422,
          { reason: 'invalid-data', message: expect.stringMatching(MESSAGE) },
        ])
    }
  })

  it('that has no words falls back, and the answer names the language used', async () => {
    const { session } = await enroll(service, 'bob')
    await service.call('PATCH', '/organization/language', { body: { default_language: 'it' } })
    const key = await keyOfLink('carl')
    for (const language of UNKNOWN) {
      expect((await service.call('GET', `/users/bob?language=${language}`)).json.suggestedWordsLanguage).toBe('it')
      const page = await ask(`/b/${key}?language=${language}`)
      expect([page.status, page.language]).toEqual([200, 'it'])
      expect(page.text).toContain('<html lang="it">')
      expect(await ask(`/try?language=${language}`)).toMatchObject({ status: 200, language: 'en' })
      const begun = await ask(`/try/begin?language=${language}`, { method: 'POST' })
      expect([begun.status, JSON.parse(begun.text).suggestedWordsLanguage]).toEqual([200, 'en'])
    }
    const body = stranger()
    const failed = await service.call('POST', '/users/bob/verify?language=xx', { session, body })
    expect([failed.status, failed.json.nextAttempt.suggestedWordsLanguage]).toEqual([200, 'it'])
  })

  it('never prevents a page from opening, for any value', async () => {
    const key = await keyOfLink('dora')
    for (const language of ['xx-!!', '', 'e', '-fr'].map(encodeURIComponent)) {
      expect(await ask(`/b/${key}?language=${language}`)).toMatchObject({ status: 200, language: 'it' })
      expect(await ask(`/b/unknown?language=${language}`)).toMatchObject({ status: 404, language: 'en' })
      expect(await ask(`/try?language=${language}`)).toMatchObject({ status: 200, language: 'en' })
    }
  })
})
