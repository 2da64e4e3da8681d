import { z } from 'zod'
import { DEFAULT_TARGETS } from '../../domain/biometric-status.js'
import type { AccountState, Bootstrap } from '../../flows/bootstrap.js'
import {
  coreRoute,
  designation,
  languageHints,
  MemberAndLanguageQuery,
  MemberQuery,
  NoQuery,
  UserParams,
} from './core-route.js'
import { AccountTypeField, Counts, Words } from './shapes.js'

const AccountFields = {
  userRef: z.string().describe('normalized reference'),
  accountRef: z.string().nullable().describe('id of the account; null where it does not exist'),
  accountType: AccountTypeField,
  memberRef: z.string().nullable(),
  memberSelection: z.enum(['ask', 'list']).nullable(),
  ...Counts,
}
const CodeFields = {
  requiresSecurityCode: z.boolean().describe('the policy lets a security code stand in where typing fails'),
  securityCodeSet: z.boolean(),
  securityCodeTemporary: z.boolean().describe('made by the service: the user must replace it'),
  codeLength: z.int().describe('security code length'),
}
const CreatedState = z.object({
  ...AccountFields,
  created: z.boolean(),
  securityCode: z.string().optional().describe('the temporary security code, shown this once; where asked for'),
})
const BootstrapState = z.object({
  ...AccountFields,
  sessionId: z.string().describe('also the X-Service-Session response header; lives 900 s'),
  ...CodeFields,
  pendingAction: z.enum(['RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE']).nullable(),
  ...Words,
})

function accountFields({ account, member, biometricStatus }: AccountState) {
  return {
    userRef: account.userRef,
    accountRef: account.id,
    accountType: account.type,
    memberRef: member?.memberRef ?? null,
    memberSelection: account.type === 'generic' ? account.memberSelection : null,
    biometricStatus,
    nPatternsRef: member?.nPatternsRef ?? 0,
    targetRefPatterns: DEFAULT_TARGETS.targetRefPatterns,
  }
}

const shell = (userRef: string) => ({
  userRef,
  accountRef: null,
  accountType: 'nominative' as const,
  memberRef: userRef,
  memberSelection: null,
  biometricStatus: 'not-ready' as const,
  nPatternsRef: 0,
  targetRefPatterns: DEFAULT_TARGETS.targetRefPatterns,
})

function bootstrapState(userRef: string, begun: Bootstrap) {
  return {
    ...(begun.state === null ? shell(userRef) : accountFields(begun.state)),
    sessionId: begun.sessionToken,
    requiresSecurityCode: begun.requiresSecurityCode,
    securityCodeSet: begun.state?.member?.code.set ?? false,
    securityCodeTemporary: begun.state?.member?.code.temporary ?? false,
    codeLength: begun.codeLength,
    pendingAction: null,
    ...begun.words,
  }
}

/** Begins a sign-in. An unknown user gets the same shape with status 404, so that onboarding can go on from it. */
export const bootstrapUser = coreRoute({
  method: 'get',
  path: '/users/{userRef}',
  summary: 'Begin a sign-in: state of the account, a session, words to type',
  countedAs: 'bootstrap',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberAndLanguageQuery,
  body: { kind: 'none' },
  replies: { 200: BootstrapState, 404: BootstrapState },
  refuses: ['member-mismatch'],
  async handle({ organizationId, params, query, session, header, services }) {
    const who = designation(organizationId, params.userRef, query)
    const begun = await services.bootstrap(who, session, languageHints(query, header))
    const payload = bootstrapState(params.userRef, begun)
    const headers = { 'X-Service-Session': begun.sessionToken }
    if (begun.state !== null) return { status: 200, payload, headers }
    return {
      status: 404,
      message: 'no such user yet: create it with POST',
      payload: { reason: 'user-not-found', ...payload },
      headers,
    }
  },
})

/** Creates an account without biometric data; an existing one answers 200 and stays as it is. */
export const createUser = coreRoute({
  method: 'post',
  path: '/users/{userRef}',
  summary: 'Create an account',
  countedAs: 'other',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: NoQuery,
  body: {
    kind: 'json',
    optional: true,
    schema: z.object({
      type: z.literal('nominative').default('nominative').describe('one account, one person'),
      member_ref: z.null().optional(),
      rotate_security_code: z
        .boolean()
        .optional()
        .describe('give the account a temporary security code, where it has none'),
      user_display_name: z.string().min(1).max(200).nullish().describe('display label, never an identity key'),
    }),
  },
  replies: {
    200: CreatedState,
    201: CreatedState,
  },
  refuses: ['validation-failed', 'rate-limited'],
  async handle({ organizationId, params, body, services }) {
    const who = designation(organizationId, params.userRef, {})
    const { created, securityCode, ...state } = await services.accounts.create(who, {
      displayName: body.user_display_name ?? null,
      withCode: body.rotate_security_code ?? false,
    })
    const shownOnce = securityCode === null ? {} : { securityCode }
    return { status: created ? 201 : 200, payload: { ...accountFields(state), created, ...shownOnce } }
  },
})

/** Deletes the account and everything that names it. */
export const deleteUser = coreRoute({
  method: 'delete',
  path: '/users/{userRef}',
  summary: 'Delete an account with all of its data',
  countedAs: 'other',
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
