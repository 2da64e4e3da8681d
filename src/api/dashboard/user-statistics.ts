import { z } from 'zod'
import { EVERYBODY } from '../../storage/directory.js'
import { USER_SORTS, type UserStatistics } from '../../storage/statistics.js'
import { CountedFields, countedFields } from './counted-fields.js'
import {
  type DashboardServices,
  Data,
  dashboardRoute,
  isoOrNull,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
  UserParams,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Statistics = z.object({
  user_ref: z.string(),
  type: z.enum(['nominative', 'generic']),
  n: z.int(),
  authenticated: z.int(),
  challenged: z.int(),
  blocked: z.int(),
  confidence: z.number().nullable(),
  confidence_biometrics: z.number().nullable(),
  last_attempt_at: z.iso.datetime().nullable().describe('last attempt in the window; null if none'),
})
const statisticsOf = (user: UserStatistics): z.infer<typeof Statistics> => ({
  user_ref: user.userRef,
  type: user.type,
  n: user.n,
  authenticated: user.nAuthenticated,
  challenged: user.nChallenged,
  blocked: user.nBlocked,
  confidence: user.confidence,
  confidence_biometrics: user.confidenceBiometrics,
  last_attempt_at: isoOrNull(user.lastAt),
})
const Order = {
  sort: z
    .enum(USER_SORTS)
    .default('n')
    .describe('by confidence or last, users without an attempt in the window come last'),
  order: z.enum(['asc', 'desc']).default('desc'),
}

export const usersTable = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/users',
  summary: 'Statistics per user over a window, sorted and filtered',
  params: NoParams,
  query: withWindow({ ...Paging, ...Order, user_ref_filter: z.string().max(128).toLowerCase().optional() }),
  body: NoBody,
  replies: { 200: List(Statistics) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const { sort, order, skip, limit } = query
    const userRefFilter = query.user_ref_filter || null
    const window = windowOf(query, services.now())
    const [users, count] = await Promise.all([
      services.statistics.users(organizationId, window, {
        sort,
        descending: order === 'desc',
        skip,
        limit,
        userRefFilter,
      }),
      services.directory.count(organizationId, { ...EVERYBODY, userRef: userRefFilter }),
    ])
    return { status: 200, payload: { count, data: users.map(statisticsOf) } }
  },
})

export const userStatistics = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/users/{userRef}',
  summary: "One user's statistics over a window",
  params: UserParams,
  query: withWindow({}),
  body: NoBody,
  replies: { 200: Data(z.object({ user_ref: z.string(), ...CountedFields })) },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, query, services }) {
    const { userRef } = params
    await services.inspect.requireUser(organizationId, userRef)
    const total = await services.series.total(organizationId, windowOf(query, services.now()), userRef)
    return { status: 200, payload: { data: { user_ref: userRef, ...countedFields(total) } } }
  },
})

const Leaders = withWindow({ ...Order, limit: Paging.limit.default(10) })

async function leaders(services: DashboardServices, organizationId: string, given: z.output<typeof Leaders>) {
  const { sort, order, limit } = given
  const rules = { sort, descending: order === 'desc', skip: 0, limit, userRefFilter: null }
  const users = await services.statistics.users(organizationId, windowOf(given, services.now()), rules)
  return { status: 200, payload: { count: users.length, data: users.map(statisticsOf) } }
}

/** The first rows of the sorted table. */
export const sortedUsers = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/sorting/users',
  summary: 'The first users in the order of one figure',
  params: NoParams,
  query: Leaders,
  body: NoBody,
  replies: { 200: List(Statistics) },
  refuses: [],
  handle: ({ organizationId, query, services }) => leaders(services, organizationId, query),
})

/** As `sortedUsers`, with the parameters in the body. */
export const sortUsers = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/sorting/users',
  onlyReads: true,
  summary: 'The first users in the order of one figure',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: Leaders.meta({ examples: [{ sort: 'blocked', order: 'desc', limit: 10 }] }) },
  replies: { 200: List(Statistics) },
  refuses: ['validation-failed'],
  handle: ({ organizationId, body, services }) => leaders(services, organizationId, body),
})
