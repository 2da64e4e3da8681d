import { z } from 'zod'
import { type PolicyFlows, STRICTNESS } from '../../flows/organization/policies.js'
import {
  BucketField,
  Data,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Row,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'
import { Action, contentOf, Id, OnePolicy, PolicyBody, PolicyExample, policyOf } from './policies.js'

const Transitions = z.array(z.object({ from: Action, to: Action, n: z.int() }))

const Simulated = Data(
  z.object({
    n_attempts: z.int(),
    n_changed: z.int(),
    truncated: z.boolean().describe('the window has more attempts than were evaluated'),
    transitions: Transitions,
    users: z
      .array(z.object({ user_ref: z.string(), n_stricter: z.int(), n_looser: z.int() }))
      .describe('users with a changed decision, most changes first, at most 200'),
  }),
)
const simulatedOf = (found: Awaited<ReturnType<PolicyFlows['simulate']>>): z.infer<typeof Simulated> => ({
  data: {
    n_attempts: found.nAttempts,
    n_changed: found.nChanged,
    truncated: found.truncated,
    transitions: [...found.transitions],
    users: found.users.map(({ userRef, nStricter, nLooser }) => ({
      user_ref: userRef,
      n_stricter: nStricter,
      n_looser: nLooser,
    })),
  },
})
const SIMULATES =
  'Evaluates the newest 20,000 typing attempts of a window again, from their records. A context indicator keeps its ' +
  'recorded outcomes; only its weights may differ. `words` changes nothing here: a pattern that `require` refuses leaves no record.'

/** Evaluates a policy on recorded attempts (what-if). */
export const simulatePolicy = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/policies/{id}/simulate',
  onlyReads: true,
  summary: 'Decisions that the policy would have made on recorded attempts',
  description: SIMULATES,
  params: Id,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: withWindow({}).meta({ examples: [{ date_from: '2026-10-01T00:00:00Z', date_to: '2026-11-01T00:00:00Z' }] }),
    optional: true,
  },
  replies: { 200: Simulated },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, body, services, turn }) {
    const window = windowOf(body ?? {}, services.now())
    const found = await services.policies.simulate(organizationId, params.id, window, turn)
    return { status: 200, payload: simulatedOf(found) }
  },
})

/** Evaluates a policy that is not saved, so that its effect is known before anything changes. */
export const simulateDraft = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/policies/simulate',
  onlyReads: true,
  summary: 'Decisions that a policy which is not saved would have made on recorded attempts',
  description: `${SIMULATES} Attempts of all accounts are evaluated, whatever the groups of the policy.`,
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: withWindow({ policy: PolicyBody }).meta({
      examples: [{ policy: PolicyExample, date_from: '2026-10-01T00:00:00Z', date_to: '2026-11-01T00:00:00Z' }],
    }),
  },
  replies: { 200: Simulated },
  refuses: ['validation-failed'],
  async handle({ organizationId, body, services, turn }) {
    const { policy } = contentOf(body.policy)
    const found = await services.policies.simulateDraft(organizationId, policy, windowOf(body, services.now()), turn)
    return { status: 200, payload: simulatedOf(found) }
  },
})

export const policyShadow = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/policies/{id}/shadow',
  summary: "The shadow policy's decisions, compared with the actual ones",
  params: Id,
  query: withWindow({}),
  body: NoBody,
  replies: {
    200: Data(
      z.object({ is_shadow: z.boolean(), n_attempts: z.int(), n_different: z.int(), transitions: Transitions }),
    ),
  },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, query, services }) {
    const { isShadow } = await services.policies.find(organizationId, params.id)
    const all = await services.policies.shadowed(organizationId, params.id, windowOf(query, services.now()))
    const count = (transitions: typeof all) => transitions.reduce((sum, { n }) => sum + n, 0)
    const different = all.filter(({ from, to }) => from !== to)
    const data = { is_shadow: isShadow, n_attempts: count(all), n_different: count(different), transitions: [...all] }
    return { status: 200, payload: { data } }
  },
})

const Decisions = z.object({ auth: z.int(), challenge: z.int(), block: z.int() })

export const policyShadowHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/policies/{id}/shadow-history',
  summary: "The shadow policy's decisions and the actual ones, by bucket",
  params: Id,
  query: withWindow({ bucket: BucketField }),
  body: NoBody,
  replies: {
    200: List(
      z.object({
        date: z.iso.datetime(),
        n_attempts: z.int().describe('attempts that the shadow policy evaluated'),
        n_stricter: z.int().describe('attempts with a stricter decision than the actual one'),
        n_looser: z.int(),
        actual: Decisions,
        shadow: Decisions,
      }),
    ),
  },
  refuses: ['nothing-found'],
  async handle({ organizationId, params, query, services }) {
    const window = windowOf(query, services.now())
    const found = await services.policies.shadowedOver(organizationId, params.id, window, query.bucket)
    const data = found.map(({ at, transitions }) => {
      const sum = (holds: (one: (typeof transitions)[number]) => boolean) =>
        transitions.reduce((all, one) => all + (holds(one) ? one.n : 0), 0)
      const by = (side: 'from' | 'to') => ({
        auth: sum((one) => one[side] === 'auth'),
        challenge: sum((one) => one[side] === 'challenge'),
        block: sum((one) => one[side] === 'block'),
      })
      return {
        date: iso(at),
        n_attempts: sum(() => true),
        n_stricter: sum(({ from, to }) => STRICTNESS[to] > STRICTNESS[from]),
        n_looser: sum(({ from, to }) => STRICTNESS[to] < STRICTNESS[from]),
        actual: by('from'),
        shadow: by('to'),
      }
    })
    return { status: 200, payload: unpaged(data) }
  },
})

/** Makes a policy the shadow policy; it replaces any other. */
export const makeShadow = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/policies/{id}/shadow',
  summary: 'Make a policy the shadow policy: it evaluates each attempt, and its decisions are only counted',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    return {
      status: 200,
      payload: { data: policyOf(await services.policies.setShadow(organizationId, params.id, true)) },
    }
  },
})

/** Ends the shadow; its counted decisions stay. */
export const endShadow = dashboardRoute({
  ...Row,
  method: 'delete',
  path: '/policies/{id}/shadow',
  summary: 'End the shadow of a policy',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: OnePolicy,
  refuses: ['nothing-found'],
  async handle({ organizationId, params, services }) {
    const record = await services.policies.setShadow(organizationId, params.id, false)
    return { status: 200, payload: { data: policyOf(record) } }
  },
})
