import { z } from 'zod'
import type { Channel } from '../../domain/alert.js'
import {
  type ChannelSettings,
  EmailSettings,
  FACILITIES,
  SmsSettings,
  SyslogSettings,
  TLS_MODES,
  WebhookSettings,
} from '../../domain/alert-channels.js'
import { WebhookSecret } from '../../domain/webhook.js'
import type { ShownChannel } from '../../flows/alert/alerts.js'
import { isDelivered, OUTCOMES } from '../../flows/alert/courier.js'
import type { SecretChange } from '../../flows/alert/webhook-secret.js'
import type { Route } from '../../http/route.js'
import { type DashboardServices, Data, dashboardRoute, NoBody, NoParams, NoQuery, Row } from './dashboard-route.js'

const Recipients = z.array(z.string())
const SECRET = 'write-only; if absent, the stored value stays'

const EmailReply = z.object({
  host: z.string(),
  port: z.int(),
  tls: z.enum(TLS_MODES),
  sender: z.string(),
  recipients: Recipients,
  user: z.string().nullable(),
  password_set: z.boolean(),
})
const SmsReply = z.object({ url: z.string(), recipients: Recipients, signing_secret_set: z.boolean() })
const SyslogReply = z.object({
  host: z.string(),
  port: z.int(),
  transport: z.enum(['udp', 'tcp', 'tls']),
  facility: z.enum(FACILITIES),
  app_name: z.string(),
})
const WebhookReply = z.object({
  url: z.string(),
  secret_set: z.boolean(),
  secret: z
    .string()
    .optional()
    .describe('present only in the answer to the call that generated it, because the service cannot show it again'),
})

const EmailBody = EmailSettings.extend({
  password: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\p{Cc}]+$/u, 'must not contain a control character')
    .optional()
    .describe(`${SECRET}; required again if host or user changes`),
}).meta({
  examples: [
    {
      host: 'smtp.example.com',
      port: 587,
      tls: 'starttls',
      sender: 'keystride@example.com',
      recipients: ['security@example.com'],
      user: 'keystride',
      password: 'a password',
    },
  ],
})
const SmsBody = SmsSettings.extend({
  signing_secret: z.string().min(16).max(256).optional().describe(`signs every call; ${SECRET}`),
}).meta({
  examples: [
    { url: 'https://sms.example.com/send', recipients: ['+33612345678'], signing_secret: 'sixteen characters or more' },
  ],
})
const SyslogBody = SyslogSettings.meta({
  examples: [{ host: 'logs.example.com', port: 6514, transport: 'tls', facility: 'auth', app_name: 'keystride' }],
})
const WebhookBody = WebhookSettings.extend({
  secret: WebhookSecret.optional().describe(
    'signs every message: whsec_ and 24 to 64 bytes in base64; write-only; if absent, the stored value stays, or one is generated',
  ),
  rotate_secret: z
    .boolean()
    .default(false)
    .describe('generates a new secret; messages have a second signature by the previous one for 24 hours'),
}).meta({ examples: [{ url: 'https://hooks.example.com/keystride' }] })

/** The wire form of a channel. */
interface Wire<B extends z.ZodType> {
  readonly channel: Channel
  readonly name: string
  readonly description: string
  readonly body: B
  readonly reply: z.ZodType
  readonly settingsOf: (body: z.output<B>) => { settings: ChannelSettings; secret: SecretChange }
  readonly shownAs: (shown: ShownChannel) => Record<string, unknown>
}

const email: Wire<typeof EmailBody> = {
  channel: 'email',
  name: 'e-mail',
  description: 'One message to all recipients is sent by SMTP. User and password require TLS.',
  body: EmailBody,
  reply: EmailReply,
  settingsOf: ({ password, ...settings }) => ({
    settings: { channel: 'email', ...settings },
    secret: { given: password },
  }),
  shownAs: ({ settings: { channel: _, ...rest }, secretSet }) => ({ ...rest, password_set: secretSet }),
}
const sms: Wire<typeof SmsBody> = {
  channel: 'sms',
  name: 'SMS',
  description:
    'One POST to the gateway with JSON `id`, `kind`, `at`, `to`, `text`. `X-Keystride-Signature` is `v1=` and the hex ' +
    'HMAC-SHA256, with the signing secret, of `X-Keystride-Timestamp` (seconds), a dot and the body. A repeated message has ' +
    'the same `Idempotency-Key` and `id`. Any 2xx is success; redirects are not followed.',
  body: SmsBody,
  reply: SmsReply,
  settingsOf: ({ signing_secret, ...settings }) => ({
    settings: { channel: 'sms', ...settings },
    secret: { given: signing_secret },
  }),
  shownAs: ({ settings: { channel: _, ...rest }, secretSet }) => ({ ...rest, signing_secret_set: secretSet }),
}
const syslog: Wire<typeof SyslogBody> = {
  channel: 'syslog',
  name: 'syslog',
  description: 'RFC 5424 over UDP, TCP (octet counting, RFC 6587) or TLS (RFC 5425).',
  body: SyslogBody,
  reply: SyslogReply,
  settingsOf: (settings) => ({ settings: { channel: 'syslog', ...settings }, secret: { given: undefined } }),
  shownAs: ({ settings: { channel: _, ...rest } }) => rest,
}
const webhook: Wire<typeof WebhookBody> = {
  channel: 'webhook',
  name: 'webhook',
  description:
    'One POST for each event with JSON `type`, `timestamp`, `data`, signed by the Standard Webhooks specification: ' +
    '`webhook-signature` is `v1,` and the base64 HMAC-SHA256, with the bytes of the secret, of `webhook-id`, a dot, ' +
    '`webhook-timestamp` (seconds), a dot and the body. A repeated message has the same `webhook-id`. Any 2xx is success; ' +
    'redirects are not followed.',
  body: WebhookBody,
  reply: WebhookReply,
  settingsOf: ({ secret, rotate_secret, ...settings }) => ({
    settings: { channel: 'webhook', ...settings },
    secret: { given: secret, rotate: rotate_secret },
  }),
  shownAs: ({ settings: { channel: _, ...rest }, secretSet, newSecret }) => ({
    ...rest,
    secret_set: secretSet,
    ...(newSecret === null ? {} : { secret: newSecret }),
  }),
}

const Outcome = z.object({
  delivered: z.boolean(),
  outcome: z.enum(Object.keys(OUTCOMES) as [keyof typeof OUTCOMES]).describe('the message explains it'),
})

/** The routes that read, set, remove and test one channel. */
function routesOf<B extends z.ZodType>(wire: Wire<B>): Route<DashboardServices>[] {
  const { channel, name, description } = wire
  const common = { ...Row, path: `/alert/${channel}`, params: NoParams, query: NoQuery, description }
  return [
    dashboardRoute({
      ...common,
      method: 'get',
      summary: `Settings of the ${name} channel; null if not set`,
      body: NoBody,
      replies: { 200: Data(wire.reply.nullable()) },
      refuses: [],
      async handle({ organizationId, services }) {
        const shown = await services.alerts.channel(organizationId, channel)
        return { status: 200, payload: { data: shown === null ? null : wire.shownAs(shown) } }
      },
    }),
    dashboardRoute({
      ...common,
      method: 'post',
      summary: `Set the ${name} channel; replaces it as a whole`,
      body: { kind: 'json', schema: wire.body },
      replies: { 200: Data(wire.reply) },
      refuses: ['validation-failed'],
      async handle({ organizationId, body, services }) {
        // Sound: the route's schema has parsed it.
        const { settings, secret } = wire.settingsOf(body as z.output<B>)
        return {
          status: 200,
          payload: { data: wire.shownAs(await services.alerts.setChannel(organizationId, settings, secret)) },
        }
      },
    }),
    dashboardRoute({
      ...common,
      method: 'delete',
      summary: `Remove the ${name} channel with its secret; queued messages are not sent`,
      body: NoBody,
      replies: { 200: z.object({}) },
      refuses: ['nothing-found'],
      async handle({ organizationId, services }) {
        await services.alerts.removeChannel(organizationId, channel)
        return { status: 200, payload: {} }
      },
    }),
    dashboardRoute({
      ...common,
      method: 'post',
      path: `/alert/${channel}/test`,
      summary: `Send a test by ${name} at once and return the outcome`,
      description: 'A channel takes one test in two seconds. The answer has only the kind of failure, not the reply.',
      body: NoBody,
      replies: { 200: Data(Outcome) },
      refuses: ['nothing-found', 'rate-limited'],
      async handle({ organizationId, services }) {
        const outcome = await services.alerts.test(organizationId, channel)
        const delivered = isDelivered(outcome)
        const message = `${delivered ? 'The test was sent' : 'The test was not sent'}: ${OUTCOMES[outcome]}`
        return { status: 200, payload: { data: { delivered, outcome } }, message }
      },
    }),
  ]
}

export const channelRoutes: readonly Route<DashboardServices>[] = [
  ...routesOf(email),
  ...routesOf(sms),
  ...routesOf(syslog),
  ...routesOf(webhook),
]
