import type { AlertRules, Channel, EventKind, RulesChange } from '../domain/alert.js'
import type { ChannelSettings } from '../domain/alert-channels.js'
import type { Paging } from './attempt-log.js'

/** A channel as stored. */
export interface StoredChannel {
  readonly settings: ChannelSettings
  /** Its secret, sealed; null if none. */
  readonly secret: Uint8Array | null
}

/** `dropped`: too many deliveries waited, or the channel was removed. `failed`: given up. */
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
  /** The earliest next try; null unless it waits. */
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
  /** In a row; 0 after a delivery. */
  readonly failures: number
  /** No delivery is tried before this time, epoch ms; null: at once. */
  readonly closedUntil: number | null
}

/** Alert rules and channels of organizations. */
export interface AlertStore {
  rules(organizationId: string): Promise<AlertRules>
  /** Returns all rules after the change. */
  changeRules(organizationId: string, change: RulesChange): Promise<AlertRules>
  /** Null if not set. */
  channel(organizationId: string, channel: Channel): Promise<StoredChannel | null>
  /** Clears the channel's failures, so that the next delivery is tried at once. */
  setChannel(organizationId: string, channel: StoredChannel): Promise<void>
  /** False if there was none. Drops its waiting deliveries. */
  removeChannel(organizationId: string, channel: Channel): Promise<boolean>
  /** Deliveries, newest first, with the number of all matches. */
  deliveries(
    organizationId: string,
    filter: DeliveryFilter,
    paging: Paging,
  ): Promise<{ deliveries: LoggedDelivery[]; count: number }>
  channelStates(organizationId: string): Promise<ChannelState[]>
  /** True at most once in `everyMs`: the caller may send a test now. */
  mayTest(organizationId: string, channel: Channel, everyMs: number): Promise<boolean>
}
