import { z } from 'zod'
import { challengeFrom } from '../../domain/policy.js'
import type { ShownPress } from '../../flows/insight/inspect.js'
import { Data, dashboardRoute, NoBody, NoQuery, Row } from './dashboard-route.js'

const Ms = z.number().nullable()
const ComparedTime = z
  .object({
    observed_ms: z.number(),
    expected_ms: z
      .number()
      .describe('the time that the model expects: the references, shrunk towards people in general'),
    spoke_for: z.number().describe('log likelihood ratio: above 0 for the person, below 0 against'),
    n: z
      .int()
      .describe(
        'times of this key (hold) or key pair (the rest) in the enrolled references; the next four fields describe them',
      ),
    mean_ms: Ms,
    deviation_ms: Ms.describe('standard deviation; null with fewer than two times'),
    lowest_ms: Ms,
    highest_ms: Ms,
  })
  .meta({ title: 'ComparedTime' })
const Later = ComparedTime.nullable().describe('from the previous key; null at the first press')

const Press = z.object({
  at: z.int().describe('place in the typing, from 0'),
  first: z.string().nullable().describe('the key before; null at the first press, and if keys are masked'),
  second: z.string().nullable().describe('the key of this press; null if keys are masked'),
  spoke_for: z.number().describe('sum of its times'),
  hold: ComparedTime.nullable(),
  press_press: Later,
  release_press: Later,
  release_release: Later,
})

function pressOf({ first, second, spokeFor, byTime }: ShownPress, at: number): z.infer<typeof Press> {
  const time = (kind: keyof ShownPress['byTime']) => {
    const one = byTime[kind]
    if (one === undefined) return null
    const { observedMs, expectedMs, n, meanMs, deviationMs, lowestMs, highestMs } = one
    return {
      observed_ms: observedMs,
      expected_ms: expectedMs,
      spoke_for: one.spokeFor,
      n,
      mean_ms: meanMs,
      deviation_ms: deviationMs,
      lowest_ms: lowestMs,
      highest_ms: highestMs,
    }
  }
  return {
    at,
    first,
    second,
    spoke_for: spokeFor,
    hold: time('hold'),
    press_press: time('pressPress'),
    release_press: time('releasePress'),
    release_release: time('releaseRelease'),
  }
}

/** The explanation of an attempt in the order of typing, so that a page can draw it. */
export const authenticationPresses = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentication/{id}/presses',
  summary: 'Each key press of one authentication next to the references, with its log likelihood ratio',
  description:
    'Contains the person’s typing and, outside sensitive mode, the pressed keys: restrict it to people who have to ' +
    'account for a decision about that person. The weights do not add up to the confidence: see `docs/integrate.md`. A security code, and an ' +
    'authentication of which a pattern was deleted, is 404 with the reason.',
  params: z.object({ id: z.uuid().toLowerCase() }),
  query: NoQuery,
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        authentication_id: z.string(),
        recommended_action: z.enum(['auth', 'challenge', 'block']),
        authenticated: z.boolean(),
        reason: z.enum(['', 'detection-bot', 'fraud-detected']),
        confidence: z.number(),
        confidence_biometrics: z.number(),
        confidence_context: z.number().nullable(),
        policy: z
          .object({
            id: z.string(),
            name: z.string(),
            decision_threshold: z.number(),
            challenge_from: z.number().describe('a confidence from here up to the threshold is a challenge'),
            on_suspicion: z.enum(['block', 'challenge']),
            changed_since: z.boolean().describe('the policy was changed after the authentication'),
          })
          .describe('the policy that decided, as it is now'),
        masked: z.boolean().describe('true in sensitive mode, where no key is named and all keys count as one'),
        n_references: z.int(),
        n_adaptive: z.int().describe('adaptive references, which count in the score, but not in the ranges'),
        reproduced: z.boolean().nullable().describe('whether this version reproduces the recorded score bit for bit'),
        presses: z.array(Press).describe('in the order of typing, at most 128'),
        whole: z.array(z.object({ sign: z.string(), usual: z.number(), here: z.number(), words: z.string() })),
      }),
    ),
  },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const { attempt, trace, explanation, reproduced } = await services.inspect.presses(organizationId, params.id)
    const { policy, updatedAt } = await services.policies.find(organizationId, attempt.policyId)
    const data = {
      authentication_id: attempt.id,
      recommended_action: attempt.recommendedAction,
      authenticated: attempt.authenticated,
      reason: attempt.reason,
      confidence: attempt.confidence,
      confidence_biometrics: attempt.confidenceBiometrics,
      confidence_context: attempt.confidenceContext,
      policy: {
        id: attempt.policyId,
        name: policy.name,
        decision_threshold: policy.decision_threshold,
        challenge_from: challengeFrom(policy),
        on_suspicion: policy.on_suspicion,
        changed_since: updatedAt !== null && updatedAt > attempt.createdAt,
      },
      masked: explanation.masked,
      n_references: trace.nReferences,
      n_adaptive: trace.nAdaptive,
      reproduced,
      presses: explanation.presses.map(pressOf),
      whole: [...explanation.whole],
    }
    return { status: 200, payload: { data } }
  },
})
