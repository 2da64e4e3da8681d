import { z } from 'zod'
import { CHANNELS, EVENT_KINDS } from '../../domain/alert.js'
import { Data, dashboardRoute, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

const each = <K extends string, T extends z.ZodType>(keys: readonly K[], of: T) =>
  // Sound: every key is present.
  z.object(Object.fromEntries(keys.map((key) => [key, of])) as Record<K, T>)
const Matrix = each(EVENT_KINDS, each(CHANNELS, z.boolean()))
const RulesBody = each(EVENT_KINDS, each(CHANNELS, z.boolean().optional()).optional())

const EXAMPLE = {
  blocked: { email: false, sms: false, syslog: true, webhook: false },
  locked: { email: true, sms: false, syslog: true, webhook: false },
}

/** The kinds of event that each channel sends. */
export const alertRules = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/alert',
  summary: 'Alert rules: kinds of event by channel',
  description:
    'The matrix has every kind with every channel; all rules are off at first. A rule takes effect once its channel is set. Every event ' +
    'creates a notification regardless of the rules; `degraded`, which is created after the outage, and `enrollment-completed` need a channel that is on for them. `profile-reset` covers every emptied profile. ' +
    'An alert is retried for 24 hours, six times if the receiver refuses it; at most 1,000 wait for an unreachable channel. A message may arrive twice, with the same id. ' +
    '`security-code-locked` is ' +
    'also raised for the organization as a whole if codes of more than 5 % of its members (at least three), or of more than ' +
    '50 members, failed within ten minutes.',
  params: NoParams,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(Matrix) },
  refuses: [],
  handle: async ({ organizationId, services }) => ({
    status: 200,
    payload: { data: await services.alerts.rules(organizationId) },
  }),
})

/** Changes the given rules; the others stay as they are. */
export const changeAlertRules = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/alert',
  summary: 'Change alert rules; an absent rule stays as it is',
  description: 'The answer is the whole matrix after the change.',
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: RulesBody.refine(
      (rules) => Object.values(rules).some((channels) => Object.values(channels ?? {}).some((on) => on !== undefined)),
      `must name an event (${EVENT_KINDS.join(', ')}) with a channel (${CHANNELS.join(', ')}), true or false`,
    ).meta({ examples: [EXAMPLE] }),
  },
  replies: { 200: Data(Matrix) },
  refuses: ['validation-failed'],
  handle: async ({ organizationId, body, services }) => ({
    status: 200,
    payload: { data: await services.alerts.changeRules(organizationId, body) },
  }),
})
