import { z } from 'zod'
import { coreRoute, NoQuery } from '../core-route.js'
import { LEGACY } from './leaving.js'

/** Does nothing: what became of a sign-in is known from its own answer. */
export const feedback = coreRoute({
  method: 'post',
  path: '/feedback/{authenticationId}',
  summary: 'Take feedback on an authentication, and do nothing with it',
  description: 'Kept for the shape of its answer. It has no successor: its Link leads to this page.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  deprecated: { ...LEGACY, successor: '/docs' },
  params: z.object({ authenticationId: z.uuid() }),
  query: NoQuery,
  body: { kind: 'json', optional: true, schema: z.object({}).meta({ description: 'anything', examples: [{}] }) },
  replies: { 200: z.object({ authenticationId: z.string() }) },
  refuses: [],
  async handle({ params }) {
    return { status: 200, payload: { authenticationId: params.authenticationId } }
  },
})
