import { z } from 'zod'
import { coreRoute, NoQuery } from '../core-route.js'
import { LEGACY } from './deprecation-dates.js'

/** Has no effect: the answer of a sign-in already has its result. */
export const feedback = coreRoute({
  method: 'post',
  path: '/feedback/{authenticationId}',
  summary: 'Accept feedback on an authentication; it has no effect',
  description: 'The endpoint is kept for compatibility. It has no successor: its Link header points to this page.',
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
