import { z } from 'zod'
import { INDICATOR_WEIGHTS, SIGNAL_WEIGHTS } from '../../domain/context/context.js'
import { CONTEXT_INDICATORS, INDICATORS } from '../../domain/context/signal.js'
import { DEFAULT_POLICY, Policy } from '../../domain/policy.js'
import type { PolicyRecord } from '../../storage/policies.js'
import { Data, dashboardRoute, Flag, iso, isoOrNull, List, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

export const Action = z.enum(['auth', 'challenge', 'block'])
const Groups = z.array(z.string().trim().min(1).max(100)).max(50)
export const PolicyBody = Policy.extend({
  groups: Groups.default([]).describe(
    'the policy applies to accounts in one of these groups; if several policies match, the oldest applies',
  ),
})
export const PolicyExample = {
  ...DEFAULT_POLICY,
  name: 'vault',
  decision_threshold: 0.8,
  priority: 'security',
  indicators: { 'impossible-travel': { weight: 2 } },
  groups: ['accounting'],
}
const PolicyReply = PolicyBody.extend({
  id: z.string(),
  is_default: z.boolean().describe('applies to accounts without a group policy'),
  is_shadow: z
    .boolean()
    .describe('evaluates each attempt in addition to the deciding policy; see GET /policies/{id}/shadow'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime().nullable(),
  archived_at: z.iso.datetime().nullable(),
}).meta({ title: 'Policy' })

export const policyOf = (record: PolicyRecord): z.infer<typeof PolicyReply> => ({
  id: record.id,
  ...record.policy,
  groups: [...record.groups],
  is_default: record.isDefault,
  is_shadow: record.isShadow,
  created_at: iso(record.createdAt),
  updated_at: isoOrNull(record.updatedAt),
  archived_at: isoOrNull(record.archivedAt),
})
export const contentOf = ({ groups, ...policy }: z.output<typeof PolicyBody>) => ({ policy, groups })

export const Id = z.object({ id: z.uuid().toLowerCase() })
export const OnePolicy = { 200: Data(PolicyReply) }

const DEFAULT_WEIGHTS = CONTEXT_INDICATORS.map((indicator) => ({
  indicator,
  weight: INDICATOR_WEIGHTS[indicator],
  signals: { ...SIGNAL_WEIGHTS[indicator] },
}))

/** Live policies, with the indicators and their default weights. */
export const listPolicies = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/policies',
  summary: 'Policies of the organization, oldest first',
  description:
    'A context indicator learns from successes by typing and gives no score before three. No measurement supports the default weights.',
  params: NoParams,
  query: z.object({ archived: Flag.default('false').describe('if true, archived policies are included') }),
  body: NoBody,
  replies: {
    200: List(PolicyReply).extend({
      globally_enabled_indicators: z
        .array(z.enum(INDICATORS))
        .nullable()
        .describe('any other indicator never contributes to a score, regardless of the policy'),
      default_weights: z
        .array(
          z.object({
            indicator: z.enum(CONTEXT_INDICATORS),
            weight: z.number(),
            signals: z.record(z.string(), z.number()),
          }),
        )
        .describe('weights of indicators and signals that a policy does not set'),
    }),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const records = await services.policies.list(organizationId, query.archived === 'true')
    const payload = {
      count: records.length,
      data: records.map(policyOf),
      globally_enabled_indicators: ['biometric', 'bot', ...services.contextIndicators],
      default_weights: DEFAULT_WEIGHTS,
    }
    return { status: 200, payload }
  },
})

/** Creates a policy. Without groups it does not apply to any account yet. */
export const createPolicy = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/policies',
  summary: 'Create a policy',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: PolicyBody.meta({ examples: [PolicyExample] }) },
  replies: { 201: Data(PolicyReply) },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services }) {
    const record = await services.policies.create(organizationId, contentOf(body))
    return { status: 201, payload: { data: policyOf(record) } }
  },
})

export const defaultPolicy = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/default-policy',
  summary: "The organization's default policy",
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: [],
  async handle({ organizationId, services }) {
    return { status: 200, payload: { data: policyOf(await services.policies.default(organizationId)) } }
  },
})

export const onePolicy = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/policies/{id}',
  summary: 'One policy, live or archived',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    return { status: 200, payload: { data: policyOf(await services.policies.find(organizationId, params.id)) } }
  },
})

/** Replaces the policy as a whole. */
export const changePolicy = dashboardRoute({
  ...Row,
  method: 'put',
  path: '/policies/{id}',
  summary: 'Replace a policy; takes effect everywhere within a second',
  params: Id,
  query: NoQuery,
  body: { kind: 'json', schema: PolicyBody.meta({ examples: [PolicyExample] }) },
  replies: OnePolicy,
  refuses: ['validation-failed', 'nothing-found'],
  async handle({ organizationId, params, body, services }) {
    const record = await services.policies.change(organizationId, params.id, contentOf(body))
    return { status: 200, payload: { data: policyOf(record) } }
  },
})

/** Archives a policy. It is not deleted, because records refer to it. */
export const archivePolicy = dashboardRoute({
  ...Row,
  method: 'delete',
  path: '/policies/{id}',
  summary: 'Archive a policy: it no longer applies, and stays readable',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: ['nothing-found', 'policy-default'],
  async handle({ organizationId, params, services }) {
    return { status: 200, payload: { data: policyOf(await services.policies.archive(organizationId, params.id)) } }
  },
})

/** Our choice: the interface reads the default, but has no call to set it. */
export const makeDefaultPolicy = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/policies/{id}/default',
  summary: 'Make a policy the default',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    return { status: 200, payload: { data: policyOf(await services.policies.makeDefault(organizationId, params.id)) } }
  },
})
