import { z } from 'zod'
import { UserRef } from '../../domain/user-ref.js'
import { coreRoute, designation, MemberQuery, UserParams } from './core-route.js'
import { PendingActionField } from './shapes.js'

const REFUSES = ['user-not-found', 'member-required', 'member-mismatch'] as const
const Who = { userRef: z.string(), memberRef: z.string() }

/** Queues an action for seven days; a later action replaces it. Enroll calls of a session that reported it apply it. */
export const queuePendingAction = coreRoute({
  method: 'post',
  path: '/users/{userRef}/pending-action',
  summary: 'Queue a profile action for the next sign-in',
  description:
    'The action waits for seven days; a later one replaces it. A reset runs at the first enroll call with an accepted pattern, in a session whose bootstrap has ' +
    'reported it. An update continues in the next sign-in if one was not enough. Emptying the profile ends both.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: {
    kind: 'json',
    schema: z
      .object({ action: PendingActionField, member_ref: UserRef.nullish() })
      .meta({ examples: [{ action: 'RESET_BIOMETRIC_PROFILE' }] }),
  },
  replies: { 200: z.object({ ...Who, pendingAction: PendingActionField }) },
  refuses: REFUSES,
  async handle({ organizationId, params, query, body, services }) {
    const who = designation(organizationId, params.userRef, query, body.member_ref)
    const { account, member } = await services.pendingActions.queue(who, body.action)
    return {
      status: 200,
      payload: { userRef: account.userRef, memberRef: member.memberRef, pendingAction: body.action },
    }
  },
})

/** Idempotent: without a queued action it does nothing. */
export const clearPendingAction = coreRoute({
  method: 'delete',
  path: '/users/{userRef}/pending-action',
  summary: 'Clear the queued profile action',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: { 200: z.object({ ...Who, pendingAction: z.null() }) },
  refuses: REFUSES,
  async handle({ organizationId, params, query, services }) {
    const { account, member } = await services.pendingActions.clear(designation(organizationId, params.userRef, query))
    return {
      status: 200,
      payload: { userRef: account.userRef, memberRef: member.memberRef, pendingAction: null },
    }
  },
})
