import type { AlertRules, Channel, RulesChange } from '../domain/alert.js'
import type { ChannelSettings } from '../domain/alert-channels.js'

/** A channel as stored. */
export interface StoredChannel {
  readonly settings: ChannelSettings
  /** Its secret, sealed; null if none. */
  readonly secret: Uint8Array | null
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
  /** True at most once in `everyMs`: the caller may send a test now. */
  mayTest(organizationId: string, channel: Channel, everyMs: number): Promise<boolean>
}
