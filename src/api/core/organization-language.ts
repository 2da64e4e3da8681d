import { z } from 'zod'
import { LANGUAGE_MODES, type Organization } from '../../domain/organization.js'
import { LANGUAGES, LanguageTag } from '../../domain/typing-words.js'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

const MEANING = {
  language: `language of suggested words if neither the member nor the call sets one: ${LANGUAGES.join(', ')}`,
  mode: 'with auto, Accept-Language of a call has priority over default_language; with forced, it is ignored',
}
const LanguageSetting = z.object({
  default_language: z.string().describe(MEANING.language),
  language_mode: z.enum(LANGUAGE_MODES).describe(MEANING.mode),
})

const setting = ({ defaultLanguage, languageMode }: Organization) => ({
  default_language: defaultLanguage,
  language_mode: languageMode,
})

/** The language setting as cached in this process, at most a second old. */
export const organizationLanguage = coreRoute({
  method: 'get',
  path: '/organization/language',
  summary: 'Language setting of the organization',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: { 200: LanguageSetting },
  refuses: [],
  async handle({ organizationId, services }) {
    const { organization } = await services.settingsOf(organizationId)
    return { status: 200, payload: setting(organization) }
  },
})

/** Changes one or both fields; takes effect at once in this process, within a second in every other. */
export const changeOrganizationLanguage = coreRoute({
  method: 'patch',
  path: '/organization/language',
  summary: 'Change the language setting',
  description:
    'Requires at least one of the two fields; an absent field stays as it is. The answer is the resulting setting. ' +
    'Suggested words use it within a second. A member’s preferred language and the language query of a call have priority over it.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        default_language: LanguageTag.optional().describe(`${MEANING.language}; a region (pt-BR) is dropped`),
        language_mode: z.enum(LANGUAGE_MODES).optional().describe(MEANING.mode),
      })
      .refine(({ default_language, language_mode }) => default_language !== undefined || language_mode !== undefined, {
        error: 'requires default_language or language_mode',
      })
      .meta({ examples: [{ default_language: 'fr', language_mode: 'auto' }] }),
  },
  replies: { 200: LanguageSetting },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services }) {
    const organization = await services.changeLanguage(organizationId, {
      defaultLanguage: body.default_language ?? null,
      languageMode: body.language_mode ?? null,
    })
    return { status: 200, payload: setting(organization) }
  },
})
