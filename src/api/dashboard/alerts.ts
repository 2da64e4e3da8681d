import { z } from 'zod'
import { CHANNELS, EVENT_KINDS } from '../../domain/alert.js'
import { Data, dashboardRoute, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

const each = <K extends string, T extends z.ZodType>(keys: readonly K[], of: T) =>
  // Sound: every key is there.
  z.object(Object.fromEntries(keys.map((key) => [key, of])) as Record<K, T>)
const Matrix = each(EVENT_KINDS, each(CHANNELS, z.boolean()))
const RulesBody = each(EVENT_KINDS, each(CHANNELS, z.boolean().optional()).optional())

const EXAMPLE = {
  blocked: { email: false, sms: false, syslog: true },
  locked: { email: true, sms: false, syslog: true },
}

/** Which kinds of event are sent over which channels. */
export const alertRules = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/alert',
  summary: 'Rules matrix: which kind of event is sent over which channel',
  description:
    'Every kind with every channel; all are off until they are set. A kind that is on goes out once its channel is set. Every ' +
    'event is a notification whatever the rules say, but for `degraded`, which is one where a channel is on for it. Under ' +
    '`security-code-locked` comes also, for the organization as a whole, that codes of more than 5 % of its members, or of ' +
    'more than 50, failed within ten minutes (of three at the least).',
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

/** What is named changes, the rest stays. */
export const changeAlertRules = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/alert',
  summary: 'Change rules: what is left out stays as it is',
  description: 'Answers the whole matrix after the change.',
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
