import type { AlertRules, Channel, EventKind, RulesChange } from '../domain/alert.js'
import type { ChannelSettings } from '../domain/alert-channels.js'
import type { Paging } from './attempt-log.js'

/** A channel as stored. */
export interface StoredChannel {
  readonly settings: ChannelSettings
  /** The sealed secret of the channel; null if it has none. */
  readonly secret: Uint8Array | null
}

/** `dropped`: too many deliveries waited, or the channel was removed. `failed`: no further try is made. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'dropped'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** One alert over one channel, with its tries. Times are epoch ms. */
export interface LoggedDelivery {
  readonly id: string
  readonly notificationId: string
  readonly kind: EventKind
  readonly channel: Channel
  readonly state: DeliveryState
  readonly queuedAt: number
  /** Earliest time of the next try; null unless the delivery waits. */
  readonly dueAt: number | null
  readonly refusals: number
  readonly tries: number
  readonly lastTry: { readonly at: number; readonly outcome: string; readonly durationMs: number } | null
}

/** Null matches every delivery. */
export interface DeliveryFilter {
  readonly channel: Channel | null
  readonly state: DeliveryState | null
}

/** The state of a channel that is set. */
export interface ChannelState {
  readonly channel: Channel
  readonly nWaiting: number
  /** Consecutive failures; 0 after a delivery. */
  readonly failures: number
  /** No delivery is tried before this time, epoch ms; null if one is tried at once. */
  readonly closedUntil: number | null
}

/** Alert rules and channels of organizations. */
export interface AlertStore {
  rules(organizationId: string): Promise<AlertRules>
  /** Returns all rules after the change. */
  changeRules(organizationId: string, change: RulesChange): Promise<AlertRules>
  /** The channel; null if it is not set. */
  channel(organizationId: string, channel: Channel): Promise<StoredChannel | null>
  /** Clears the channel's failures, so that the next delivery is tried at once. */
  setChannel(organizationId: string, channel: StoredChannel): Promise<void>
  /** Removes the channel and drops its waiting deliveries. False if there was no channel. */
  removeChannel(organizationId: string, channel: Channel): Promise<boolean>
  /** Deliveries, newest first, with the number of all matches. */
  deliveries(
    organizationId: string,
    filter: DeliveryFilter,
    paging: Paging,
  ): Promise<{ deliveries: LoggedDelivery[]; count: number }>
  channelStates(organizationId: string): Promise<ChannelState[]>
  /** Whether the caller may send a test now; true at most once in `everyMs`. */
  mayTest(organizationId: string, channel: Channel, everyMs: number): Promise<boolean>
}
