import { z } from 'zod'
import { isoTime } from '../../base/iso-time.js'
import { type AttemptWindow, REFUSED_BECAUSE } from '../../domain/attempts.js'
import { canVerify, refPatternsStatus } from '../../domain/biometric-status.js'
import { TypingPattern } from '../../domain/typing-pattern.js'
import type { VerifyAnswer } from '../../flows/attempt/answer.js'
import {
  coreRoute,
  designation,
  LanguageHeaders,
  languageHints,
  PATTERN_BYTES_MAX,
  PatternQuery,
  UserParams,
} from './core-route.js'
import { verifyOutcomes } from './decisions.js'
import { memberRefIn } from './member-ref-body.js'
import { NextAttempt, nextAttempt } from './next-attempt.js'
import { laneOfVerify, namingBothForms, SecurityCodeBody, securityCodeIn } from './security-code-body.js'
import { BiometricStatusField } from './shapes.js'

const Confidence = z.number().min(0).max(1)
const AuthenticationFields = z
  .object({
    id: z.string(),
    timestamp: z.iso.datetime(),
    authenticated: z.boolean(),
    authMethod: z.enum(['biometric', 'security_code']),
    confidence: Confidence.describe(
      'rounded to a tenth unless authenticated, like the next two; the dashboard has the exact values',
    ),
    confidenceBiometrics: Confidence,
    confidenceContext: Confidence.describe('the biometric confidence if no context signal is known'),
    recommendedAction: z.enum(['auth', 'challenge', 'block']),
    recognizedUser: z.boolean().describe('the biometric confidence alone reached the threshold'),
    patternTestId: z.string().describe('id of the tested pattern; empty if nothing was scored'),
    policyId: z.string(),
    nPatternsRef: z.int(),
    nPatternsRefUsed: z.int(),
  })
  .meta({ title: 'VerifyAuthentication' })
const PatternsStatus = z.enum(['none', 'in-progress', 'ok'])
export const VerifyReply = z
  .object({
    action: z.enum(['verified', 'rejected', 'refused', 'enroll']),
    actions: z.array(
      z.enum([
        'retry-biometric',
        'ask-security-code',
        'enroll',
        'reset-biometric-profile',
        'change-security-code',
        'wait',
      ]),
    ),
    authentication: AuthenticationFields,
    biometricStatus: BiometricStatusField,
    refPatternsStatus: z.object({ textVisible: PatternsStatus, textSensitive: PatternsStatus }),
    refusedBecause: z
      .enum(REFUSED_BECAUSE)
      .nullable()
      .describe(
        'the reason why a refused attempt was not open; null for any other action. code-used means that a temporary code ' +
          'was used, or that its 24 hours are over',
      ),
    nextAttempt: NextAttempt.nullable().describe('null after a success, and if the user can only enroll'),
    enrollmentRequired: z.boolean().describe('if true, do not complete the login: send the user through enrollment'),
    reason: z.enum(['', 'detection-bot', 'fraud-detected']),
  })
  .meta({ title: 'Verify' })
export type VerifyReply = z.infer<typeof VerifyReply>
type ClientAction = VerifyReply['actions'][number]

/** Verifies a typing pattern or a security code. A bot and a replay are answered 200, with `reason`. */
export const verifyUser = coreRoute({
  method: 'post',
  path: '/users/{userRef}/verify',
  summary: 'Verify a user by a typing pattern or a security code',
  description:
    'A session counts attempts, not failures: a success does not refill it, and the next sign-in starts with a bootstrap. A refused attempt, ' +
    'an answer `enroll` and a 422 cost nothing. A pattern that cannot be read, comes from a phone or tablet, or shows pasting is 422; ' +
    'after 20 refused patterns within 15 minutes the member’s patterns get 429, codes stay open. A code may be tried while typing is open, unless the ' +
    'policy sets `require_biometric_first`: then it opens when a typing attempt of the session is recorded as failed. ' +
    'A pattern as near to an earlier one of the member as one sincere pattern in 1,000 is a copy; as near as one in 200 it is `challenge` instead of `auth`, unless the ' +
    'policy’s `priority` is `usability`. If too many codes wait for comparison, the answer is 429 and the attempt is given back.',
  outcomes: verifyOutcomes,
  countedAs: 'verify',
  laneOfBody: laneOfVerify,
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: PatternQuery,
  headers: LanguageHeaders,
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: z.union([TypingPattern, SecurityCodeBody]) },
  replies: { 200: VerifyReply },
  refuses: [
    'session-missing',
    'member-required',
    'member-mismatch',
    'user-not-found',
    'pattern-invalid',
    'words-not-typed',
    'rate-limited',
  ],
  async handle({ organizationId, requestId, params, query, body, session, headers, services }) {
    const hints = languageHints(query, headers)
    const code = securityCodeIn(body)
    const memberRef = code === null ? memberRefIn(body) : code.value.member_ref
    const who = designation(organizationId, params.userRef, query, memberRef)
    const input =
      code === null ? { kind: 'pattern' as const, body } : { kind: 'code' as const, code: code.value.securityCode }
    const verified = services.verify(who, session ?? '', input, hints)
    const answer = await (code === null ? namingBothForms(body, verified) : verified)
    return { status: 200, payload: verifyReply(answer, requestId), warnings: code?.warnings ?? answer.warnings }
  },
})

/** The answer of a verify; `requestId` is the id of an attempt that was not recorded. */
export function verifyReply(answer: VerifyAnswer, requestId: string): VerifyReply {
  const { action, next } = answer
  const enrollmentRequired = action === 'enroll' || (action === 'verified' && !canVerify(answer.biometricStatus))
  return {
    action,
    actions: [...(enrollmentRequired ? ['enroll' as const] : []), ...clientActions(answer)],
    authentication:
      answer.authentication === null ? unscored(answer, requestId) : scored(answer, answer.authentication),
    biometricStatus: answer.biometricStatus,
    refPatternsStatus: {
      textVisible: refPatternsStatus(answer.nVisible, answer),
      textSensitive: refPatternsStatus(answer.nSensitive, answer),
    },
    refusedBecause: answer.refusedBecause,
    nextAttempt: next === null || answer.words === null ? null : nextAttempt(next, answer.words),
    enrollmentRequired,
    reason: answer.authentication?.reason ?? '',
  }
}

/** The client's next actions, without a required enrollment. */
function clientActions({ action, method, member, next }: VerifyAnswer): ClientAction[] {
  // A temporary code signs in once.
  if (next === null) return method === 'security_code' && member.code.temporary ? ['change-security-code'] : []
  if (action === 'enroll') return next.mode === 'security_code' ? ['ask-security-code'] : []
  return retries(next)
}

/** The client's possible actions after a failed attempt. */
export function retries(next: AttemptWindow): ClientAction[] {
  if (next.mode === 'locked') return next.retryAfterSeconds === null ? ['reset-biometric-profile'] : ['wait']
  if (next.mode === 'security_code') return ['ask-security-code']
  return next.codeOpen ? ['retry-biometric', 'ask-security-code'] : ['retry-biometric']
}

function scored(
  answer: VerifyAnswer,
  record: NonNullable<VerifyAnswer['authentication']>,
): z.infer<typeof AuthenticationFields> {
  const shown = shownConfidence(record.authenticated)
  return {
    id: record.id,
    timestamp: isoTime(record.createdAt),
    authenticated: record.authenticated,
    authMethod: record.method,
    confidence: shown(record.confidence),
    confidenceBiometrics: shown(record.confidenceBiometrics),
    // Our choice: the interface requires a number; with this one the confidence formula holds for any weight.
    confidenceContext: shown(record.confidenceContext ?? record.confidenceBiometrics),
    recommendedAction: record.recommendedAction,
    recognizedUser: answer.recognizedUser,
    patternTestId: record.patternId ?? '',
    policyId: record.policyId,
    nPatternsRef: record.nPatternsRef,
    nPatternsRefUsed: record.nPatternsRefUsed,
  }
}

/**
 * A failed attempt's confidence in tenths: with the exact value an attacker could improve a pattern step by step. The dashboard and
 * the trace keep the exact value.
 */
const shownConfidence =
  (authenticated: boolean) =>
  (confidence: number): number =>
    authenticated ? confidence : Math.round(10 * confidence) / 10

/** An attempt that was neither scored nor recorded. Its id is the request's id, which the log has at level debug. */
function unscored(answer: VerifyAnswer, requestId: string): z.infer<typeof AuthenticationFields> {
  return {
    id: requestId,
    timestamp: isoTime(answer.at),
    authenticated: false,
    authMethod: answer.method,
    confidence: 0,
    confidenceBiometrics: 0,
    confidenceContext: 0,
    recommendedAction: answer.action === 'enroll' ? 'challenge' : 'block',
    recognizedUser: false,
    patternTestId: '',
    policyId: answer.policyId,
    nPatternsRef: answer.nPatternsRef,
    nPatternsRefUsed: 0,
  }
}
