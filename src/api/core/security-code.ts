import { z } from 'zod'
import { UserRef } from '../../domain/user-ref.js'
import { coreRoute, designation, MemberQuery, UserParams } from './core-route.js'

const REFUSES = ['session-missing', 'member-required', 'member-mismatch', 'user-not-found'] as const
const CodeState = {
  codeLength: z.int().describe('length of the security code'),
  securityCodeSet: z.boolean(),
  securityCodeTemporary: z.boolean().describe('true if the service issued the code, which the user must replace'),
}

/** Sets the code that a member chose. The new code replaces an earlier one and ends the member's other sessions. */
export const chooseSecurityCode = coreRoute({
  method: 'put',
  path: '/users/{userRef}/security-code',
  summary: 'Set or replace the security code of a member',
  description:
    'A new code must differ from the last two. It reopens a code that ten failures have closed, but shortens no running lock and keeps the counters.',
  countedAs: 'other',
  lane: 'code',
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: MemberQuery,
  // The policy judges the code; the schema only bounds its length.
  body: {
    kind: 'json',
    schema: z
      .object({
        securityCode: z.string().max(64).describe('digits, `codeLength` of them'),
        member_ref: UserRef.optional().describe('the member of a generic account, if the query does not name one'),
      })
      .meta({ examples: [{ securityCode: '749205' }] }),
  },
  replies: { 200: z.object(CodeState) },
  refuses: [...REFUSES, 'security-code-weak', 'rate-limited'],
  async handle({ organizationId, params, query, body, session, services }) {
    const who = designation(organizationId, params.userRef, query, body.member_ref)
    await services.securityCodes.choose(who, session ?? '', body.securityCode)
    return {
      status: 200,
      payload: { codeLength: body.securityCode.length, securityCodeSet: true, securityCodeTemporary: false },
    }
  },
})

/** Issues a code for one sign-in within 24 hours, which the member must then replace; at most five an hour. */
export const issueSecurityCode = coreRoute({
  method: 'post',
  path: '/users/{userRef}/security-code',
  summary: 'Generate a temporary security code',
  description:
    'The code signs in once within 24 hours; at most five an hour. `securityCodeTemporary` stays true after its use or expiry, until it is replaced.',
  countedAs: 'other',
  lane: 'code',
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({ securityCode: z.string().describe('the temporary code, shown only in this answer'), ...CodeState }),
  },
  refuses: [...REFUSES, 'rate-limited'],
  async handle({ organizationId, params, query, session, services }) {
    const who = designation(organizationId, params.userRef, query)
    const securityCode = await services.securityCodes.issue(who, session ?? '')
    return {
      status: 200,
      payload: { securityCode, codeLength: securityCode.length, securityCodeSet: true, securityCodeTemporary: true },
    }
  },
})

/** Clears the code: the member then signs in by typing only. */
export const clearSecurityCode = coreRoute({
  method: 'delete',
  path: '/users/{userRef}/security-code',
  summary: 'Clear the security code',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: { 200: z.object({ securityCodeSet: z.literal(false) }) },
  refuses: REFUSES,
  async handle({ organizationId, params, query, session, services }) {
    await services.securityCodes.clear(designation(organizationId, params.userRef, query), session ?? '')
    return { status: 200, payload: { securityCodeSet: false } }
  },
})
