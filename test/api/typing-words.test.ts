import { v7 as uuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { OWN_WORDS_MAX, type TypingWord, USABLE_WORDS_MIN } from '../../src/domain/own-words.js'
import { SUGGESTED_KEY_PRESSES } from '../../src/domain/suggested-words.js'
import { coreWords, LANGUAGES, type Language } from '../../src/domain/typing-words.js'
import { coreWordId } from '../../src/flows/organization/core-word-ids.js'
import { enroll } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'
import { ownRows } from './own-rows.js'
import { speakingFor } from './second-service.js'

const WORDS = '/organization/typing-words'
const UNKNOWN_ID = '0198c0de-0000-7000-8000-000000000000'
const service = await sharedService()
const rows = ownRows(service)

const list = async (query = ''): Promise<TypingWord[]> => (await service.call('GET', `${WORDS}${query}`)).json.words
const add = (word: string, language = 'en') => service.call('POST', WORDS, { body: { word, language } })
const change = (body: unknown) => service.call('PATCH', WORDS, { body })
const remove = (id: string) => service.call('DELETE', WORDS, { body: { id } })
const refusal = ({ status, json }: Answer) => [status, json.reason]
const core = (language: Language, i: number) => {
  const word = coreWords(language)[i] ?? ''
  return { id: coreWordId(language, word), word }
}
/** Stores many words at once, as if another process stored them. */
const stored = (words: readonly (Omit<TypingWord, 'id'> & { id?: string })[]) =>
  rows(async (sql) => {
    const json = JSON.stringify(words.map((word) => ({ id: uuid(), ...word })))
    await sql`update keystride.organization set words_version = words_version + 1`
    await sql`
      insert into keystride.typing_word (organization_id, id, language, word, core, enabled)
      select ${service.organizationId}, x.id, x.language, x.word, x.core, x.enabled
      from jsonb_to_recordset(${json}::text::jsonb)
        as x (id uuid, language text, word text, core boolean, enabled boolean)`
  })
const ownWords = (language: Language, words: readonly string[]) =>
  stored(words.map((word) => ({ word, language, core: false, enabled: true })))

describe('GET /organization/typing-words', () => {
  it('lists every shipped word, 400 or more a language, with an id of its own', async () => {
    const words = await list()
    expect(new Set(words.map(({ id }) => id)).size).toBe(words.length)
    for (const language of LANGUAGES) {
      const shipped = words.filter((word) => word.core && word.language === language)
      expect(shipped.length).toBeGreaterThanOrEqual(400)
      expect(shipped.map(({ word }) => word)).toEqual(coreWords(language))
    }
  })

  it('filters by language, origin and state', async () => {
    const { json: quokka } = await add('quokka', 'it')
    const { json: vuvuzela } = await add('vuvuzela', 'it')
    await change({ id: vuvuzela.id, enabled: false })
    await change({ id: core('it', 0).id, enabled: false })
    const italian = await list('?language=it')
    expect(italian.slice(0, 2).map(({ word }) => word)).toEqual(['quokka', 'vuvuzela'])
    expect(italian).toHaveLength(coreWords('it').length + 2)
    expect(await list('?language=it-CH')).toEqual(italian)
    expect(await list('?language=it&core=false')).toEqual(italian.filter((word) => !word.core))
    expect((await list('?language=it&core=false&enabled=true')).map(({ id }) => id)).toEqual([quokka.id])
    expect((await list('?language=it&enabled=false')).map(({ id }) => id)).toEqual([vuvuzela.id, core('it', 0).id])
  })

  it('refuses a filter that it does not know, naming the languages', async () => {
    for (const query of ['language=tlh', 'language=', 'enabled=maybe'])
      expect(refusal(await service.call('GET', `${WORDS}?${query}`))).toEqual([422, 'invalid-data'])
    const { json } = await service.call('GET', `${WORDS}?language=tlh`)
    expect(json.message).toContain('en, fr, de, es, it, pt, nl')
  })

  it('knows core words by ids that are the same on every installation', () => {
    expect(coreWordId('en', 'house')).toBe('1119b0e8-bc4a-5e5b-8325-abbfa97f26b7')
    expect(coreWordId('fr', 'maison')).toBe('63817b86-56c4-5dfe-b0b7-c6392dff81b3')
  })
})

describe('POST /organization/typing-words', () => {
  it('adds a word in its normal form', async () => {
    const { status, json } = await add('Brouhaha', 'FR-ca')
    const word = { word: 'brouhaha', language: 'fr', core: false, enabled: true }
    expect([status, json]).toMatchObject([201, word])
    expect((await list('?language=fr'))[0]).toEqual({ id: json.id, ...word })
  })

  it('duplicate typing word: 409 invalid-action, own or shipped, in any spelling', async () => {
    expect((await add("p'tit-déj", 'fr')).status).toBe(201)
    for (const same of ["p'tit-déj", "P'TIT-DÉJ", 'p’tit‐de\u0301j', coreWords('fr')[7]?.toUpperCase() ?? ''])
      expect(refusal(await add(same, 'fr'))).toEqual([409, 'invalid-action'])
    expect((await add("p'tit-déj", 'nl')).status).toBe(201)
  })

  it('is 422 for an invalid word, without repeating it', async () => {
    for (const word of ['', 'a', 'two words', 'tab\tbed', '<script>', 'слово', '9lives', 'x'.repeat(25), 7, null]) {
      const { status, json } = await service.call('POST', WORDS, { body: { word, language: 'en' } })
      expect([word, status, json.reason]).toEqual([word, 422, 'invalid-data'])
      expect(json.message).toMatch(/^word: /)
      if (typeof word === 'string' && word.length > 1) expect(json.message).not.toContain(word)
    }
    expect((await add('word', 'tlh')).json.message).toContain('en, fr, de, es, it, pt, nl')
    for (const body of [{ language: 'en' }, undefined])
      expect((await service.call('POST', WORDS, { body })).status).toBe(422)
  })

  it('creates one word for concurrent calls with the same word', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => add(i % 2 === 0 ? 'zephyr' : 'ZEPHYR')))
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    expect((await list('?language=en&core=false')).filter(({ word }) => word === 'zephyr')).toHaveLength(1)
  })

  it(`accepts ${OWN_WORDS_MAX} own words in a language, the next is 409`, async () => {
    await ownWords(
      'pt',
      Array.from({ length: OWN_WORDS_MAX - 1 }, (_, i) => `zq${i}`),
    )
    expect((await add('zephyr', 'pt')).status).toBe(201)
    const past = await add('quokka', 'pt')
    expect(refusal(past)).toEqual([409, 'invalid-action'])
    expect(past.json.message).toContain(String(OWN_WORDS_MAX))
    expect((await list('?language=pt')).length).toBe(coreWords('pt').length + OWN_WORDS_MAX)
  })
})

describe('PATCH /organization/typing-words', () => {
  it('edits, disables and enables an own word', async () => {
    const { id } = (await add('wombat')).json
    expect((await change({ id, word: 'Koala' })).json).toMatchObject({ id, word: 'koala', enabled: true })
    expect((await change({ id, enabled: false })).json).toMatchObject({ id, word: 'koala', enabled: false })
    const dingo = { id, word: 'dingo', language: 'en', core: false, enabled: true }
    expect((await change({ id: id.toUpperCase(), enabled: true, word: 'dingo' })).json).toMatchObject(dingo)
    expect(await list('?core=false&language=en')).toContainEqual(dingo)
    expect((await change({ id, word: core('en', 3).word })).status).toBe(409)
    expect((await change({ id, word: 'dingo' })).status).toBe(200)
  })

  it('core platform words can be disabled but not edited: 403', async () => {
    const { id, word } = core('de', 5)
    for (const body of [
      { id, word },
      { id, word: 'changed', enabled: false },
    ])
      expect(refusal(await change(body))).toEqual([403, 'invalid-action'])
    const state = async () => (await list('?language=de')).find((listed) => listed.id === id)
    expect(await state()).toEqual({ id, word, language: 'de', core: true, enabled: true })
    for (let i = 0; i < 2; i++)
      expect((await change({ id, enabled: false })).json).toMatchObject({ id, word, core: true, enabled: false })
    expect(await state()).toMatchObject({ enabled: false })
    expect((await change({ id: id.toUpperCase(), enabled: true })).json).toMatchObject({ id, enabled: true })
    expect(await state()).toMatchObject({ enabled: true })
  })

  it('requires a change and an existing id', async () => {
    const { id } = core('de', 6)
    for (const body of [{ id }, { id, enabled: 'no' }, { id, enabled: null }, { id: 'nonsense', enabled: false }])
      expect((await change(body)).status).toBe(422)
    expect(refusal(await change({ id: UNKNOWN_ID, enabled: false }))).toEqual([404, 'invalid-data'])
  })

  it('does not find a disabled core word that only an earlier version shipped', async () => {
    const id = '0198c0de-0000-5000-8000-000000000000'
    await stored([{ id, word: 'floppy', language: 'en', core: true, enabled: false }])
    expect((await change({ id, enabled: true })).status).toBe(404)
    expect((await remove(id)).status).toBe(404)
    expect((await list('?language=en')).find((word) => word.id === id)).toBeUndefined()
  })
})

describe('DELETE /organization/typing-words', () => {
  it('deletes an own word once', async () => {
    const { id } = (await add('numbat')).json
    const both = await Promise.all([remove(id), remove(id)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])
    expect(both.find(({ status }) => status === 200)?.json).toMatchObject({ id, word: 'numbat' })
    expect((await add('numbat')).status).toBe(201)
  })

  it('core platform words cannot be deleted: 403; an unknown id is 404, no id 422', async () => {
    const { id } = core('es', 0)
    expect(refusal(await remove(id))).toEqual([403, 'invalid-action'])
    expect((await list('?language=es'))[0]).toMatchObject({ id, enabled: true })
    expect((await remove(UNKNOWN_ID)).status).toBe(404)
    for (const body of [{}, undefined]) expect((await service.call('DELETE', WORDS, { body })).status).toBe(422)
  })
})

it('another organization has the same core words, and its own words and states', async () => {
  const { id } = (await add('capybara')).json
  await change({ id: core('en', 9).id, enabled: false })
  const { organizationId, apikey } = await service.another()
  const other = speakingFor(service, organizationId, apikey)
  for (const [method, body] of [
    ['PATCH', { id, enabled: false }],
    ['PATCH', { id, word: 'stolen' }],
    ['DELETE', { id }],
  ] as const)
    expect((await other.call(method, WORDS, { body })).status).toBe(404)
  const theirs: TypingWord[] = (await other.call('GET', WORDS)).json.words
  expect(theirs.filter((word) => !word.core || !word.enabled)).toEqual([])
  expect(theirs.find(({ word }) => word === core('en', 9).word)?.id).toBe(core('en', 9).id)
  expect((await other.call('POST', WORDS, { body: { word: 'capybara', language: 'en' } })).status).toBe(201)
  expect((await list('?core=false')).find((word) => word.id === id)).toMatchObject({ enabled: true })
})

it('GET /organization/typing-words/languages names the languages and counts their words', async () => {
  await add('gnu', 'nl')
  const { id } = (await add('okapi', 'nl')).json
  for (const disabled of [id, core('nl', 0).id]) await change({ id: disabled, enabled: false })
  const { languages } = (await service.call('GET', `${WORDS}/languages`)).json
  expect(languages.map(({ language }: { language: string }) => language)).toEqual([...LANGUAGES])
  expect(languages.find(({ language }: { language: string }) => language === 'nl')).toEqual({
    language: 'nl',
    name: 'Nederlands',
    nCore: coreWords('nl').length,
    nOwn: (await list('?language=nl&core=false')).length,
    nEnabled: (await list('?language=nl&enabled=true')).length,
  })
})

describe('suggested words', () => {
  const words = async (userRef: string, language: Language): Promise<string[]> =>
    (await service.call('GET', `/users/${userRef}?language=${language}`)).json.suggestedWords

  it(`come from the enabled words only, immediately; a language keeps ${USABLE_WORDS_MIN} of them`, async () => {
    const own = [...'abcdefghijklmnopqrstuvwxyzéèàù'].slice(0, USABLE_WORDS_MIN).map((letter) => `zz${letter}`)
    await ownWords('es', own)
    const [first = '', ...rest] = coreWords('es')
    await stored(rest.map((word) => ({ id: coreWordId('es', word), word, language: 'es', core: true, enabled: false })))
    expect((await change({ id: coreWordId('es', first), enabled: false })).status).toBe(200)
    for (let n = 0; n < 50; n++) {
      const drawn = await words('nobody', 'es')
      expect(drawn.filter((word) => !own.includes(word))).toEqual([])
      expect(new Set(drawn).size).toBe(drawn.length)
      expect(drawn.join(' ').length).toBeGreaterThanOrEqual(SUGGESTED_KEY_PRESSES)
    }
    const [one] = await list('?language=es&core=false')
    for (const refused of [await change({ id: one?.id, enabled: false }), await remove(one?.id ?? '')]) {
      expect(refusal(refused)).toEqual([409, 'invalid-action'])
      expect(refused.json.message).toContain(String(USABLE_WORDS_MIN))
    }
    await change({ id: coreWordId('es', first), enabled: true })
    expect((await remove(one?.id ?? '')).status).toBe(200)
  })

  it('of a first pattern are the same before and after the account exists, in any order, and others for other people', async () => {
    const drawn = async (userRef: string) =>
      new Set((await Promise.all(Array.from({ length: 10 }, () => words(userRef, 'pt')))).flat())
    const before = await drawn('first-words')
    await service.call('POST', '/users/first-words')
    expect([...(await drawn('first-words'))].sort()).toEqual([...before].sort())
    const others = await Promise.all(Array.from({ length: 12 }, (_, i) => drawn(`other-words-${i}`)))
    expect(new Set(others.map((one) => [...one].sort().join())).size).toBeGreaterThan(2)
  })

  it('of sign-ins come from no earlier pattern of the person', async () => {
    const who = await enroll(service, 'fresh-words', 0)
    const { session } = who
    let shown = (await service.bootstrap('fresh-words')).json
    const seen = new Set<string>()
    const isNew = () => {
      const before = shown.suggestedWords.filter((word: string) => seen.has(word))
      for (const word of shown.suggestedWords) seen.add(word)
      return before
    }
    for (let stored = 0; stored < 5; ) {
      const body = who.fresh(shown.suggestedWords.join(' '))
      const { status, json } = await service.call('POST', '/users/fresh-words/typing-patterns', { session, body })
      if (status !== 200) continue
      expect(isNew()).toEqual([])
      stored++
      shown = json
    }
    for (let signIn = 0; signIn < 20; signIn++) {
      const begun = await service.bootstrap('fresh-words')
      shown = begun.json
      expect(isNew()).toEqual([])
      const body = who.fresh(shown.suggestedWords.join(' '))
      const { json } = await service.call('POST', '/users/fresh-words/verify', { session: begun.session, body })
      if (!json.authentication.authenticated)
        await service.dashboard('POST', '/users/fresh-words/actions', { body: { action: 'unlock' } })
    }
  })
})
