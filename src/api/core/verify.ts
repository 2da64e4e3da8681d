import { z } from 'zod'
import type { AttemptWindow } from '../../domain/attempts.js'
import { canVerify, refPatternsStatus } from '../../domain/biometric-status.js'
import { TypingPattern } from '../../domain/typing-pattern.js'
import type { VerifyAnswer } from '../../flows/attempt-record.js'
import type { SuggestedWords } from '../../flows/words.js'
import {
  coreRoute,
  designation,
  languageHints,
  MemberAndLanguageQuery,
  PATTERN_BYTES_MAX,
  UserParams,
} from './core-route.js'
import { memberRefIn } from './member-ref-body.js'
import { laneOfVerify, SecurityCodeBody, securityCodeIn } from './security-code-body.js'
import { BiometricStatusField, Words } from './shapes.js'

const NextAttempt = z.object({
  mode: z.enum(['biometric', 'security_code', 'locked']),
  remainingBiometricAttempts: z.int(),
  remainingCodeAttempts: z.int(),
  retryAfterSeconds: z.int().nullable().describe('0 where a mode is open; null where waiting does not help'),
  ...Words,
})
const AuthenticationFields = z.object({
  id: z.string(),
  timestamp: z.iso.datetime(),
  authenticated: z.boolean(),
  authMethod: z.enum(['biometric', 'security_code']),
  confidence: z.number().min(0).max(1),
  confidenceBiometrics: z.number().min(0).max(1),
  confidenceContext: z.number().min(0).max(1).describe('the biometric confidence where no context signal is known'),
  recommendedAction: z.enum(['auth', 'challenge', 'block']),
  recognizedUser: z.boolean().describe('the typing alone reached the threshold'),
  patternTestId: z.string().describe('id of the tested pattern; empty where nothing was scored'),
  policyId: z.string(),
  nPatternsRef: z.int(),
  nPatternsRefUsed: z.int(),
})
const PatternsStatus = z.enum(['none', 'in-progress', 'ok'])
export const VerifyReply = z.object({
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
  nextAttempt: NextAttempt.nullable(),
  enrollmentRequired: z.boolean().describe('do not issue the login: send the user through enrollment'),
  reason: z.enum(['', 'detection-bot', 'fraud-detected']),
})
export type VerifyReply = z.infer<typeof VerifyReply>
type ClientAction = VerifyReply['actions'][number]

/** Judges a typing pattern against the profile, or a security code in its place. A bot and a replay are answered 200, with `reason`. */
export const verifyUser = coreRoute({
  method: 'post',
  path: '/users/{userRef}/verify',
  summary: 'Verify a user by a typing pattern or a security code',
  countedAs: 'verify',
  laneOfBody: laneOfVerify,
  needsKey: true,
  needsSession: true,
  params: UserParams,
  query: MemberAndLanguageQuery,
  body: { kind: 'bytes', maxBytes: PATTERN_BYTES_MAX, documents: z.union([TypingPattern, SecurityCodeBody]) },
  replies: { 200: VerifyReply },
  refuses: [
    'session-missing',
    'member-required',
    'member-mismatch',
    'user-not-found',
    'pattern-invalid',
    'rate-limited',
  ],
  async handle({ organizationId, requestId, params, query, body, session, header, services }) {
    const hints = languageHints(query, header)
    const code = securityCodeIn(body)
    const who = designation(organizationId, params.userRef, query, code === null ? memberRefIn(body) : code.member_ref)
    const answer =
      code === null
        ? await services.verify(who, session ?? '', body, hints)
        : await services.verifyCode(who, session ?? '', code.securityCode, hints)
    return { status: 200, payload: verifyReply(answer, requestId) }
  },
})

/** What a verify is answered; `requestId` names an attempt that was not recorded. */
export function verifyReply(answer: VerifyAnswer, requestId: string): VerifyReply {
  const { next } = answer
  return {
    action: answer.action,
    actions: next === null ? afterSuccess(answer) : clientActions(answer, next),
    authentication:
      answer.authentication === null ? unscored(answer, requestId) : scored(answer, answer.authentication),
    biometricStatus: answer.biometricStatus,
    refPatternsStatus: {
      textVisible: refPatternsStatus(answer.nVisible, answer),
      textSensitive: refPatternsStatus(answer.nSensitive, answer),
    },
    nextAttempt: next === null || answer.words === null ? null : nextAttempt(next, answer.words),
    enrollmentRequired: answer.action === 'enroll' || (next === null && !canVerify(answer.biometricStatus)),
    reason: answer.authentication?.reason ?? '',
  }
}

/** A temporary code has signed in for the only time. */
const afterSuccess = ({ method, member }: VerifyAnswer): ClientAction[] =>
  method === 'security_code' && member.code.temporary ? ['change-security-code'] : []

function clientActions({ action }: VerifyAnswer, next: AttemptWindow): ClientAction[] {
  if (action === 'enroll') return next.mode === 'security_code' ? ['enroll', 'ask-security-code'] : ['enroll']
  if (next.mode === 'locked') return next.retryAfterSeconds === null ? ['reset-biometric-profile'] : ['wait']
  if (next.mode === 'security_code') return ['ask-security-code']
  return next.codeOpen ? ['retry-biometric', 'ask-security-code'] : ['retry-biometric']
}

const nextAttempt = (next: AttemptWindow, words: SuggestedWords): z.infer<typeof NextAttempt> => ({
  mode: next.mode,
  remainingBiometricAttempts: next.remainingBiometricAttempts,
  remainingCodeAttempts: next.remainingCodeAttempts,
  retryAfterSeconds: next.retryAfterSeconds,
  ...words,
})

function scored(
  answer: VerifyAnswer,
  record: NonNullable<VerifyAnswer['authentication']>,
): z.infer<typeof AuthenticationFields> {
  return {
    id: record.id,
    timestamp: new Date(record.createdAt).toISOString(),
    authenticated: record.authenticated,
    authMethod: record.method,
    confidence: record.confidence,
    confidenceBiometrics: record.confidenceBiometrics,
    // Our choice: the interface wants a number; the formula of the decision holds with this one whatever its weight.
    confidenceContext: record.confidenceContext ?? record.confidenceBiometrics,
    recommendedAction: record.recommendedAction,
    recognizedUser: answer.recognizedUser,
    patternTestId: record.pattern?.id ?? '',
    policyId: record.policyId,
    nPatternsRef: record.nPatternsRef,
    nPatternsRefUsed: record.nPatternsRefUsed,
  }
}

/** Nothing was scored or compared, and nothing recorded: the request's id stands in, so that a support case finds the log line. */
function unscored(answer: VerifyAnswer, requestId: string): z.infer<typeof AuthenticationFields> {
  return {
    id: requestId,
    timestamp: new Date(answer.at).toISOString(),
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
