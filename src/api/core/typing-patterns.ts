import { z } from 'zod'
import { TypingPattern } from '../../domain/typing-pattern.js'
import type { AccountState } from '../../flows/session/bootstrap.js'
import {
  coreRoute,
  designation,
  LanguageHeaders,
  languageHints,
  MemberQuery,
  PATTERN_BYTES_MAX,
  PatternQuery,
  UserParams,
} from './core-route.js'
import { memberRefIn } from './member-ref-body.js'
import { AccountTypeField, Counts, countsOf, ProfileUpdateField, RetryAfterField, Words } from './shapes.js'

const ProfileState = { userRef: z.string(), memberRef: z.string().nullable(), ...Counts }

export const profileState = ({ account, member, ...profile }: AccountState) => ({
  userRef: account.userRef,
  memberRef: member?.memberRef ?? null,
  ...countsOf(profile),
})

/** Enrolls one reference pattern per call, until the profile is complete. */
export const enrollPattern = coreRoute({
  method: 'post',
  path: '/users/{userRef}/typing-patterns',
  summary: 'Enroll one reference pattern',
  description:
    'In an expired profile the old patterns are dropped once the new ones are complete. A complete profile takes further patterns within ' +
    '5 minutes of a success by typing in the same session. A pattern before the hours of the policy’s `enrollment` is 429 and used up. ' +
    'A machine’s pattern, a replay and events that show pasting are 422 and cost no attempt; after 20 refused patterns within 15 minutes the ' +
    'member’s patterns get 429 until the oldest is 15 minutes old. A pattern counts as seen with its first final answer, whatever that is: ' +
    'sent again, exact or edited, it is a replay. After a 5xx it was not seen, unless its commit was under way.',
  countedAs: 'enroll',
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: PatternQuery,
  headers: LanguageHeaders,
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: TypingPattern },
  replies: {
    200: z
      .object({
        userRef: z.string(),
        accountType: AccountTypeField,
        memberRef: z.string(),
        created: z.boolean().describe('whether this call stored a reference pattern'),
        patternId: z.string().nullable().describe('id of the stored pattern, to remove it; null if none was stored'),
        ...Counts,
        profileUpdate: ProfileUpdateField,
        retryAfterSeconds: RetryAfterField,
        ...Words,
      })
      .meta({ title: 'Enrollment' }),
  },
  refuses: [
    'session-missing',
    'member-required',
    'member-mismatch',
    'user-not-found',
    'pattern-invalid',
    'words-not-typed',
    'bot-detected',
    'replay-detected',
    'profile-complete',
    'profile-locked',
    'too-soon',
    'rate-limited',
  ],
  async handle({ organizationId, params, query, body, session, headers, services }) {
    const who = designation(organizationId, params.userRef, query, memberRefIn(body))
    const input = { kind: 'pattern', body } as const
    const enrolled = await services.enroll(who, session ?? '', input, languageHints(query, headers))
    return {
      status: 200,
      payload: {
        userRef: enrolled.account.userRef,
        accountType: enrolled.account.type,
        memberRef: enrolled.member.memberRef,
        created: enrolled.patternId !== null,
        patternId: enrolled.patternId,
        ...countsOf(enrolled),
        profileUpdate: enrolled.update,
        retryAfterSeconds: enrolled.retryAfterSeconds,
        ...enrolled.words,
      },
      warnings: enrolled.warnings,
    }
  },
})

/** Empties the profile and ends its sessions; the account stays. */
export const resetProfile = coreRoute({
  method: 'delete',
  path: '/users/{userRef}/typing-patterns',
  summary: 'Reset the biometric profile',
  description:
    'Ends the queued action, the sessions and the links of the person, and reopens typing that is locked, not a locked code. While an ' +
    'administrator’s lock holds, the profile takes no new pattern.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams,
  query: MemberQuery,
  body: { kind: 'none' },
  replies: {
    200: z.object({ ...ProfileState, n_patterns_deleted: z.int().describe('enrolled references') }),
  },
  refuses: ['user-not-found', 'member-required', 'member-mismatch'],
  async handle({ organizationId, params, query, services }) {
    const { nPatternsDeleted, ...state } = await services.profiles.reset(
      designation(organizationId, params.userRef, query),
    )
    return { status: 200, payload: { ...profileState(state), n_patterns_deleted: nPatternsDeleted } }
  },
})

export const deletePattern = coreRoute({
  method: 'delete',
  path: '/users/{userRef}/typing-patterns/{patternId}',
  summary: 'Remove one reference pattern',
  description:
    'An adaptive reference has the `patternTestId` of the attempt that it was learned from. Removing an enrolled reference removes the adaptive ones too.',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: UserParams.extend({ patternId: z.uuid() }),
  query: MemberQuery,
  body: { kind: 'none' },
  replies: { 200: z.object(ProfileState) },
  refuses: ['user-not-found', 'pattern-not-found', 'member-required', 'member-mismatch'],
  async handle({ organizationId, params, query, services }) {
    const who = designation(organizationId, params.userRef, query)
    return { status: 200, payload: profileState(await services.profiles.removeOne(who, params.patternId)) }
  },
})
