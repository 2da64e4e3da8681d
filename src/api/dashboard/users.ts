import { z } from 'zod'
import { closedForMs } from '../../domain/attempts.js'
import { BIOMETRIC_STATUSES, profileView } from '../../domain/biometric-status.js'
import { userNotFound } from '../../domain/refusal.js'
import { bucketStarts } from '../../domain/time-window.js'
import type { Roster } from '../../storage/account.js'
import { DIRECTORY_SORTS, EVERYBODY, type UserFilter } from '../../storage/directory.js'
import {
  BucketField,
  type DashboardServices,
  Data,
  dashboardRoute,
  iso,
  isoOrNull,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
  UserParams,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Member = z
  .object({
    member_ref: z.string(),
    user_display_name: z.string().nullable(),
    biometric_status: z.enum(BIOMETRIC_STATUSES),
    n_patterns_ref: z.int(),
    n_patterns_ref_visible: z.int(),
    n_patterns_ref_sensitive: z.int(),
    target_ref_patterns: z.int(),
    security_code_set: z.boolean(),
    security_code_temporary: z.boolean(),
    pending_action: z.string().nullable(),
    preferred_language: z.string().nullable(),
    created_at: z.iso.datetime(),
    last_authentication_at: z.iso.datetime().nullable().describe('last successful authentication; null if none'),
  })
  .meta({ title: 'Member' })
const User = z
  .object({
    user_ref: z.string(),
    type: z.enum(['nominative', 'generic']),
    user_display_name: z.string().nullable().describe('display label; the identity is user_ref'),
    groups: z.array(z.string()),
    tag: z.record(z.string(), z.string()),
    n_members: z.int(),
    n_patterns_ref: z.int().describe('reference patterns of all members'),
    biometric_status: z
      .enum(BIOMETRIC_STATUSES)
      .nullable()
      .describe('status of the one person; null on a generic account'),
    locked: z.boolean().describe('typing or the security code of a member is closed now'),
    locked_until: z.iso
      .datetime()
      .nullable()
      .describe('latest end of a lock; null if not locked, and if only a reset, a new code or an unlock ends the lock'),
    created_at: z.iso.datetime(),
    last_authentication_at: z.iso.datetime().nullable(),
  })
  .meta({ title: 'User' })
const OneUser = User.extend({
  members: z.array(
    Member.extend({
      pattern_references: z.array(
        z.object({ id: z.string(), mode: z.enum(['visible', 'sensitive']), kind: z.enum(['enrolled', 'adaptive']) }),
      ),
    }),
  ),
}).meta({ title: 'UserInFull' })

function memberOf({ targets, now }: DashboardServices, member: Roster['members'][number]): z.infer<typeof Member> {
  const view = profileView(member, targets, now())
  return {
    member_ref: member.memberRef,
    user_display_name: member.displayName,
    biometric_status: view.biometricStatus,
    n_patterns_ref: view.nPatternsRef,
    n_patterns_ref_visible: view.nVisible,
    n_patterns_ref_sensitive: view.nSensitive,
    target_ref_patterns: view.targetRefPatterns,
    security_code_set: member.code.set,
    security_code_temporary: member.code.temporary,
    pending_action: member.pending?.action ?? null,
    preferred_language: member.preferredLanguage,
    created_at: iso(member.createdAt),
    last_authentication_at: isoOrNull(member.lastSuccessAt),
  }
}

const ATTEMPT_KINDS = ['biometric', 'security_code'] as const

function lockOf(members: Roster['members'], now: number) {
  const closedMs = members.flatMap(({ attempts }) => ATTEMPT_KINDS.map((kind) => closedForMs(attempts, kind, now)))
  const longestMs = Math.max(0, ...closedMs)
  return {
    locked: longestMs > 0,
    locked_until: longestMs > 0 && Number.isFinite(longestMs) ? iso(now + longestMs) : null,
  }
}

function userOf(services: DashboardServices, { account, members }: Roster): z.infer<typeof User> {
  const people = members.map((member) => memberOf(services, member))
  const successes = members.flatMap(({ lastSuccessAt }) => lastSuccessAt ?? [])
  const only = account.type === 'nominative' ? people[0] : undefined
  return {
    user_ref: account.userRef,
    type: account.type,
    user_display_name: only?.user_display_name ?? account.displayName,
    groups: [...account.groups],
    tag: { ...account.tag },
    n_members: members.length,
    n_patterns_ref: people.reduce((sum, { n_patterns_ref }) => sum + n_patterns_ref, 0),
    biometric_status: only?.biometric_status ?? null,
    ...lockOf(members, services.now()),
    created_at: iso(account.createdAt),
    last_authentication_at: successes.length === 0 ? null : iso(Math.max(...successes)),
  }
}

export const listUsers = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users',
  summary: 'Users of the organization; newest first unless sorted otherwise',
  params: NoParams,
  query: z.object({
    ...Paging,
    user_ref_filter: z.string().max(128).toLowerCase().optional().describe('only users whose user_ref contains this'),
    biometric_status: z
      .enum(BIOMETRIC_STATUSES)
      .optional()
      .describe('only users with a member whose profile has this status'),
    group: z.string().trim().min(1).max(100).optional().describe('only users in this group'),
    sort: z
      .enum(DIRECTORY_SORTS)
      .default('created')
      .describe('by `last_authentication`, users without a successful authentication come last'),
    order: z.enum(['asc', 'desc']).default('desc'),
  }),
  body: NoBody,
  replies: { 200: List(User) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const { biometric_status: status, group, sort, order, skip, limit } = query
    const filter: UserFilter = {
      userRef: query.user_ref_filter || null,
      group: group ?? null,
      profile: status === undefined ? null : { status, targets: services.targets, now: services.now() },
    }
    const [rosters, count] = await Promise.all([
      services.directory.page(organizationId, filter, { sort, descending: order === 'desc', skip, limit }),
      services.directory.count(organizationId, filter),
    ])
    return { status: 200, payload: { count, data: rosters.map((roster) => userOf(services, roster)) } }
  },
})

async function rosterOf(services: DashboardServices, organizationId: string, userRef: string): Promise<Roster> {
  const roster = await services.rosters.roster(organizationId, userRef)
  if (roster === null) throw userNotFound()
  return roster
}

/** One account with all members and their references. */
export const oneUser = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users/{userRef}',
  summary: 'One user, with members and their reference patterns',
  params: UserParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(OneUser) },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, services }) {
    const roster = await rosterOf(services, organizationId, params.userRef)
    const members = await Promise.all(
      roster.members.map(async (member) => ({
        ...memberOf(services, member),
        pattern_references: (await services.references.references(organizationId, member.id)).map(
          ({ id, mode, kind }) => ({
            id,
            mode,
            kind,
          }),
        ),
      })),
    )
    return { status: 200, payload: { data: { ...userOf(services, roster), members } } }
  },
})

export const userMembers = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users/{userRef}/members',
  summary: 'The members of an account: profile, security code, last authentication',
  params: UserParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: List(Member) },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, services }) {
    const { members } = await rosterOf(services, organizationId, params.userRef)
    return {
      status: 200,
      payload: { count: members.length, data: members.map((member) => memberOf(services, member)) },
    }
  },
})

/** User references for a search field with completion. */
export const searchUserRefs = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users-refs/{search}',
  summary: 'User references that contain a text; those that begin with it come first',
  params: z.object({ search: z.string().trim().min(1).max(128).toLowerCase() }),
  query: z.object({ limit: Paging.limit.default(20) }),
  body: NoBody,
  replies: { 200: List(z.string()) },
  refuses: [],
  async handle({ organizationId, params, query, services }) {
    const [count, data] = await Promise.all([
      services.directory.count(organizationId, { ...EVERYBODY, userRef: params.search }),
      services.directory.search(organizationId, params.search, query.limit),
    ])
    return { status: 200, payload: { count, data } }
  },
})

export const usersGrowth = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users-growth',
  summary: 'Number of users over time, by bucket',
  description: 'Counts the users that exist now, by creation time. The usage history has the numbers of the past.',
  params: NoParams,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: { 200: List(z.object({ date: z.iso.datetime(), n_created: z.int(), n_users: z.int() })) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const window = windowOf(query, services.now())
    const { before, created } = await services.directory.growth(organizationId, window, query.bucket)
    let n_users = before
    const data = bucketStarts(window, query.bucket).map((at) => {
      const n_created = created.find((one) => one.at === at)?.n ?? 0
      n_users += n_created
      return { date: iso(at), n_created, n_users }
    })
    return { status: 200, payload: unpaged(data) }
  },
})
