import { z } from 'zod'
import { canVerify } from '../../../domain/biometric-status.js'
import { TypingPattern } from '../../../domain/typing-pattern.js'
import type { LegacyAnswer } from '../../../flows/legacy/legacy-verify.js'
import {
  coreRoute,
  designation,
  LanguageHeaders,
  languageHints,
  MemberAndLanguageQuery,
  PATTERN_BYTES_MAX,
  UserParams,
} from '../core-route.js'
import { verifyOutcomes } from '../decisions.js'
import { memberRefIn } from '../member-ref-body.js'
import { laneOfVerify, namingBothForms, SecurityCodeBody, securityCodeIn } from '../security-code-body.js'
import { enrollPattern } from '../typing-patterns.js'
import { createUser } from '../users.js'
import { retries, VerifyReply, verifyReply, verifyUser } from '../verify.js'
import { LEGACY } from './deprecation-dates.js'

/** Verify without a bootstrap; with `x-enrollment: USER` it also creates and enrolls. */
export const userVerify = coreRoute({
  method: 'post',
  path: '/user-verify/{userRef}',
  summary: 'Verify without a bootstrap',
  description:
    'Use GET /users/{userRef}, then POST /users/{userRef}/verify instead. Without X-Service-Session, all attempts within ' +
    '900 seconds count as one sign-in, until one of them succeeds. The header `x-enrollment: USER` creates an unknown user ' +
    'and enrolls typing patterns, with action enroll, until the profile is complete. A security code never creates a user. In an enrollment a bot or a replay is rejected with its reason and status 200.',
  outcomes: verifyOutcomes,
  countedAs: 'verify',
  laneOfBody: laneOfVerify,
  needsKey: true,
  needsSession: false,
  takesSession: true,
  deprecated: { ...LEGACY, successor: '/users/{userRef}/verify' },
  params: UserParams,
  query: MemberAndLanguageQuery,
  headers: LanguageHeaders.extend({
    'x-enrollment': z
      .literal('USER')
      .optional()
      .describe('create the user if unknown, and enroll until the profile is complete'),
  }),
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: z.union([TypingPattern, SecurityCodeBody]) },
  replies: { 200: VerifyReply },
  // A bot or a replay in an enrollment is answered 200, as in verify.
  refuses: [
    ...new Set([...verifyUser.refuses, ...createUser.refuses, ...enrollPattern.refuses, 'session-missing' as const]),
  ].filter((kind) => kind !== 'bot-detected' && kind !== 'replay-detected' && kind !== 'profile-complete'),
  async handle({ organizationId, requestId, params, query, body, session, headers, services }) {
    const code = securityCodeIn(body)
    const judged = services.legacyVerify({
      who: designation(
        organizationId,
        params.userRef,
        query,
        code === null ? memberRefIn(body) : code.value.member_ref,
      ),
      token: session,
      enrolls: headers['x-enrollment'] === 'USER',
      input: code === null ? { kind: 'pattern', body } : { kind: 'code', code: code.value.securityCode },
      hints: languageHints(query, headers),
    })
    const answer = await (code === null ? namingBothForms(body, judged) : judged)
    return { status: 200, payload: legacyReply(answer, requestId), warnings: code?.warnings ?? answer.warnings }
  },
})

/** The answer of a verify, also for an enrollment: a stored reference does not authenticate, a refused pattern is `block`. */
function legacyReply(answer: LegacyAnswer, requestId: string): VerifyReply {
  const reply = verifyReply(answer, requestId)
  if (answer.enrollment === null) return reply
  const { patternId, reason } = answer.enrollment
  const complete = canVerify(answer.biometricStatus)
  return {
    ...reply,
    action: reason === '' ? 'enroll' : 'rejected',
    actions: complete && answer.next !== null ? retries(answer.next) : reply.actions,
    authentication: {
      ...reply.authentication,
      recommendedAction: reason === '' ? 'challenge' : 'block',
      patternTestId: patternId ?? '',
    },
    enrollmentRequired: !complete,
    reason,
  }
}
