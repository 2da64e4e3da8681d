import { z } from 'zod'
import { Id, TypedWordsField } from './authentications.js'
import { Data, dashboardRoute, NoBody, NoQuery, Row } from './dashboard-route.js'

/** The inputs and steps of a score. */
export const authenticationTrace = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentication/{id}/trace',
  summary: 'The raw scoring trace of one authentication',
  description:
    'Contains the person’s typing and, outside sensitive mode, the pressed keys: restrict it to people who have to ' +
    'account for a decision about that person. See `docs/integrate.md`. The trace is null for a security code, and after the patterns were ' +
    'deleted.',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: {
    200: Data(
      z.object({
        authentication_id: z.string(),
        policy_id: z.string(),
        recommended_action: z.string(),
        confidence: z.number(),
        confidence_biometrics: z.number(),
        confidence_context: z.number().nullable(),
        typed_words: TypedWordsField,
        trace: z.looseObject({ version: z.int() }).nullable(),
        n_patterns_missing: z.int().describe('patterns of the score that have been deleted since'),
        reproduced: z
          .boolean()
          .nullable()
          .describe('whether this version reproduces the recorded score bit for bit; null without a trace'),
        copy_of: z
          .object({
            pattern_id: z.string(),
            created_at: z.iso.datetime(),
            chance: z
              .number()
              .min(0)
              .max(1)
              .nullable()
              .describe('share of sincere patterns that are as near to an earlier one; null for older authentications'),
            presses: z
              .array(z.number().min(0).max(1))
              .nullable()
              .describe(
                'for each press, the probability that it was taken from an earlier pattern under the same keys; null after a pattern was deleted',
              ),
          })
          .nullable()
          .describe(
            'the earlier pattern of the member that this one is nearest to, if a sincere one is seldom as near',
          ),
      }),
    ),
  },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const { attempt, trace, nMissing, reproduced, copy } = await services.inspect.trace(organizationId, params.id)
    const { id, policyId, recommendedAction, confidence, confidenceBiometrics, confidenceContext } = attempt
    const decision = {
      authentication_id: id,
      policy_id: policyId,
      recommended_action: recommendedAction,
      confidence,
      confidence_biometrics: confidenceBiometrics,
      confidence_context: confidenceContext,
      typed_words: attempt.facts?.typedWords ?? null,
    }
    const copy_of =
      copy === null
        ? null
        : {
            pattern_id: copy.patternId,
            created_at: new Date(copy.at).toISOString(),
            chance: copy.chance,
            presses: copy.presses,
          }
    return { status: 200, payload: { data: { ...decision, trace, n_patterns_missing: nMissing, reproduced, copy_of } } }
  },
})
