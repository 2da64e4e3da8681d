/** Turns answers of the service into results. */
import type { Reply } from './calls.js'
import { isObject } from './checks.js'
import { type Authentication, failed, line, type RecommendedAction, type VerifyResult } from './result.js'

const MACHINE = 'a machine probably typed this'

export function enrollmentOf(reply: Reply): VerifyResult {
  if (reply.status !== 200) return failureOf(reply)
  const { success, nPatternsRef: done, targetRefPatterns: target } = reply.json ?? {}
  if (success !== true || !isCount(done) || !isCount(target)) return notUnderstood(reply)
  return { ...failed(0, `enrolled: pattern ${done} of ${target}`), enrollment: { done, target } }
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0

/** The verdict of a verify answer. Fails closed: only a clean pass by typing is `auth` (interface, Verify rules 2 to 5). */
export function verdictOf(reply: Reply): VerifyResult {
  const { json } = reply
  if (reply.status !== 200) return failureOf(reply)
  if (json?.enrollmentRequired === true) return failed(205, 'the profile of the user is not complete: enroll')
  const given = json?.authentication
  if (json?.success !== true || !isObject(given) || !isAction(given.recommendedAction)) return notUnderstood(reply)
  const bot = json.reason === 'detection-bot'
  const clean =
    given.authenticated === true &&
    given.authMethod === 'biometric' &&
    json.action === 'verified' &&
    json.enrollmentRequired === false &&
    json.reason === ''
  const refused = json.action === 'refused'
  const asked = given.recommendedAction === 'auth' && !clean ? 'challenge' : given.recommendedAction
  const recommendedAction = bot || refused ? 'block' : asked
  const authenticated = recommendedAction === 'auth'
  return {
    code: bot ? 204 : 0,
    recommendedAction,
    // Sound but for fields that the service left out.
    authentication: refused ? null : ({ ...given, authenticated, recommendedAction } as unknown as Authentication),
    enrollment: null,
    message: line(
      bot
        ? MACHINE
        : refused
          ? `no attempt was open: ${json.refusedBecause}`
          : json.reason === 'fraud-detected'
            ? 'this typing was recorded before'
            : asked === given.recommendedAction
              ? `the service recommends ${asked}`
              : 'not a clean pass by typing',
    ),
  }
}

const isAction = (action: unknown): action is RecommendedAction =>
  action === 'auth' || action === 'challenge' || action === 'block'

/** The code of an answer that is no success. */
export function failureOf(reply: Reply): VerifyResult {
  const { status, json, problem } = reply
  if (status === 0) return failed(201, problem)
  const says = saysOf(reply)
  if (status === 401) return failed(202, 'the API key is not valid')
  // These come from the service or from a proxy in front of it, and mean that nothing was decided.
  if (status >= 500) return failed(201, `the service cannot answer: ${says}`)
  if (json?.success !== false) return notUnderstood(reply)
  if (status === 403) return failed(202, `the API key may not do this: ${says}`)
  if (status === 404 && json.reason === 'user-not-found') return failed(205, says)
  if (status !== 413 && status !== 422) return notUnderstood(reply)
  if (json.reason === 'detection-bot') return { ...failed(204, MACHINE), recommendedAction: 'block' }
  return failed(203, says)
}

export const notUnderstood = (reply: Reply): VerifyResult =>
  failed(206, `the answer was not understood: ${reply.json === null ? 'no JSON object, ' : ''}${saysOf(reply)}`)

const saysOf = ({ status, json }: Reply): string =>
  `status ${status}${typeof json?.message === 'string' ? `, ${json.message}` : ''}`
