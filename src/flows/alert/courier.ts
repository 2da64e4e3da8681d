import type { AlertEvent } from '../../domain/alert.js'
import type { ChannelSettings } from '../../domain/alert-channels.js'

/** One message of a channel. */
export interface Message {
  /** The same in every try, so that a receiver can drop duplicates. */
  readonly id: string
  readonly organizationId: string
  readonly event: AlertEvent
  /** Text of a test message, sent instead of the event; null for an alert. */
  readonly test: string | null
}

/** Outcomes of a try. No outcome quotes the receiver's reply. */
export const OUTCOMES = {
  delivered: 'the receiver accepted it',
  sent: 'UDP does not confirm its arrival',
  'not-allowed': 'this deployment does not allow alerts to the host',
  'name-unknown': 'the host name has no address',
  unreachable: 'no connection could be made',
  'timed-out': 'there was no answer in time',
  'tls-failed': 'no trusted TLS connection could be made',
  'login-refused': 'the user or the password was refused',
  refused: 'the message was refused',
  busy: 'the receiver cannot accept it now',
  'not-understood': 'the receiver does not speak the protocol',
} as const
export type DeliveryOutcome = keyof typeof OUTCOMES

export const isDelivered = (outcome: DeliveryOutcome): boolean => outcome === 'delivered' || outcome === 'sent'

/** Sends one message over one channel, within 10 s. Never throws for a failure of the receiver. */
export type Courier = (settings: ChannelSettings, secret: string | null, message: Message) => Promise<DeliveryOutcome>
