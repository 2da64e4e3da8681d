import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase } from '../servers/database.js'
import { startService, type TestService } from '../service.js'

const PATH = '/organization/language'
let service: TestService
let databaseUrl: string
beforeAll(async () => {
  databaseUrl = (await freshDatabase()).url
  service = await startService(databaseUrl)
})
afterAll(() => service.close())

const setting = async () => {
  const { default_language, language_mode } = (await service.call('GET', PATH)).json
  return [default_language, language_mode]
}
const change = (body: unknown) => service.call('PATCH', PATH, { body })
/** Language of the words for an unknown user with a German browser. */
const wordsOf = async (query = '') =>
  (await service.call('GET', `/users/nobody${query}`, { headers: { 'accept-language': 'de' } })).json
    .suggestedWordsLanguage

describe('the language setting', () => {
  it('is English, following the browser, by default', async () => {
    expect(await setting()).toEqual(['en', 'auto'])
    expect(await wordsOf()).toBe('de')
  })

  it('changes by either field or both, answers the result and takes effect at once', async () => {
    expect((await change({ default_language: 'fr' })).json).toMatchObject({
      default_language: 'fr',
      language_mode: 'auto',
    })
    expect(await wordsOf()).toBe('de')
    expect((await change({ language_mode: 'forced' })).json).toMatchObject({
      default_language: 'fr',
      language_mode: 'forced',
    })
    expect(await setting()).toEqual(['fr', 'forced'])
    expect(await wordsOf()).toBe('fr')
    expect(await wordsOf('?language=it')).toBe('it')
    await change({ default_language: 'pt-BR', language_mode: 'auto' })
    expect(await setting()).toEqual(['pt', 'auto'])
    expect(await wordsOf()).toBe('de')
  })

  it('refuses a language without words, naming those that have some, and changes nothing', async () => {
    const before = await setting()
    const refused = await change({ default_language: 'tlh', language_mode: 'forced' })
    expect([refused.status, refused.json.reason]).toEqual([422, 'invalid-data'])
    expect(refused.json.message).toContain('en, fr, de, es, it, pt, nl')
    expect(refused.json.message).not.toContain('tlh')
    for (const body of [{}, { default_language: null }, { language_mode: 'AUTO' }, { default_language: 7 }, []]) {
      expect([body, (await change(body)).status]).toEqual([body, 422])
    }
    expect((await service.call('PATCH', PATH)).status).toBe(422)
    expect(await setting()).toEqual(before)
  })

  it('keeps both fields of two concurrent changes', async () => {
    await Promise.all([change({ default_language: 'nl' }), change({ language_mode: 'forced' })])
    expect(await setting()).toEqual(['nl', 'forced'])
  })

  it('is seen by another process within a second', async () => {
    const second = await startService(databaseUrl)
    try {
      const there = async () => (await second.call('GET', PATH)).json.default_language
      await change({ default_language: 'en' })
      await there()
      await change({ default_language: 'it' })
      const changedAt = performance.now()
      for (let askedAt = changedAt; (await there()) !== 'it'; askedAt = performance.now()) {
        expect(askedAt - changedAt).toBeLessThan(1_000)
      }
    } finally {
      await second.close()
    }
  })
})
