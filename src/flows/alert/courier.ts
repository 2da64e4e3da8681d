import type { AlertEvent } from '../../domain/alert.js'
import type { ChannelSettings } from '../../domain/alert-channels.js'

/** What a channel carries. */
export interface Message {
  /** The same however often it is sent: who receives it twice may drop one. */
  readonly id: string
  readonly organizationId: string
  readonly event: AlertEvent
  /** Null where this is a message of its own; else what it says in place of the event. */
  readonly test: string | null
}

/** How a try ended: one of these, and nothing of what the other side said. */
export const OUTCOMES = {
  delivered: 'it was taken',
  sent: 'it was sent; UDP tells nobody whether it arrived',
  'not-allowed': 'the host is not one that this deployment lets alerts go to',
  'name-unknown': 'the host name leads to no address',
  unreachable: 'no connection could be made',
  'timed-out': 'there was no answer in time',
  'tls-failed': 'no trusted TLS connection could be made',
  'login-refused': 'user or password were refused',
  refused: 'the message was refused',
  busy: 'the other side cannot take it now',
  'not-understood': 'the other side does not speak the protocol',
} as const
export type DeliveryOutcome = keyof typeof OUTCOMES

export const isDelivered = (outcome: DeliveryOutcome): boolean => outcome === 'delivered' || outcome === 'sent'

/** Sends one message over one channel. Never throws for what the other side does; it takes 10 s at the most. */
export type Courier = (settings: ChannelSettings, secret: string | null, message: Message) => Promise<DeliveryOutcome>
