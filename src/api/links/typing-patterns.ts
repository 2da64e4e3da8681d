import { z } from 'zod'
import { Refusal } from '../../domain/refusal.js'
import { TypingPattern } from '../../domain/typing-pattern.js'
import { LanguageWish } from '../../domain/typing-words.js'
import { LanguageHeaders, languageHints, NoParams, PATTERN_BYTES_MAX } from '../core/core-route.js'
import { Words } from '../core/shapes.js'
import { linkRoute, refuseCrossSite } from './link-route.js'

/** What the hosted page sends. No API key: the link's own key speaks for its user, and for nothing else. */
export const typeByLink = linkRoute({
  method: 'post',
  path: '/typing-patterns',
  summary: "Add one typing pattern by a link's key, as the hosted page does",
  description: 'The pattern that completes the profile ends the link.',
  countedAs: 'enroll',
  lane: 'page',
  needsKey: false,
  needsSession: false,
  params: NoParams,
  query: z.object({ language: LanguageWish.optional() }),
  headers: LanguageHeaders.extend({
    'X-Link-Key': z.string().describe("the link's key: the last segment of its address"),
  }),
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: TypingPattern },
  replies: {
    200: z.object({
      nPatterns: z.int().describe('patterns held of those the link is to bring about'),
      targetPatterns: z.int().describe('patterns the link is to bring about'),
      completed: z.boolean().describe('the profile is complete, and the link has ended'),
      redirectTo: z.string().nullable().describe('where to go then; null: nowhere'),
      ...Words,
    }),
  },
  refuses: [
    'cross-site',
    'link-unknown',
    'member-mismatch',
    'user-not-found',
    'pattern-invalid',
    'bot-detected',
    'replay-detected',
    'profile-complete',
    'rate-limited',
    'degraded',
  ],
  async handle({ header, headers, query, body, services }) {
    refuseCrossSite(header, services.linksUrl)
    if (services.degraded() !== null) throw new Refusal('degraded', 'the service is degraded: try again shortly')
    const { words, warnings, ...step } = await services.linkPage.step(
      headers['X-Link-Key'],
      body,
      languageHints(query, headers),
    )
    return { status: 200, payload: { ...step, ...words }, warnings }
  },
})
