import { afterEach, describe, expect, it } from 'vitest'
import { INVALID_PATTERNS_MAX } from '../../src/domain/invalid-patterns.js'
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import { machine, text } from '../harness/enrolled.js'
import { type Answer, sharedService } from '../harness/service.js'

const service = await sharedService()

async function setWords(words: Policy['words']): Promise<void> {
  const { id } = (await service.dashboard('GET', '/default-policy')).json.data
  const { json } = await service.dashboard('PUT', `/policies/${id}`, { body: { ...DEFAULT_POLICY, words, groups: [] } })
  expect(json.data.words).toBe(words)
}

interface Typist {
  readonly userRef: string
  readonly who: MadeUpPerson
  /** A pattern of these words, typed for the first time. */
  readonly types: (words: readonly string[], mode?: 'visible' | 'sensitive') => unknown
}

let people = 0
function typist(): Typist {
  people++
  const who = person(7100 + people)
  let typed = 0
  return {
    userRef: `words-${people}`,
    who,
    types: (words, mode = 'visible') => who.types(words.join(' '), ++typed, { mode }),
  }
}
const wordsOf = (json: { suggestedWords: string[] }) => json.suggestedWords
const bootstrap = (userRef: string, session?: string) =>
  service.call('GET', `/users/${userRef}`, session === undefined ? {} : { session })
const enrollBy = ({ userRef }: Typist, session: string, body: unknown, query = '') =>
  service.call('POST', `/users/${userRef}/typing-patterns${query}`, { session, body })
const verifyBy = ({ userRef }: Typist, session: string, body: unknown, query = '') =>
  service.call('POST', `/users/${userRef}/verify${query}`, { session, body })

/** Enrolls the words of each answer; made-up people are sometimes taken for machines, and then type the same words again. */
async function enrolled(query = ''): Promise<Typist> {
  const one = typist()
  await service.call('POST', `/users/${one.userRef}`)
  const { session, json } = await service.bootstrap(one.userRef)
  let words = wordsOf(json)
  for (let stored = 0; stored < 5; ) {
    const answer = await enrollBy(one, session, one.types(words), query)
    if (answer.status !== 200) expect(answer.json.reason).toBe('detection-bot')
    else {
      stored++
      expect(wordsOf(answer.json)).not.toEqual(words)
      words = wordsOf(answer.json)
    }
  }
  return one
}

const typedWords = async ({ authentication }: { authentication: { id: string } }) =>
  (await service.dashboard('GET', `/authentications/${authentication.id}`)).json.data.typed_words
const refused = ({ status, json }: Answer) => {
  expect([status, json.reason]).toEqual([422, 'invalid-data'])
  return json.message as string
}
const TYPE_THEM = /^type the words of this session: .*bootstrap or of nextAttempt/

describe('words of a session', () => {
  afterEach(() => setWords('suggest'))

  it('by the policy suggest are recorded as issued, other or masked, and nothing is refused', async () => {
    const one = await enrolled()
    const { session, json } = await service.bootstrap(one.userRef)
    const answers = [
      await verifyBy(one, session, one.types(wordsOf(json))),
      await verifyBy(one, (await service.bootstrap(one.userRef)).session, one.types(text(1).split(' '))),
      await verifyBy(one, (await service.bootstrap(one.userRef)).session, one.types(wordsOf(json), 'sensitive')),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const found = await Promise.all(answers.map((answer) => typedWords(answer.json)))
    expect(found).toEqual(['issued', 'other', 'masked'])
    const { data } = (await service.dashboard('GET', `/authentications?user_ref=${one.userRef}`)).json
    expect(data.map((row: { typed_words: string }) => row.typed_words)).toEqual(['masked', 'other', 'issued'])
    const [first] = answers
    const trace = await service.dashboard('GET', `/authentication/${first?.json.authentication.id}/trace`)
    expect(trace.json.data.typed_words).toBe('issued')
  })

  it('are used up by one judged attempt, and nextAttempt issues the next ones', async () => {
    const one = await enrolled()
    const { session, json } = await service.bootstrap(one.userRef)
    const slow = person(9)
    const failing = await verifyBy(one, session, slow.types(wordsOf(json).join(' '), 1, { tempo: 2 }))
    expect(failing.json.action).toBe('rejected')
    const next = wordsOf(failing.json.nextAttempt)
    expect(next).not.toEqual(wordsOf(json))
    const again = await verifyBy(one, session, slow.types(wordsOf(json).join(' '), 2, { tempo: 2 }))
    const third = await verifyBy(one, session, slow.types(wordsOf(again.json.nextAttempt).join(' '), 3, { tempo: 2 }))
    expect(await Promise.all([failing, again, third].map((answer) => typedWords(answer.json)))).toEqual([
      'issued',
      'other',
      'issued',
    ])
    expect(wordsOf((await bootstrap(one.userRef, session)).json)).toEqual(wordsOf(third.json.nextAttempt))
  })

  it('are the same for a page that is loaded again, others in another session, and new ones in another language', async () => {
    const one = typist()
    const { session, json } = await service.bootstrap(one.userRef)
    expect(wordsOf((await bootstrap(one.userRef, session)).json)).toEqual(wordsOf(json))
    expect(wordsOf((await bootstrap(one.userRef)).json)).not.toEqual(wordsOf(json))
    const french = await service.call('GET', `/users/${one.userRef}?language=fr`, { session })
    expect(french.json.suggestedWordsLanguage).toBe('fr')
    const back = await bootstrap(one.userRef, session)
    expect(wordsOf(back.json)).not.toEqual(wordsOf(json))
  })

  it('stay the same if the organization disables one of them meanwhile', async () => {
    const one = await enrolled()
    const { session, json } = await service.bootstrap(one.userRef)
    const { words } = (await service.call('GET', '/organization/typing-words?language=en')).json
    const own = words.find(({ word }: { word: string }) => word === wordsOf(json)[0])
    const enable = (enabled: boolean) =>
      service.call('PATCH', '/organization/typing-words', { body: { id: own.id, enabled } })
    await enable(false)
    await setWords('require')
    expect((await verifyBy(one, session, one.types(wordsOf(json)))).status).toBe(200)
    await enable(true)
  })

  it('by the policy require are demanded: another text is 422, not judged, and uses up no attempt', async () => {
    await setWords('require')
    const one = await enrolled()
    const { session, json } = await service.bootstrap(one.userRef)
    for (let i = 0; i < 4; i++)
      expect(refused(await verifyBy(one, session, one.types(text(10 + i).split(' '))))).toMatch(TYPE_THEM)
    expect(refused(await verifyBy(one, session, one.types(wordsOf(json), 'sensitive')))).toMatch(/mode visible/)
    expect(wordsOf((await bootstrap(one.userRef, session)).json)).toEqual(wordsOf(json))
    const right = await verifyBy(one, session, one.types(wordsOf(json)))
    expect(right.status).toBe(200)
    expect(await typedWords(right.json)).toBe('issued')
    const { count } = (await service.dashboard('GET', `/authentications?user_ref=${one.userRef}`)).json
    expect(count).toBe(1)
    expect(refused(await verifyBy(one, session, one.types(wordsOf(json))))).toMatch(TYPE_THEM)
  })

  it('are demanded by the call alone under the policy suggest', async () => {
    const one = await enrolled('?words=require')
    const { session, json } = await service.bootstrap(one.userRef)
    expect(refused(await verifyBy(one, session, one.types(text(20).split(' ')), '?words=require'))).toMatch(TYPE_THEM)
    expect((await verifyBy(one, session, one.types(wordsOf(json)), '?words=require')).status).toBe(200)
    expect((await verifyBy(one, session, one.types(text(21).split(' ')), '?words=other')).status).toBe(422)
  })

  it('are demanded at an enrollment, where a refused pattern does not use them up and a stored one does', async () => {
    await setWords('require')
    const one = typist()
    await service.call('POST', `/users/${one.userRef}`)
    const { session, json } = await service.bootstrap(one.userRef)
    expect(refused(await enrollBy(one, session, one.types(text(30).split(' '))))).toMatch(TYPE_THEM)
    expect((await enrollBy(one, session, machine(90))).json.reason).toBe('detection-bot')
    let stored = await enrollBy(one, session, one.types(wordsOf(json)))
    while (stored.json.reason === 'detection-bot') stored = await enrollBy(one, session, one.types(wordsOf(json)))
    expect([stored.status, stored.json.created]).toEqual([200, true])
    expect(refused(await enrollBy(one, session, one.types(wordsOf(json))))).toMatch(TYPE_THEM)
    expect(wordsOf((await bootstrap(one.userRef, session)).json)).toEqual(wordsOf(stored.json))
  })

  it('count as invalid patterns where they are not typed', async () => {
    await setWords('require')
    const one = await enrolled()
    const { session } = await service.bootstrap(one.userRef)
    const statuses: number[] = []
    for (let i = 0; i <= INVALID_PATTERNS_MAX; i++)
      statuses.push((await verifyBy(one, session, one.types(text(40 + i).split(' ')))).status)
    expect(statuses.slice(0, INVALID_PATTERNS_MAX - 5).every((status) => status === 422)).toBe(true)
    expect(statuses.at(-1)).toBe(429)
  })

  it('are unknown to legacy calls, which are other, and refused by the policy require', async () => {
    const one = await enrolled()
    const legacy = async (session?: string) =>
      service.call('POST', `/user-verify/${one.userRef}`, {
        body: one.types(wordsOf((await bootstrap(one.userRef, session)).json)),
        ...(session === undefined ? {} : { session }),
      })
    const { session } = await service.bootstrap(one.userRef)
    for (const answer of [await legacy(), await legacy(session)]) expect(await typedWords(answer.json)).toBe('other')
    await setWords('require')
    expect(refused(await legacy())).toMatch(TYPE_THEM)
    expect(refused(await legacy(session))).toMatch(TYPE_THEM)
  })

  it('are of no account to a security code', async () => {
    await setWords('require')
    const one = await enrolled()
    const { session, json } = await service.bootstrap(one.userRef)
    await service.call('PUT', `/users/${one.userRef}/security-code`, { session, body: { securityCode: '749205' } })
    const wrong = await verifyBy(one, session, { securityCode: '391058' })
    expect(wordsOf(wrong.json.nextAttempt)).toEqual(wordsOf(json))
    const right = await verifyBy(one, session, { securityCode: '749205' })
    expect([right.json.authentication.authenticated, await typedWords(right.json)]).toEqual([true, null])
  })
})

describe('a failed attempt', () => {
  it('is answered with confidences in tenths, which the dashboard has exactly', async () => {
    const one = await enrolled()
    let tenths = 0
    for (let i = 0; i < 3; i++) {
      const { session, json } = await service.bootstrap(one.userRef)
      const body = person(8000 + i).types(wordsOf(json).join(' '), 1)
      const { authentication } = (await verifyBy(one, session, body)).json
      const exact = (await service.dashboard('GET', `/authentications/${authentication.id}`)).json.data
      const shown = [authentication.confidence, authentication.confidenceBiometrics, authentication.confidenceContext]
      const stored = [
        exact.confidence,
        exact.confidence_biometrics,
        exact.confidence_context ?? exact.confidence_biometrics,
      ]
      const expected = authentication.authenticated ? stored : stored.map((value) => Math.round(10 * value) / 10)
      expect(shown).toEqual(expected)
      if (!authentication.authenticated && exact.confidence !== authentication.confidence) tenths++
    }
    expect(tenths).toBeGreaterThan(0)
  })
})
