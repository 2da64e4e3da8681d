import { z } from 'zod'
import { CONTEXT_INDICATORS, INDICATORS } from '../../domain/context/signal.js'
import { UserRef } from '../../domain/user-ref.js'
import { CONFIDENCE_BINS } from '../../flows/insight/series.js'
import { CountedFields, countedFields } from './counted-fields.js'
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

/** Restricts figures to the attempts of one user. */
const OfUser = { user_ref: UserRef.optional().describe('only attempts of this user; 404 for an unknown one') }

/** The user of a query, or undefined for all. Refuses an unknown user with `user-not-found`. */
async function userOf(
  { inspect }: DashboardServices,
  organizationId: string,
  { user_ref: userRef }: { readonly user_ref?: string | undefined },
): Promise<string | undefined> {
  if (userRef !== undefined) await inspect.requireUser(organizationId, userRef)
  return userRef
}

export const dailyUsages = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/daily-usages',
  summary: 'Authenticated, blocked and challenged attempts of each day',
  params: NoParams,
  query: withWindow({}),
  body: NoBody,
  replies: {
    200: List(
      z.object({ date: z.iso.datetime(), n: z.int(), authenticated: z.int(), blocked: z.int(), challenged: z.int() }),
    ),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const series = await services.series.attempts(organizationId, windowOf(query, services.now()), 'day')
    const data = series.map(({ at, n, nAuthenticated, nBlocked, nChallenged }) => ({
      date: iso(at),
      n,
      authenticated: nAuthenticated,
      blocked: nBlocked,
      challenged: nChallenged,
    }))
    return { status: 200, payload: unpaged(data) }
  },
})

export const aggregatedHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/authentications-history',
  summary: 'Authentications by bucket, with mean scores',
  params: NoParams,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: { 200: List(z.object({ date: z.iso.datetime(), ...CountedFields })) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const series = await services.series.attempts(organizationId, windowOf(query, services.now()), query.bucket)
    return { status: 200, payload: unpaged(series.map((one) => ({ date: iso(one.at), ...countedFields(one) }))) }
  },
})

export const groupCounts = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/groups/',
  summary: 'Number of users per group, largest first',
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: List(z.object({ group: z.string(), n_users: z.int() })) },
  refuses: [],
  async handle({ organizationId, services }) {
    const groups = await services.directory.groups(organizationId)
    return {
      status: 200,
      payload: { count: groups.length, data: groups.map(({ group, n }) => ({ group, n_users: n })) },
    }
  },
})

/** Largest number of points in an answer. */
const POINTS_MAX = 2000

export const geolocation = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/geolocation',
  summary: 'Locations of attempts, as points of a map',
  description: `The answer has the ${POINTS_MAX} most frequent locations, to a tenth of a degree; without GEOIP_DB it has none.`,
  params: NoParams,
  query: withWindow(OfUser),
  body: NoBody,
  replies: {
    200: List(
      z.object({
        latitude: z.number(),
        longitude: z.number(),
        country: z.string().nullable(),
        city: z.string().nullable(),
        n: z.int(),
        authenticated: z.int(),
        challenged: z.int(),
        blocked: z.int(),
      }),
    ),
  },
  refuses: ['user-not-found'],
  async handle({ organizationId, query, services }) {
    const userRef = await userOf(services, organizationId, query)
    const places = await services.series.by(organizationId, 'place', windowOf(query, services.now()), userRef)
    const data = places.slice(0, POINTS_MAX).map(({ value, n, nAuthenticated, nChallenged, nBlocked }) => {
      const [, latitude, longitude, country = '', city = ''] = /^(\S+) (\S+) ?([A-Z]{2})? ?(.*)$/.exec(value) ?? []
      return {
        latitude: Number(latitude),
        longitude: Number(longitude),
        country: country || null,
        city: city || null,
        n,
        authenticated: nAuthenticated,
        challenged: nChallenged,
        blocked: nBlocked,
      }
    })
    return { status: 200, payload: { count: places.length, data } }
  },
})

export const contextualBreakdown = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/contextual/{indicator}',
  summary: "Distribution of an indicator's scores, and its most frequent values",
  params: z.object({ indicator: z.enum(INDICATORS) }),
  query: withWindow(OfUser),
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        indicator: z.enum(INDICATORS),
        enabled: z.boolean().describe('if false, the indicator never contributes to a score in this deployment'),
        scores: z.array(
          z.object({
            band: z.string().describe('third of the score: high, medium or low; unknown without a score'),
            ...CountedFields,
          }),
        ),
        values: z.array(z.object({ signal: z.string(), value: z.string(), ...CountedFields })),
      }),
    ),
  },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, query, services }) {
    const userRef = await userOf(services, organizationId, query)
    const { indicator } = params
    const window = windowOf(query, services.now())
    const { bands, values } = await services.series.indicator(organizationId, indicator, window, userRef)
    const contextual = CONTEXT_INDICATORS.find((one) => one === indicator)
    const data = {
      indicator,
      enabled: contextual === undefined || services.contextIndicators.includes(contextual),
      scores: bands.map((one) => ({ band: one.value, ...countedFields(one) })),
      values: values.map((one) => ({ signal: one.signal, value: one.value, ...countedFields(one) })),
    }
    return { status: 200, payload: { data } }
  },
})

/** Distribution of the confidence, so that a threshold can be chosen. */
export const confidenceDistribution = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/confidence',
  summary: 'Distribution of the confidence of typing attempts, in twentieths, by outcome',
  description: 'A security code has no confidence and is not counted. All figures come from hourly counts.',
  params: NoParams,
  query: withWindow({}),
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        n: z.int(),
        bins: z
          .array(
            z.object({
              from: z.number(),
              to: z.number().describe('exclusive; the last one includes 1'),
              n: z.int(),
              authenticated: z.int(),
              challenged: z.int(),
              blocked: z.int(),
            }),
          )
          .describe(`all ${CONFIDENCE_BINS}, from 0 on`),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const found = await services.series.confidences(organizationId, windowOf(query, services.now()))
    const bins = found.map(({ n, nAuthenticated, nChallenged, nBlocked }, bin) => ({
      from: bin / CONFIDENCE_BINS,
      to: (bin + 1) / CONFIDENCE_BINS,
      n,
      authenticated: nAuthenticated,
      challenged: nChallenged,
      blocked: nBlocked,
    }))
    return { status: 200, payload: { data: { n: bins.reduce((sum, { n }) => sum + n, 0), bins } } }
  },
})

export const applicationCounts = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/application/',
  summary: 'Authentications per application, most first',
  description: "The application is the pattern's tag `app`, else the type of its agent.",
  params: NoParams,
  query: withWindow(OfUser),
  body: NoBody,
  replies: { 200: List(z.object({ application: z.string(), ...CountedFields })) },
  refuses: ['user-not-found'],
  async handle({ organizationId, query, services }) {
    const userRef = await userOf(services, organizationId, query)
    const found = await services.series.by(organizationId, 'application', windowOf(query, services.now()), userRef)
    const data = found.slice(0, 500).map((one) => ({ application: one.value, ...countedFields(one) }))
    return { status: 200, payload: { count: found.length, data } }
  },
})

export const connexionStats = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/connexion-stats',
  summary: 'Connections by hour of the day and by day of the week, UTC',
  params: NoParams,
  query: withWindow(OfUser),
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        hours: z.array(z.object({ hour: z.int(), n: z.int(), authenticated: z.int() })).describe('by hour, 0 to 23'),
        week: z
          .array(z.object({ day: z.int(), hour: z.int(), n: z.int(), authenticated: z.int() }))
          .describe('by hour of the week, from Monday 00:00 on: 168 entries'),
        days: z
          .array(z.object({ day: z.int(), n: z.int(), authenticated: z.int() }))
          .describe('by weekday, 0 is Monday'),
      }),
    ),
  },
  refuses: ['user-not-found'],
  async handle({ organizationId, query, services }) {
    const userRef = await userOf(services, organizationId, query)
    const { hours, days, week } = await services.series.habits(organizationId, windowOf(query, services.now()), userRef)
    const data = {
      hours: hours.map(({ n, nAuthenticated }, hour) => ({ hour, n, authenticated: nAuthenticated })),
      week: week.map(({ n, nAuthenticated }, at) => ({
        day: Math.floor(at / 24),
        hour: at % 24,
        n,
        authenticated: nAuthenticated,
      })),
      days: days.map(({ n, nAuthenticated }, day) => ({ day, n, authenticated: nAuthenticated })),
    }
    return { status: 200, payload: { data } }
  },
})
