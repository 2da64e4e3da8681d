import { z } from 'zod'
import type { Member } from '../../domain/account.js'
import { UserRef } from '../../domain/user-ref.js'
import { settingsFor } from '../../flows/organization/settings.js'
import type { Bootstrap } from '../../flows/session/bootstrap.js'
import type { Designation } from '../../flows/session/person.js'
import { AccountFields, accountFields } from './account-fields.js'
import {
  coreRoute,
  designation,
  LanguageHeaders,
  languageHints,
  MemberAndLanguageQuery,
  MemberQuery,
  UserParams,
} from './core-route.js'
import { NextAttempt, nextAttempt } from './next-attempt.js'
import { AccountTypeField, PendingActionField, ProfileUpdateField, Words } from './shapes.js'

const CodeFields = {
  requiresSecurityCode: z.boolean().describe('the policy allows a security code as fallback for typing'),
  securityCodeSet: z.boolean(),
  securityCodeTemporary: z.boolean().describe('true if the service issued the code, which the user must replace'),
  codeLength: z.int().describe('length of the security code'),
}
const CreatedState = z
  .object({
    ...AccountFields,
    ...CodeFields,
    created: z.boolean(),
    securityCode: z
      .string()
      .optional()
      .describe('the temporary security code if one was issued, shown only in this answer'),
  })
  .meta({ title: 'CreatedAccount' })
export const BootstrapState = z
  .object({
    ...AccountFields,
    sessionId: z.string().describe('also the X-Service-Session response header; expires after 900 s'),
    ...CodeFields,
    pendingAction: PendingActionField.nullable().describe('queued by an administrator; this session honors it'),
    profileUpdate: ProfileUpdateField,
    nextAttempt: NextAttempt.nullable().describe(
      'nextAttempt of a verify, if the profile is complete and this session would refuse typing; null otherwise',
    ),
    ...Words,
  })
  .meta({ title: 'Bootstrap' })

/** The state of an unknown account, for onboarding: the defaults of a new account. */
const unknownAccount = (userRef: string, targetRefPatterns: number) => ({
  userRef,
  accountRef: null,
  accountType: 'nominative' as const,
  memberRef: userRef,
  memberSelection: null,
  biometricStatus: 'not-ready' as const,
  nPatternsRef: 0,
  targetRefPatterns,
})

export function bootstrapState({ userRef, memberRef }: Designation, begun: Bootstrap) {
  const known = begun.state === null ? unknownAccount(userRef, begun.targetRefPatterns) : accountFields(begun.state)
  return {
    ...known,
    memberRef: known.memberRef ?? memberRef,
    sessionId: begun.sessionToken,
    requiresSecurityCode: begun.requiresSecurityCode,
    ...codeState(begun.state?.member ?? null),
    codeLength: begun.codeLength,
    pendingAction: begun.pendingAction,
    profileUpdate: begun.update,
    nextAttempt: begun.next === null ? null : nextAttempt(begun.next, begun.words),
    ...begun.words,
  }
}

const codeState = (member: Member | null) => ({
  securityCodeSet: member?.code.set ?? false,
  securityCodeTemporary: member?.code.temporary ?? false,
})

/** Begins a sign-in. An unknown user gets the same fields with status 404, so that onboarding can continue. */
export const bootstrapUser = coreRoute({
  method: 'get',
  path: '/users/{userRef}',
  summary: 'Begin a sign-in: returns the account state, a session and words to type',
  description:
    'Continues the session of the header if it is live, and shows again the words that it has not used up; another language replaces them. ' +
    'None of the words of a sign-in was typed at the enrollment or in the last 48 sign-ins, if at least 525 words of the language are enabled. ' +
    'A session of a shared account is bound to the first member that a call names and finds: another member is 400 from then on. ' +
    'Only typing keeps a profile from expiring.',
  countedAs: 'bootstrap',
  needsKey: true,
  needsSession: false,
  takesSession: true,
  replyHeaders: {
    'X-Service-Session':
      'The session of this sign-in, same as sessionId: the given session if it is live, else a new one',
  },
  params: UserParams,
  query: MemberAndLanguageQuery,
  headers: LanguageHeaders,
  body: { kind: 'none' },
  replies: { 200: BootstrapState, 404: BootstrapState },
  refuses: ['member-mismatch'],
  async handle({ organizationId, params, query, session, headers, services }) {
    const who = designation(organizationId, params.userRef, query)
    const begun = await services.bootstrap(who, session, languageHints(query, headers))
    const payload = bootstrapState(who, begun)
    const replyHeaders = { 'X-Service-Session': begun.sessionToken }
    if (!begun.unknown) return { status: 200, payload, headers: replyHeaders }
    return {
      status: 404,
      message: `no such ${begun.state === null ? 'user' : 'member'} yet: create it with POST`,
      payload: { reason: 'user-not-found', ...payload },
      headers: replyHeaders,
    }
  },
})

/** Creates an account, or a member of a shared one, without biometric data. An existing one stays unchanged: status 200. */
export const createUser = coreRoute({
  method: 'post',
  path: '/users/{userRef}',
  summary: 'Create an account, or a member of a shared one',
  description:
    'Without `type` an existing account is accepted as it is; with the other type it is 409, and `member_ref` alone on a nominative account is 400. ' +
    '`user_display_name` labels the member that the call creates, or an account without members. A member created again has only the old locks. ' +
    '`rotate_security_code` also gives a code to an existing account without one, so that an interrupted creation can be repeated.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: {
    kind: 'json',
    optional: true,
    schema: z
      .object({
        type: AccountTypeField.optional().describe(
          'nominative (default) is an account of one person, generic a shared account of several members',
        ),
        member_ref: UserRef.nullish().describe(
          'the member to create on a generic account; an existing one is unchanged, with status 200',
        ),
        rotate_security_code: z.boolean().optional().describe('issue a temporary security code if the person has none'),
        user_display_name: z.string().min(1).max(200).nullish().describe('display label; never an identity key'),
      })
      .meta({
        examples: [
          { user_display_name: 'Ann' },
          { type: 'nominative', rotate_security_code: true },
          { type: 'generic', member_ref: 'bob' },
        ],
      }),
  },
  replies: {
    200: CreatedState,
    201: CreatedState,
  },
  refuses: [
    'validation-failed',
    'member-mismatch',
    'account-type',
    'accounts-quota',
    'shared-accounts-quota',
    'members-quota',
    'rate-limited',
  ],
  async handle({ organizationId, params, query, body, services }) {
    const who = designation(organizationId, params.userRef, query, body.member_ref)
    const { created, securityCode, ...state } = await services.accounts.create(who, {
      type: body.type ?? null,
      displayName: body.user_display_name ?? null,
      withCode: body.rotate_security_code ?? false,
    })
    const { policy } = settingsFor(await services.settingsOf(organizationId), state.account).policy
    return {
      status: created ? 201 : 200,
      payload: {
        ...accountFields(state),
        requiresSecurityCode: policy.security_code_fallback.enabled,
        codeLength: policy.security_code_fallback.code_length,
        ...codeState(state.member),
        created,
        ...(securityCode === null ? {} : { securityCode }),
      },
    }
  },
})

/** Deletes the account and all data that names it; with `member_ref` on a shared account, archives that member. */
export const deleteUser = coreRoute({
  method: 'delete',
  path: '/users/{userRef}',
  summary: 'Delete an account with all its data, or archive a member of a shared one',
  description:
    'The cost of failed attempts stays for 24 hours as a hash: creating the account again lifts no lock. The attempts are subtracted from the ' +
    'counts by application, place and network; counts by outcome, country, browser and system stay. Archiving a member erases patterns, code and ' +
    'label; its sign-ins stay on record without the typing.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: { 200: z.object({ user_id: z.string(), n_patterns_deleted: z.int() }) },
  refuses: ['user-not-found', 'member-mismatch'],
  async handle({ organizationId, params, query, services }) {
    const removed = await services.accounts.remove(designation(organizationId, params.userRef, query))
    return { status: 200, payload: { user_id: removed.userRef, n_patterns_deleted: removed.nPatternsDeleted } }
  },
})
