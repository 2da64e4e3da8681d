import { z } from 'zod'
import { LANGUAGES, LanguageTag } from '../../domain/typing-words.js'
import { UserRef } from '../../domain/user-ref.js'
import { coreRoute, designation, MemberQuery, UserParams } from './core-route.js'

/** Sets the language of a member's suggested words; takes effect in every process from the next call on. */
export const preferLanguage = coreRoute({
  method: 'put',
  path: '/users/{userRef}/preferred-language',
  summary: 'Set or clear the widget language of a member',
  description:
    'Has priority over the language query of a call and over the setting of the organization. `null` clears the preference. ' +
    'On a generic account member_ref names the member.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        language: LanguageTag.nullable().describe(
          `one of ${LANGUAGES.join(', ')}; a region (pt-BR) is dropped; null clears the preference`,
        ),
        member_ref: UserRef.optional().describe('the member of a generic account, if the query does not name one'),
      })
      .meta({ examples: [{ language: 'fr' }, { language: null }] }),
  },
  replies: {
    200: z.object({
      userRef: z.string().describe('normalized reference'),
      memberRef: z.string(),
      language: z.enum(LANGUAGES).nullable().describe('the resulting preference; null if none'),
    }),
  },
  refuses: ['member-required', 'member-mismatch', 'user-not-found', 'validation-failed'],
  async handle({ organizationId, params, query, body, services }) {
    const who = designation(organizationId, params.userRef, query, body.member_ref)
    const { account, member } = await services.preferLanguage(who, body.language)
    return {
      status: 200,
      payload: { userRef: account.userRef, memberRef: member.memberRef, language: body.language },
    }
  },
})
