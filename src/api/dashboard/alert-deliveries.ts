import { z } from 'zod'
import { CHANNELS, EVENT_KINDS } from '../../domain/alert.js'
import { OUTCOMES } from '../../flows/alert/courier.js'
import { DELIVERY_STATES, type LoggedDelivery } from '../../storage/alerts.js'
import { dashboardRoute, iso, isoOrNull, List, NoBody, NoParams, Paging, Row } from './dashboard-route.js'

const Delivery = z
  .object({
    id: z.string().describe('the receiver gets it too, as `X-Keystride-Delivery`, `id` or `webhook-id`'),
    notification_id: z.string().describe('see GET /notifications'),
    kind: z.enum(EVENT_KINDS),
    channel: z.enum(CHANNELS),
    state: z
      .enum(DELIVERY_STATES)
      .describe('failed means given up; dropped means that 1,000 others waited, or that the channel was removed first'),
    queued_at: z.iso.datetime(),
    due_at: z.iso.datetime().nullable().describe('the earliest next try; null unless it waits'),
    refusals: z.int().describe('tries in which the receiver refused this message'),
    tries: z.int(),
    last_try: z
      .object({ at: z.iso.datetime(), outcome: z.string(), text: z.string(), duration_ms: z.number() })
      .nullable()
      .describe('null before the first try'),
  })
  .meta({ title: 'AlertDelivery' })

const textOf = (outcome: string): string =>
  Object.hasOwn(OUTCOMES, outcome) ? OUTCOMES[outcome as keyof typeof OUTCOMES] : outcome

function deliveryOf(one: LoggedDelivery): z.infer<typeof Delivery> {
  const { lastTry } = one
  return {
    id: one.id,
    notification_id: one.notificationId,
    kind: one.kind,
    channel: one.channel,
    state: one.state,
    queued_at: iso(one.queuedAt),
    due_at: isoOrNull(one.dueAt),
    refusals: one.refusals,
    tries: one.tries,
    last_try:
      lastTry === null
        ? null
        : {
            at: iso(lastTry.at),
            outcome: lastTry.outcome,
            text: textOf(lastTry.outcome),
            duration_ms: lastTry.durationMs,
          },
  }
}

export const alertDeliveries = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/alert/deliveries',
  summary: 'Deliveries of alerts, newest first, and the state of each channel',
  description:
    'Each notification has one delivery per channel that the rules name. A delivery is kept for 90 days, like its notification. ' +
    'No outcome quotes the receiver. A test of a channel is not a delivery.',
  params: NoParams,
  query: z.object({ ...Paging, channel: z.enum(CHANNELS).optional(), state: z.enum(DELIVERY_STATES).optional() }),
  body: NoBody,
  replies: {
    200: List(Delivery).extend({
      channels: z
        .array(
          z.object({
            channel: z.enum(CHANNELS),
            n_waiting: z.int(),
            failures: z.int().describe('failed tries in a row'),
            closed_until: z.iso.datetime().nullable().describe('no try is made before; null if one may be made now'),
          }),
        )
        .describe('the channels that are set'),
    }),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const { channel = null, state = null } = query
    const found = await services.alerts.deliveries(organizationId, { channel, state }, query)
    const channels = found.channels.map((one) => ({
      channel: one.channel,
      n_waiting: one.nWaiting,
      failures: one.failures,
      closed_until: isoOrNull(one.closedUntil),
    }))
    return { status: 200, payload: { count: found.count, channels, data: found.deliveries.map(deliveryOf) } }
  },
})
