import { describe, expect, it } from 'vitest'
import { until } from '../harness/patience.js'
import { type Answer, sharedService } from '../harness/service.js'
import { secondService } from './second-service.js'

const PATH = '/organization/language'
const LANGUAGES = 'en, fr, de, es, it, pt, nl'
const service = await sharedService()

const change = (body: unknown) => service.call('PATCH', PATH, { body })
const prefer = (userRef: string, body: unknown, query = '') =>
  service.call('PUT', `/users/${userRef}/preferred-language${query}`, { body })
/** Language of the words for a user with a German browser. */
const wordsOf = async (userRef: string, query = '') =>
  (await service.call('GET', `/users/${userRef}${query}`, { headers: { 'accept-language': 'de-AT, en;q=0.5' } })).json
    .suggestedWordsLanguage
const setting = ({ json }: Answer) => [json.default_language, json.language_mode]
const refusal = ({ status, json }: Answer) => [status, json.reason]

describe('the language of an organization', () => {
  it('is English, following the browser, by default; it changes by either field or both, at once', async () => {
    expect(setting(await service.call('GET', PATH))).toEqual(['en', 'auto'])
    for (const [body, wanted, words] of [
      [{ default_language: 'fr' }, ['fr', 'auto'], 'de'],
      [{ language_mode: 'forced' }, ['fr', 'forced'], 'fr'],
      [{ default_language: 'pt-BR', language_mode: 'auto' }, ['pt', 'auto'], 'de'],
    ] as const) {
      expect(setting(await change(body))).toEqual(wanted)
      expect(await wordsOf('nobody')).toBe(words)
      expect(await wordsOf('nobody', '?language=it')).toBe('it')
    }
  })

  it('is refused if it has no words, naming those that have some, and nothing changes', async () => {
    const { json, ...answer } = await change({ default_language: 'tlh', language_mode: 'forced' })
    expect(refusal({ json, ...answer })).toEqual([422, 'invalid-data'])
    expect(json.message).toContain(LANGUAGES)
    expect(json.message).not.toContain('tlh')
    for (const body of [{}, { default_language: null }, { language_mode: 'AUTO' }, { default_language: 7 }, []])
      expect([body, (await change(body)).status]).toEqual([body, 422])
    expect((await service.call('PATCH', PATH)).status).toBe(422)
    expect(setting(await service.call('GET', PATH))).toEqual(['pt', 'auto'])
  })

  it('keeps both fields of two concurrent changes', async () => {
    await Promise.all([change({ default_language: 'nl' }), change({ language_mode: 'forced' })])
    expect(setting(await service.call('GET', PATH))).toEqual(['nl', 'forced'])
  })

  it('is followed by another process, as its own words are', async () => {
    const second = await secondService(service)
    const there = async () => (await second.call('GET', '/users/nobody')).json
    const wordId = async () => (await second.call('GET', '/organization/typing-words?core=false')).json.words[0]?.id
    expect([(await there()).suggestedWordsLanguage, await wordId()]).toEqual(['nl', undefined])
    await change({ default_language: 'it' })
    await until(async () => (await there()).suggestedWordsLanguage === 'it')
    const { id } = (await service.call('POST', '/organization/typing-words', { body: { word: 'gnu', language: 'it' } }))
      .json
    await until(async () => (await wordId()) === id)
    await second.close()
  })
})

describe('PUT /users/{userRef}/preferred-language', () => {
  it('has priority over the language query, the browser and the organization, until null clears it', async () => {
    await service.call('POST', '/users/ann')
    await change({ default_language: 'nl', language_mode: 'forced' })
    const set = await prefer('ANN ', { language: 'FR-ch' })
    expect(set.json).toMatchObject({ userRef: 'ann', memberRef: 'ann', language: 'fr' })
    expect([await wordsOf('ann'), await wordsOf('ann', '?language=it')]).toEqual(['fr', 'fr'])
    for (let i = 0; i < 2; i++) expect((await prefer('ann', { language: null })).json.language).toBeNull()
    expect([await wordsOf('ann'), await wordsOf('ann', '?language=it')]).toEqual(['nl', 'it'])
  })

  it('is 422 for a language without words, and without a language; 404 for an unknown user', async () => {
    for (const body of [{ language: 'tlh' }, { language: '' }, { language: 7 }, {}, [], undefined])
      expect([body, ...refusal(await prefer('ann', body))]).toEqual([body, 422, 'invalid-data'])
    expect((await prefer('ann', { language: 'tlh' })).json.message).toContain(LANGUAGES)
    expect(refusal(await prefer('nobody', { language: 'fr' }))).toEqual([404, 'user-not-found'])
    expect((await prefer('ann', { language: 'fr' }, '?member_ref=else')).status).toBe(400)
  })

  it('is per member on a shared account, and the member must be named', async () => {
    for (const member_ref of ['Dora', 'fay'])
      await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref } })
    expect(refusal(await prefer('desk', { language: 'fr' }))).toEqual([400, 'invalid-data'])
    expect((await prefer('desk', { language: 'fr' }, '?member_ref=eve')).status).toBe(404)
    const set = await prefer('desk', { language: 'fr' }, '?member_ref=Dora')
    expect(set.json).toMatchObject({ userRef: 'desk', memberRef: 'dora', language: 'fr' })
    expect((await prefer('desk', { language: 'it', member_ref: 'FAY' })).json).toMatchObject({ memberRef: 'fay' })
    expect((await prefer('desk', { language: 'it', member_ref: 'fay' }, '?member_ref=dora')).status).toBe(400)
    const words = ['dora', 'fay'].map((memberRef) => wordsOf('desk', `?member_ref=${memberRef}`))
    expect(await Promise.all(words)).toEqual(['fr', 'it'])
  })
})
