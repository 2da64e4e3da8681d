/** Alerts as the dashboard API gives and takes them. */

import type { List } from './answers.js'
import { t } from './texts.js'

export const CHANNELS = ['email', 'sms', 'syslog', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** One notification over one channel. */
export interface Delivery {
  readonly id: string
  readonly kind: string
  readonly channel: Channel
  readonly state: 'waiting' | 'delivered' | 'failed' | 'dropped'
  readonly queued_at: string
  readonly tries: number
  /** `outcome` is a code; `text` is its description in English. */
  readonly last_try: { readonly at: string; readonly outcome: string; readonly text: string } | null
}
export interface DeliveryList extends List<Delivery> {
  /** Channels that are set up. */
  readonly channels: readonly ChannelHealth[]
}
export interface ChannelHealth {
  readonly channel: Channel
  readonly n_waiting: number
  /** Failed tries in a row. */
  readonly failures: number
  /** Deliveries are not tried before this time; null if the channel is open. */
  readonly closed_until: string | null
}

/** Kinds of event by channel. */
export type Rules = Readonly<Record<string, Readonly<Record<Channel, boolean>>>>

/** The settings of a channel, without its secret. */
export type ChannelSettings = Readonly<Record<string, string | number | boolean | readonly string[] | null>>

type FieldKind = 'text' | 'number' | 'list' | 'secret' | readonly string[]
interface ChannelField {
  readonly name: string
  /** The type of the value, or the values to choose from. */
  readonly kind: FieldKind
  readonly default?: string
  /** Key of the label; the name unless given. */
  readonly label?: keyof typeof t.alerts.fields
}

const FACILITIES = [
  ...['kern', 'user', 'mail', 'daemon', 'auth', 'syslog', 'lpr', 'news', 'uucp', 'cron', 'authpriv', 'ftp', 'ntp'],
  ...['audit', 'alert', 'clock', 'local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
]

/** The fields of each channel, in the order of its form. */
export const FIELDS: Readonly<Record<Channel, readonly ChannelField[]>> = {
  email: [
    { name: 'host', kind: 'text' },
    { name: 'port', kind: 'number', default: '587' },
    { name: 'tls', kind: ['starttls', 'tls', 'none'] },
    { name: 'sender', kind: 'text' },
    { name: 'recipients', kind: 'list' },
    { name: 'user', kind: 'text' },
    { name: 'password', kind: 'secret' },
  ],
  sms: [
    { name: 'url', kind: 'text', default: 'https://' },
    { name: 'recipients', kind: 'list' },
    { name: 'signing_secret', kind: 'secret' },
  ],
  syslog: [
    { name: 'host', kind: 'text' },
    { name: 'port', kind: 'number', default: '6514' },
    { name: 'transport', kind: ['tls', 'tcp', 'udp'] },
    { name: 'facility', kind: FACILITIES, default: 'auth' },
    { name: 'app_name', kind: 'text', default: 'keystride' },
  ],
  webhook: [
    { name: 'url', kind: 'text', default: 'https://', label: 'webhook_url' },
    { name: 'secret', kind: 'secret', label: 'signing_secret' },
  ],
}

/** The form of a channel: every field as text. A secret is empty, because the API does not return it. */
export const formOf = (channel: Channel, settings: ChannelSettings | null): Readonly<Record<string, string>> =>
  Object.fromEntries(
    FIELDS[channel].map(({ name, kind, default: initial }) => {
      const first = typeof kind === 'string' ? '' : kind[0]
      const value = settings === null || kind === 'secret' ? (initial ?? first) : settings[name]
      return [name, Array.isArray(value) ? value.join(', ') : String(value ?? '')]
    }),
  )

/** The body of a form. An empty secret is left out, so the stored one stays. */
export function bodyOf(channel: Channel, form: Readonly<Record<string, string>>): object {
  const fields = FIELDS[channel].flatMap(({ name, kind }): [string, unknown][] => {
    const text = (form[name] ?? '').trim()
    if (kind === 'secret') return text === '' ? [] : [[name, form[name]]]
    if (kind === 'number') return [[name, Number(text)]]
    if (kind === 'list') return [[name, text.split(/[\s,;]+/).filter((one) => one !== '')]]
    return [[name, text === '' && name === 'user' ? null : text]]
  })
  return Object.fromEntries(fields)
}

/** The label of a field. */
export const labelOf = ({ name, label = name }: { readonly name: string; readonly label?: string }): string =>
  (t.alerts.fields as Readonly<Record<string, string>>)[label] ?? label

/** The name of an event in the console's language. */
export const eventName = (event: string): string =>
  (t.alerts.events as Readonly<Record<string, string>>)[event] ?? event
