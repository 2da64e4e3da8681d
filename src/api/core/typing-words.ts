import { z } from 'zod'
import { OWN_WORDS_MAX, USABLE_WORDS_MIN, Word } from '../../domain/own-words.js'
import { LANGUAGES, LanguageTag } from '../../domain/typing-words.js'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

const LANGUAGE = `language code, one of ${LANGUAGES.join(', ')}; a region (pt-BR) is dropped`
const WORD =
  'stored in lower case (NFKC): 2 to 24 characters, a letter first, then Latin letters, digits, and single apostrophes ' +
  'or hyphens between them'
const TypingWordFields = {
  id: z.string().describe('a core word has the same id on every installation'),
  word: z.string(),
  language: z.enum(LANGUAGES),
  core: z.boolean().describe('shipped with the product; it can be disabled, but not edited or deleted'),
  enabled: z.boolean().describe('whether the word may be suggested'),
}
const TypingWordReply = z.object(TypingWordFields)
const WordId = z.uuid().toLowerCase()
/** Id of the core word `service`, for the example. */
const CORE_WORD_ID = '71ab40f5-ab47-5a61-bf52-0eb77a974a75'
const Flag = z.enum(['true', 'false'])
const flag = (text: 'true' | 'false' | undefined) => (text === undefined ? null : text === 'true')

const Row = { countedAs: 'other', lane: 'core', needsKey: true, needsSession: false, params: NoParams } as const
const IN_FORCE =
  'Suggested words reflect the change at once in the process that made it, within a second in every other.'

export const listTypingWords = coreRoute({
  ...Row,
  method: 'get',
  path: '/organization/typing-words',
  summary: 'Typing words of the organization: its own and the shipped ones',
  description:
    'Without a filter the answer has about 4,000 words (0.4 MB), because every language has hundreds of shipped words. ' +
    'Filter by language, or use core=false for own words only. Words that differ only in case or in the form of the apostrophe are one word. Own words come first, oldest first, then shipped words by ' +
    'frequency.',
  query: z.object({
    language: LanguageTag.optional().describe(`only this language: ${LANGUAGE}`),
    core: Flag.optional().describe('true for only shipped words, false for only own words'),
    enabled: Flag.optional().describe('true for only enabled words, false for only disabled words'),
  }),
  body: { kind: 'none' },
  replies: { 200: z.object({ words: z.array(TypingWordReply) }) },
  refuses: ['validation-failed'],
  async handle({ organizationId, query, services }) {
    const filter = { language: query.language ?? null, core: flag(query.core), enabled: flag(query.enabled) }
    return { status: 200, payload: { words: await services.typingWords.list(organizationId, filter) } }
  },
})

export const addTypingWord = coreRoute({
  ...Row,
  method: 'post',
  path: '/organization/typing-words',
  summary: 'Add a typing word',
  description:
    `A language has at most ${OWN_WORDS_MAX} own words: one more is 409. A word that the language already has, shipped ` +
    `or own, enabled or disabled, is 409. ${IN_FORCE}`,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({ word: Word.describe(WORD), language: LanguageTag.describe(LANGUAGE) })
      .meta({ examples: [{ word: 'keystride', language: 'en' }] }),
  },
  replies: { 201: TypingWordReply },
  refuses: ['validation-failed', 'typing-word-taken', 'typing-words-bound'],
  async handle({ organizationId, body, services }) {
    return { status: 201, payload: { ...(await services.typingWords.add(organizationId, body.language, body.word)) } }
  },
})

export const changeTypingWord = coreRoute({
  ...Row,
  method: 'patch',
  path: '/organization/typing-words',
  summary: 'Enable, disable or edit a typing word',
  description:
    'Requires enabled, word, or both. A shipped word accepts only enabled: word is 403, and nothing changes. A language ' +
    `keeps at least ${USABLE_WORDS_MIN} enabled words: a change that would leave fewer is 409. ${IN_FORCE}`,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        id: WordId.describe('id of a typing word'),
        enabled: z.boolean().optional().describe('whether the word may be suggested'),
        word: Word.optional().describe(WORD),
      })
      .refine(({ enabled, word }) => enabled !== undefined || word !== undefined, { error: 'requires enabled or word' })
      .meta({ examples: [{ id: CORE_WORD_ID, enabled: false }] }),
  },
  replies: { 200: TypingWordReply },
  refuses: ['validation-failed', 'core-word', 'typing-word-not-found', 'typing-word-taken', 'typing-words-bound'],
  async handle({ organizationId, body, services }) {
    return { status: 200, payload: { ...(await services.typingWords.change(organizationId, body.id, body)) } }
  },
})

export const deleteTypingWord = coreRoute({
  ...Row,
  method: 'delete',
  path: '/organization/typing-words',
  summary: 'Delete a typing word',
  description:
    'The answer is the deleted word. A shipped word is 403: disable it instead. A language keeps at least ' +
    `${USABLE_WORDS_MIN} enabled words: a deletion that would leave fewer is 409. ${IN_FORCE}`,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({ id: WordId.describe('id of an own typing word') })
      .meta({ examples: [{ id: '019aa5e2-7c1b-7d3a-9f60-0b2c8f4e1a57' }] }),
  },
  replies: { 200: TypingWordReply },
  refuses: ['validation-failed', 'core-word', 'typing-word-not-found', 'typing-words-bound'],
  async handle({ organizationId, body, services }) {
    return { status: 200, payload: { ...(await services.typingWords.remove(organizationId, body.id)) } }
  },
})

/** Languages with their names and word counts, for a language picker and a word editor. */
export const wordLanguages = coreRoute({
  ...Row,
  method: 'get',
  path: '/organization/typing-words/languages',
  summary: 'Languages that have typing words',
  query: NoQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({
      languages: z.array(
        z.object({
          language: z.enum(LANGUAGES),
          name: z.string().describe("the language's own name"),
          nCore: z.int().describe('shipped words'),
          nOwn: z.int().describe('own words of the organization'),
          nEnabled: z.int().describe('words that may be suggested, shipped and own'),
        }),
      ),
    }),
  },
  refuses: [],
  async handle({ organizationId, services }) {
    return { status: 200, payload: { languages: await services.typingWords.languages(organizationId) } }
  },
})
