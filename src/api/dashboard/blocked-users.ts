import { z } from 'zod'
import {
  BucketField,
  dashboardRoute,
  iso,
  isoOrNull,
  List,
  NoBody,
  NoParams,
  NoQuery,
  PagingQuery,
  Row,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'
import { eachWindow, WindowsBody } from './windows.js'

export const blockedUsers = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/blocked-users',
  summary: 'Members whose typing or code is locked now, latest end of the lock first',
  params: NoParams,
  query: PagingQuery,
  body: NoBody,
  replies: {
    200: List(
      z.object({
        user_ref: z.string(),
        member_ref: z.string(),
        user_display_name: z.string().nullable(),
        blocked_until: z.iso.datetime().nullable().describe('null if only a reset, a new code or an unlock ends it'),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const now = services.now()
    const [members, count] = await Promise.all([
      services.directory.blocked(organizationId, now, query),
      services.directory.countBlocked(organizationId, now),
    ])
    const data = members.map(({ userRef, memberRef, displayName, until }) => ({
      user_ref: userRef,
      member_ref: memberRef,
      user_display_name: displayName,
      blocked_until: isoOrNull(until),
    }))
    return { status: 200, payload: { count, data } }
  },
})

const Blocked = {
  n_users: z.int().describe('users with a blocked attempt'),
  n_blocked: z.int().describe('blocked attempts'),
}

export const blockedUsersHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/aggregations/blocked-users-history',
  summary: 'Blocked attempts, and users with one, by bucket',
  params: NoParams,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: { 200: List(z.object({ date: z.iso.datetime(), ...Blocked })) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const series = await services.series.blockedUsers(organizationId, windowOf(query, services.now()), query.bucket)
    const data = series.map(({ at, nUsers, nBlocked }) => ({ date: iso(at), n_users: nUsers, n_blocked: nBlocked }))
    return { status: 200, payload: unpaged(data) }
  },
})

export const blockedUsersBatch = dashboardRoute({
  ...Row,
  lane: 'batch',
  method: 'post',
  path: '/aggregations/blocked-users/batch',
  onlyReads: true,
  summary: 'Blocked attempts, and users with one, in several windows',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: WindowsBody },
  replies: { 200: List(z.object({ date_from: z.string(), date_to: z.string(), ...Blocked })) },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services }) {
    const data = await eachWindow(body, async (window) => {
      const [[users], { nBlocked }] = await Promise.all([
        services.statistics.blockedUsers(organizationId, window, null),
        services.series.total(organizationId, window),
      ])
      return { n_users: users?.nUsers ?? 0, n_blocked: nBlocked }
    })
    return { status: 200, payload: unpaged(data) }
  },
})
