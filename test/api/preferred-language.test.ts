import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, type TestService } from '../service.js'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})
afterAll(() => service.close())

const prefer = (userRef: string, body: unknown, query = '') =>
  service.call('PUT', `/users/${userRef}/preferred-language${query}`, { body })
const wordsOf = async (userRef: string, query = '') =>
  (await service.call('GET', `/users/${userRef}${query}`, { headers: { 'accept-language': 'de' } })).json
    .suggestedWordsLanguage

describe('PUT /users/{userRef}/preferred-language', () => {
  it('has priority over the language query, the browser and the organization, until null clears it', async () => {
    await service.call('POST', '/users/ann')
    expect(await wordsOf('ann')).toBe('de')
    const set = await prefer('ANN ', { language: 'FR-ch' })
    expect(set.json).toMatchObject({ userRef: 'ann', memberRef: 'ann', language: 'fr' })
    expect([await wordsOf('ann'), await wordsOf('ann', '?language=it')]).toEqual(['fr', 'fr'])
    await service.call('PATCH', '/organization/language', { body: { default_language: 'nl', language_mode: 'forced' } })
    expect(await wordsOf('ann')).toBe('fr')
    expect((await prefer('ann', { language: null })).json.language).toBeNull()
    expect([await wordsOf('ann'), await wordsOf('ann', '?language=it')]).toEqual(['nl', 'it'])
    expect((await prefer('ann', { language: null })).status).toBe(200)
  })

  it('is 422 for a language without words, and without a language', async () => {
    await service.call('POST', '/users/bob')
    for (const body of [{ language: 'tlh' }, { language: '' }, { language: 7 }, {}, []]) {
      const { status, json } = await prefer('bob', body)
      expect([body, status, json.reason]).toEqual([body, 422, 'invalid-data'])
    }
    expect((await prefer('bob', { language: 'tlh' })).json.message).toContain('en, fr, de, es, it, pt, nl')
    expect((await service.call('PUT', '/users/bob/preferred-language')).status).toBe(422)
  })

  it('is 404 for an unknown user, and 400 for another member of a nominative account', async () => {
    const absent = await prefer('nobody', { language: 'fr' })
    expect([absent.status, absent.json.reason]).toEqual([404, 'user-not-found'])
    await service.call('POST', '/users/carl')
    expect((await prefer('carl', { language: 'fr' }, '?member_ref=else')).status).toBe(400)
    expect((await prefer('carl', { language: 'fr' }, '?member_ref=CARL')).json.language).toBe('fr')
  })

  it('is per member on a shared account, and the member must be named', async () => {
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'Dora' } })
    await service.call('POST', '/users/desk', { body: { type: 'generic', member_ref: 'fay' } })
    const unnamed = await prefer('desk', { language: 'fr' })
    expect([unnamed.status, unnamed.json.reason]).toEqual([400, 'invalid-data'])
    expect((await prefer('desk', { language: 'fr' }, '?member_ref=eve')).status).toBe(404)
    const set = await prefer('desk', { language: 'fr' }, '?member_ref=Dora')
    expect(set.json).toMatchObject({ userRef: 'desk', memberRef: 'dora', language: 'fr' })
    expect((await prefer('desk', { language: 'it', member_ref: 'FAY' })).json).toMatchObject({ memberRef: 'fay' })
    expect((await prefer('desk', { language: 'it', member_ref: 'fay' }, '?member_ref=dora')).status).toBe(400)
    const words = ['dora', 'fay'].map((memberRef) => wordsOf('desk', `?member_ref=${memberRef}`))
    expect(await Promise.all(words)).toEqual(['fr', 'it'])
  })
})
