import { z } from 'zod'
import { TypingPattern } from '../../domain/typing-pattern.js'
import { LanguageWish } from '../../domain/typing-words.js'
import { refuseWhileDegraded } from '../../http/caller.js'
import { LanguageHeaders, languageHints, NoParams, PATTERN_BYTES_MAX } from '../core/core-route.js'
import { RetryAfterField, Words } from '../core/shapes.js'
import { linkRoute, refuseCrossSite } from './link-route.js'

/** The hosted page's call. It needs no API key: the link's key authorizes it, for the link's user only. */
export const typeByLink = linkRoute({
  method: 'post',
  path: '/typing-patterns',
  summary: "Add one typing pattern with a link's key; called by the hosted page",
  description:
    'The pattern that completes the profile ends the link. The link takes no other text than its words. A page of another origin gets 403.',
  countedAs: 'enroll',
  lane: 'page',
  needsKey: false,
  needsSession: false,
  params: NoParams,
  query: z.object({ language: LanguageWish.optional() }),
  headers: LanguageHeaders.extend({
    'X-Link-Key': z.string().describe("the link's key: the last segment of its URL"),
  }),
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: TypingPattern },
  replies: {
    200: z.object({
      nPatterns: z.int().describe('patterns collected so far'),
      targetPatterns: z.int().describe('patterns that complete the link'),
      completed: z.boolean().describe('the profile is complete, and the link has ended'),
      retryAfterSeconds: RetryAfterField,
      redirectTo: z.string().nullable().describe('redirect address once completed; null if none'),
      ...Words,
    }),
  },
  refuses: [
    'cross-site',
    'link-unknown',
    'member-mismatch',
    'user-not-found',
    'pattern-invalid',
    'words-not-typed',
    'bot-detected',
    'replay-detected',
    'profile-complete',
    'profile-locked',
    'too-soon',
    'rate-limited',
    'degraded',
  ],
  async handle({ header, headers, query, body, services }) {
    refuseCrossSite(header, services.linksUrl)
    refuseWhileDegraded(services)
    const { words, warnings, ...step } = await services.linkPage.step(
      headers['X-Link-Key'],
      { kind: 'pattern', body },
      languageHints(query, headers),
    )
    return { status: 200, payload: { ...step, ...words }, warnings }
  },
})
