import { z } from 'zod'
import { challengeFrom } from '../../domain/policy.js'
import { dashboardRoute, List, NoBody, Paging, Row } from './dashboard-route.js'

/** Our choice: the interface simulates a policy over a window; a person who looks at one attempt asks about that one. */
export const authenticationWhatIf = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/authentication/{id}/what-if',
  summary: 'The verdict of each live policy on one authentication',
  description:
    'The verdicts use the recorded facts, so the call also works after the patterns were deleted. As in `POST /policies/{id}/simulate`, ' +
    'a context indicator keeps its recorded outcomes; only its weights may differ. A security code is 404.',
  params: z.object({ id: z.uuid().toLowerCase() }),
  query: z.object({
    ...Paging,
    policy_id: z.uuid().toLowerCase().optional().describe('only this policy, which may be archived'),
  }),
  body: NoBody,
  replies: {
    200: List(
      z
        .object({
          policy_id: z.string(),
          name: z.string(),
          is_default: z.boolean(),
          is_shadow: z.boolean(),
          archived: z.boolean(),
          of_attempt: z.boolean().describe('this policy decided the authentication; it may have been changed since'),
          recommended_action: z.enum(['auth', 'challenge', 'block']),
          authenticated: z.boolean(),
          reason: z.enum(['', 'detection-bot', 'fraud-detected']),
          confidence: z.number(),
          decision_threshold: z.number(),
          challenge_from: z.number().describe('a confidence from here up to the threshold is a challenge'),
          changed: z.boolean().describe('the recommendation differs from the recorded one'),
        })
        .meta({ title: 'PolicyVerdict' }),
    ),
  },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, query, services }) {
    const { skip, limit, policy_id = null } = query
    const { attempt, verdicts } = await services.policies.whatIf(organizationId, params.id, policy_id)
    const data = verdicts.slice(skip, skip + limit).map(({ record, verdict }) => ({
      policy_id: record.id,
      name: record.policy.name,
      is_default: record.isDefault,
      is_shadow: record.isShadow,
      archived: record.archivedAt !== null,
      of_attempt: record.id === attempt.policyId,
      recommended_action: verdict.recommendedAction,
      authenticated: verdict.recommendedAction === 'auth',
      reason: verdict.reason,
      confidence: verdict.confidence,
      decision_threshold: record.policy.decision_threshold,
      challenge_from: challengeFrom(record.policy),
      changed: verdict.recommendedAction !== attempt.recommendedAction,
    }))
    return { status: 200, payload: { count: verdicts.length, data } }
  },
})
