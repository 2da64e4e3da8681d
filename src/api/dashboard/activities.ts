import { z } from 'zod'
import type { Counted } from '../../flows/insight/series.js'
import {
  BucketField,
  type DashboardServices,
  Data,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Row,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'
import { eachWindow, WindowsBody } from './windows.js'

/** The value of a point, by type of series. */
const VALUES = {
  events: (one: Counted) => one.n,
  biometrics: (one: Counted) => one.confidenceBiometrics,
  contextual: (one: Counted) => one.confidenceContext,
  authentications: (one: Counted) => one.nAuthenticated,
}
// Sound: these are the keys of VALUES.
const TYPES = Object.keys(VALUES) as (keyof typeof VALUES)[]

export const activities = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/activities/{type}',
  summary: 'Time series of attempts, scores or successes',
  params: z.object({ type: z.enum(TYPES) }),
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: {
    200: List(
      z.object({
        date: z.iso.datetime(),
        value: z
          .number()
          .nullable()
          .describe(
            'events counts attempts, authentications counts successes; the others give the mean score, null without one',
          ),
        n: z.int(),
        authenticated: z.int(),
        challenged: z.int(),
        blocked: z.int(),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, params, query, services }) {
    const series = await services.series.attempts(organizationId, windowOf(query, services.now()), query.bucket)
    const data = series.map((one) => ({
      date: iso(one.at),
      value: VALUES[params.type](one),
      n: one.n,
      authenticated: one.nAuthenticated,
      challenged: one.nChallenged,
      blocked: one.nBlocked,
    }))
    return { status: 200, payload: unpaged(data) }
  },
})

const Counters = {
  n_users: z.int().describe('users created in the window that still exist'),
  n_patterns: z.int().describe('reference patterns created in the window that still exist'),
  n_authentications: z.int(),
}

async function counters(services: DashboardServices, organizationId: string, window: { from: number; to: number }) {
  const [{ nAccounts, nPatterns }, { n }] = await Promise.all([
    services.directory.arrivals(organizationId, window),
    services.series.total(organizationId, window),
  ])
  return { n_users: nAccounts, n_patterns: nPatterns, n_authentications: n }
}

export const dataCounter = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/data-counter',
  summary: 'Counts of users, patterns and authentications in a window',
  params: NoParams,
  query: withWindow({}),
  body: NoBody,
  replies: { 200: Data(z.object(Counters)) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    return { status: 200, payload: { data: await counters(services, organizationId, windowOf(query, services.now())) } }
  },
})

export const dataCounterBatch = dashboardRoute({
  ...Row,
  lane: 'batch',
  method: 'post',
  path: '/data-counter/batch',
  onlyReads: true,
  summary: 'Counts of users, patterns and authentications in several windows',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: WindowsBody },
  replies: { 200: List(z.object({ date_from: z.string(), date_to: z.string(), ...Counters })) },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services }) {
    return {
      status: 200,
      payload: unpaged(await eachWindow(body, (window) => counters(services, organizationId, window))),
    }
  },
})
