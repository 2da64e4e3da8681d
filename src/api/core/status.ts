import { z } from 'zod'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

/** The cached health of the service: needs no key, touches no store, answers 200 always. */
export const status = coreRoute({
  method: 'get',
  path: '/status',
  summary: 'Whether the service is well',
  countedAs: 'other',
  lane: null,
  needsKey: false,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({
      status: z.enum(['OK', 'NOK']).describe('NOK while a store is out of reach'),
      version: z.string().describe('the running build'),
    }),
  },
  refuses: [],
  async handle({ services }) {
    const why = services.degraded()
    return {
      status: 200,
      message: why ?? 'Done',
      payload: { status: why === null ? 'OK' : 'NOK', version: services.version },
    }
  },
})
