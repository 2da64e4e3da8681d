import { z } from 'zod'
import { USER_ACTIONS } from '../../domain/user-action.js'
import { UserRef } from '../../domain/user-ref.js'
import type { UserActionEntry } from '../../storage/user-log.js'
import {
  type DashboardServices,
  Data,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoQuery,
  PagingQuery,
  Row,
  UserParams,
} from './dashboard-route.js'

const Action = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  action: z.enum(USER_ACTIONS),
  member_ref: z.string(),
  api_key_id: z.string().describe('id of the API key that requested the action; see `keystride key list`'),
  request_id: z.string().describe("the request's X-Request-Id"),
  done: z.boolean().describe('false if the action was refused or failed'),
})
const actionOf = (entry: UserActionEntry): z.infer<typeof Action> => ({
  id: entry.id,
  created_at: iso(entry.at),
  action: entry.action,
  member_ref: entry.memberRef,
  api_key_id: entry.apiKeyId,
  request_id: entry.requestId,
  done: entry.done,
})

const Entry = z.object({
  id: z.string(),
  created_at: z.iso.datetime(),
  kind: z.enum(['authentication', 'action']),
  member_ref: z.string(),
  what: z.string().describe('method of an authentication, or name of an action'),
  outcome: z.string().describe('recommended action of an authentication; done or not-done for an action'),
  reason: z.string(),
})

async function entries(
  services: DashboardServices,
  organizationId: string,
  userRef: string,
  paging: z.output<typeof PagingQuery>,
) {
  const found = await services.userActions.entries({ organizationId, userRef, memberRef: null }, paging)
  const data = found.entries.map(({ id, at, kind, memberRef, what, outcome, reason }) => ({
    id,
    created_at: iso(at),
    kind,
    member_ref: memberRef,
    what,
    outcome,
    reason,
  }))
  return { status: 200, payload: { count: found.count, data } }
}

export const userLogs = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users/{userRef}/logs',
  summary: "A user's authentications and administrative actions, newest first",
  params: UserParams,
  query: PagingQuery,
  body: NoBody,
  replies: { 200: List(Entry) },
  refuses: ['user-not-found'],
  handle: ({ organizationId, params, query, services }) => entries(services, organizationId, params.userRef, query),
})

/** As `userLogs`, with the parameters in the body. */
export const searchUserLogs = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/users/{userRef}/logs',
  onlyReads: true,
  summary: "A user's authentications and administrative actions, newest first",
  params: UserParams,
  query: NoQuery,
  body: { kind: 'json', schema: PagingQuery.meta({ examples: [{ skip: 0, limit: 50 }] }) },
  replies: { 200: List(Entry) },
  refuses: ['validation-failed', 'user-not-found'],
  handle: ({ organizationId, params, body, services }) => entries(services, organizationId, params.userRef, body),
})

/** The record of administrative actions; it is append-only. */
export const userActions = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/users/{userRef}/actions',
  summary: 'Administrative actions on a user through this API, with time and API key',
  params: UserParams,
  query: PagingQuery,
  body: NoBody,
  replies: { 200: List(Action) },
  refuses: ['user-not-found'],
  async handle({ organizationId, params, query, services }) {
    const who = { organizationId, userRef: params.userRef, memberRef: null }
    const { entries: found, count } = await services.userActions.actions(who, query)
    return { status: 200, payload: { count, data: found.map(actionOf) } }
  },
})

/** Each action uses the same flow as the core API's call or the command for it. */
export const actOnUser = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/users/{userRef}/actions',
  summary: 'Perform an action on a user: lock, unlock, reset the profile, clear the code, or queue an action',
  description:
    'lock closes typing and the security code and ends the sessions. unlock reopens both; a profile reset reopens typing. ' +
    'RESET_BIOMETRIC_PROFILE and UPDATE_BIOMETRIC_PROFILE wait for the next sign-in; clear-pending-action cancels them. While a lock holds, enrollment is 409 and a queued reset waits. Each action is recorded ' +
    'before and after it runs, and deleted with the account.',
  params: UserParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({
        action: z.enum(USER_ACTIONS),
        member_ref: UserRef.nullish().describe('the member of a shared account'),
      })
      .meta({ examples: [{ action: 'unlock' }] }),
  },
  replies: { 200: Data(Action) },
  refuses: ['validation-failed', 'user-not-found', 'member-required', 'member-mismatch'],
  async handle({ organizationId, apiKeyId, requestId, params, body, services }) {
    const who = { organizationId, userRef: params.userRef, memberRef: body.member_ref ?? null }
    const done = await services.userActions.perform(who, body.action, { apiKeyId, requestId })
    return { status: 200, payload: { data: actionOf(done) } }
  },
})
