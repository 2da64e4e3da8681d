import { z } from 'zod'
import { coreRoute, NoParams, NoQuery } from './core-route.js'

/** The cached health of the service. The route needs no key, calls no store and always answers 200. */
export const status = coreRoute({
  method: 'get',
  path: '/status',
  summary: 'Health of the service',
  countedAs: 'other',
  lane: null,
  needsKey: false,
  needsSession: false,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({
      status: z.enum(['OK', 'NOK']).describe('NOK while a store is unreachable'),
      version: z.string().describe('version of the running build'),
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
