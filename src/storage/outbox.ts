import type { AlertEvent } from '../domain/alert.js'
import type { StoredChannel } from './alerts.js'

/** A delivery that is due. */
export interface ClaimedDelivery {
  readonly organizationId: string
  readonly id: string
}

/** What is to be sent over which channel. */
export interface Delivery extends StoredChannel {
  readonly event: AlertEvent
  /** When it was queued, epoch ms. */
  readonly queuedAt: number
  /** How often the other side has refused this very message. */
  readonly refusals: number
  /** Failures of the channel in a row. */
  readonly failures: number
}

/** What becomes of a delivery after a try. */
export type DeliveryNext =
  | { readonly state: 'delivered' }
  | { readonly state: 'failed' }
  /** This one waits: the message was refused, others may not be. */
  | { readonly state: 'waiting'; readonly forMs: number }
  /** The channel waits, and with it all that is queued for it. */
  | { readonly state: 'waiting'; readonly channelForMs: number }

/** Deliveries to be made: at least once, each try on record. */
export interface Outbox {
  /** Nobody else gets these for a minute. */
  claim(most: number): Promise<ClaimedDelivery[]>
  /** Null where it is not to be sent any more: erased, or its channel removed. */
  find(delivery: ClaimedDelivery): Promise<Delivery | null>
  settle(
    delivery: ClaimedDelivery,
    attempt: { readonly at: number; readonly outcome: string; readonly durationMs: number },
    next: DeliveryNext,
  ): Promise<void>
}
