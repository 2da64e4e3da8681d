import type { AlertEvent } from '../domain/alert.js'
import type { StoredChannel } from './alerts.js'

/** A delivery that is due. */
export interface ClaimedDelivery {
  readonly organizationId: string
  readonly id: string
}

/** An alert to send, and its channel. */
export interface Delivery extends StoredChannel {
  readonly event: AlertEvent
  /** Epoch ms. */
  readonly queuedAt: number
  /** Refusals of this message by the receiver. */
  readonly refusals: number
  /** Failures of the channel in a row. */
  readonly failures: number
}

/** State of a delivery after a try. */
export type DeliveryNext =
  | { readonly state: 'delivered' }
  | { readonly state: 'failed' }
  /** The message was refused and waits. Others do not wait. */
  | { readonly state: 'waiting'; readonly forMs: number }
  /** The channel failed, and all its deliveries wait. */
  | { readonly state: 'waiting'; readonly channelForMs: number }

/** The waiting deliveries of all organizations. */
export interface OutboxState {
  readonly waiting: number
  /** Age of the oldest waiting delivery; null if none waits. */
  readonly oldestWaitingS: number | null
  /** Channels that pause after a failure. */
  readonly channelsPaused: number
}

/** Queued deliveries. Each is sent at least once, and each try is recorded. */
export interface Outbox {
  /** Claims due deliveries for a minute. */
  claim(most: number): Promise<ClaimedDelivery[]>
  /** The alert of a delivery; null if the delivery was erased or its channel was removed. */
  find(delivery: ClaimedDelivery): Promise<Delivery | null>
  settle(
    delivery: ClaimedDelivery,
    attempt: { readonly at: number; readonly outcome: string; readonly durationMs: number },
    next: DeliveryNext,
  ): Promise<void>
  state(): Promise<OutboxState>
}
