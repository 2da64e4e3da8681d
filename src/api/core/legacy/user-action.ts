import { z } from 'zod'
import { TypingPattern } from '../../../domain/typing-pattern.js'
import { UserRef } from '../../../domain/user-ref.js'
import type { Designation } from '../../../flows/session/person.js'
import { type CoreServices, coreRoute, designation, MemberQuery, PATTERN_BYTES_MAX, UserParams } from '../core-route.js'
import { memberRefIn } from '../member-ref-body.js'
import { AccountTypeField, Counts } from '../shapes.js'
import { deletePattern, enrollPattern, profileState, resetProfile } from '../typing-patterns.js'
import { LEGACY } from './deprecation-dates.js'

const member_ref = UserRef.optional().describe('the member of a generic account')
const patternId = z.uuid()

/** The actions; `pattern` is the schema of the pattern in LINK_PATTERN. */
const actionsWith = <P extends z.ZodType>(pattern: P) =>
  z.discriminatedUnion(
    'action',
    [
      z.object({ action: z.literal('LINK_PATTERN'), pattern, member_ref }),
      z.object({
        action: z.literal('LINK_PATTERN_ID'),
        patternId: patternId.describe('patternTestId of an authentication of this member'),
        member_ref,
      }),
      z.object({
        action: z.literal('UNLINK_PATTERN_ID'),
        patternId: patternId.describe('id of a reference pattern'),
        member_ref,
      }),
      z.object({ action: z.literal('RESET_BIOMETRIC_PROFILE'), member_ref }),
    ],
    'must be LINK_PATTERN, LINK_PATTERN_ID, UNLINK_PATTERN_ID or RESET_BIOMETRIC_PROFILE',
  )
const Action = actionsWith(z.instanceof(Uint8Array))
type Action = z.infer<typeof Action>

/** Changes of a profile that now have their own endpoints. */
export const userAction = coreRoute({
  method: 'post',
  path: '/user-action/{userRef}',
  summary: 'Add or remove a reference pattern, or reset the profile',
  description:
    'Use the typing-patterns endpoints of the user instead. A complete profile accepts a pattern, new or tested, only with ' +
    'an X-Service-Session that authenticated in the last 5 minutes. A tested pattern keeps its id as a reference, so ' +
    'UNLINK_PATTERN_ID removes it again. LINK_PATTERN_ID is idempotent.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  takesSession: true,
  deprecated: {
    ...LEGACY,
    successor: (body) =>
      body?.action === 'UNLINK_PATTERN_ID'
        ? `/users/{userRef}/typing-patterns/${body.patternId}`
        : '/users/{userRef}/typing-patterns',
  },
  params: UserParams,
  query: MemberQuery,
  body: {
    kind: 'json-around-bytes',
    field: 'pattern',
    maxBytes: PATTERN_BYTES_MAX,
    schema: Action,
    documents: actionsWith(TypingPattern).meta({ examples: [{ action: 'RESET_BIOMETRIC_PROFILE' }] }),
  },
  replies: {
    200: z.object({
      userRef: z.string(),
      accountType: AccountTypeField,
      memberRef: z.string().nullable(),
      ...Counts,
      patternId: z
        .string()
        .nullable()
        .describe('the reference linked or unlinked; null after a reset, and if a full profile stored none'),
    }),
  },
  refuses: [...new Set([...enrollPattern.refuses, ...deletePattern.refuses, ...resetProfile.refuses])],
  async handle({ organizationId, params, query, body, session, services }) {
    const who = designation(organizationId, params.userRef, query, memberRefOf(body))
    const { patternId, warnings, ...state } = await act(services, who, session, body)
    return { status: 200, payload: { ...profileState(state), accountType: state.account.type, patternId }, warnings }
  },
})

/** `member_ref` of the action, else of its pattern. */
const memberRefOf = (body: Action) =>
  body.member_ref ?? (body.action === 'LINK_PATTERN' ? memberRefIn(body.pattern) : null)

async function act({ legacyLink, profiles }: CoreServices, who: Designation, token: string | null, body: Action) {
  switch (body.action) {
    case 'LINK_PATTERN':
      return legacyLink.link(who, token, { kind: 'pattern', body: body.pattern })
    case 'LINK_PATTERN_ID':
      return legacyLink.linkTested(who, token, body.patternId)
    case 'UNLINK_PATTERN_ID':
      return { ...(await profiles.removeOne(who, body.patternId)), patternId: body.patternId, warnings: null }
    case 'RESET_BIOMETRIC_PROFILE':
      return { ...(await profiles.reset(who)), patternId: null, warnings: null }
  }
}
