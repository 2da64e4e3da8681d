import { z } from 'zod'
import type { Channel } from './alert.js'
import { canonicalHost } from './alert-host.js'
import { redirectUri } from './redirect-uri.js'

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const ADDRESS = new RegExp(`^(?=.{3,254}$)(?=[^@]{1,64}@)${ATOM}(?:\\.${ATOM})*@([A-Za-z0-9.-]+)$`)
const LINE = /^[\x20-\x7e]+$/
const RECIPIENTS_MAX = 20

const Host = z
  .string()
  .max(255)
  .transform((text, context) => {
    const host = canonicalHost(text)
    if (host !== null) return host
    context.addIssue({ code: 'custom', message: 'must be a host name or an address' })
    return z.NEVER
  })
const Port = z.int().min(1).max(65_535)

/** One mailbox of ASCII dot-atoms, without name, comment or quoting, so its text cannot end a header. */
export const Mailbox = z
  .string()
  .max(254)
  .refine((text) => {
    const domain = ADDRESS.exec(text)?.[1]
    return domain !== undefined && canonicalHost(domain) === domain.toLowerCase()
  }, 'must be one e-mail address, such as alerts@example.com')

const several = <T extends z.ZodType>(item: T) =>
  z
    .array(item)
    .min(1)
    .max(RECIPIENTS_MAX)
    .refine((items) => new Set(items).size === items.length, 'must not contain duplicates')

export const TLS_MODES = ['none', 'starttls', 'tls'] as const

/** E-mail server, sender and recipients. */
export const EmailSettings = z.object({
  host: Host.describe('SMTP server; its host must be in ALERT_HOSTS'),
  port: Port,
  tls: z.enum(TLS_MODES).describe('starttls requires STARTTLS, tls uses TLS from the first byte, none is unencrypted'),
  sender: Mailbox,
  recipients: several(Mailbox),
  user: z.string().max(255).regex(LINE, 'must be printable ASCII on one line').nullable().default(null),
})
export type EmailSettings = z.output<typeof EmailSettings>

const HttpsUrl = z
  .string()
  .max(2048)
  .transform((text, context) => {
    const url = redirectUri(text)
    if (url?.startsWith('https:') && canonicalHost(new URL(url).hostname) !== null) return url
    context.addIssue({ code: 'custom', message: 'must be an https URL without user info and fragment' })
    return z.NEVER
  })

/** Gateway and recipients of text messages. */
export const SmsSettings = z.object({
  url: HttpsUrl.describe('gateway; its host must be in ALERT_HOSTS'),
  recipients: several(z.string().regex(/^\+[1-9]\d{6,14}$/, 'must be a number such as +33612345678')),
})
export type SmsSettings = z.output<typeof SmsSettings>

/** RFC 5424, section 6.2.1; the index is the number. */
export const FACILITIES = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'audit',
  'alert',
  'clock',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const

/** Syslog server. */
export const SyslogSettings = z.object({
  host: Host.describe('must be in ALERT_HOSTS'),
  port: Port,
  transport: z.enum(['udp', 'tcp', 'tls']),
  facility: z.enum(FACILITIES).default('auth'),
  app_name: z
    .string()
    .regex(/^[\x21-\x7e]{1,48}$/, 'must be 1 to 48 printable ASCII characters without a space')
    .default('keystride'),
})
export type SyslogSettings = z.output<typeof SyslogSettings>

/** Receiver of webhooks. */
export const WebhookSettings = z.object({ url: HttpsUrl.describe('receiver; its host must be in ALERT_HOSTS') })
export type WebhookSettings = z.output<typeof WebhookSettings>

export type ChannelSettings =
  | ({ readonly channel: 'email' } & EmailSettings)
  | ({ readonly channel: 'sms' } & SmsSettings)
  | ({ readonly channel: 'syslog' } & SyslogSettings)
  | ({ readonly channel: 'webhook' } & WebhookSettings)

/** Host and port that a channel connects to; the host is canonical. */
export function endpointOf(settings: ChannelSettings): { readonly host: string; readonly port: number } {
  if (!('url' in settings)) return settings
  const { hostname, port } = new URL(settings.url)
  // Sound: the schema has parsed the URL and its host.
  return { host: canonicalHost(hostname) as string, port: port === '' ? 443 : Number(port) }
}

const SCHEMAS = { email: EmailSettings, sms: SmsSettings, syslog: SyslogSettings, webhook: WebhookSettings } as const

/** Reads stored settings; throws if the current schema does not accept them. */
export const readSettings = (channel: Channel, stored: unknown): ChannelSettings =>
  // Sound: each channel's own schema has parsed the settings.
  ({ channel, ...SCHEMAS[channel].parse(stored) }) as ChannelSettings
