import type { AlertRules, Channel, RulesChange } from '../domain/alert.js'
import type { ChannelSettings } from '../domain/alert-channels.js'

/** A channel as it is kept. */
export interface StoredChannel {
  readonly settings: ChannelSettings
  /** What is secret of it, sealed; null where there is nothing. */
  readonly secret: Uint8Array | null
}

/** What an organization wants to be told, and how. */
export interface AlertStore {
  rules(organizationId: string): Promise<AlertRules>
  /** The whole matrix after the change. */
  changeRules(organizationId: string, change: RulesChange): Promise<AlertRules>
  /** Null before it was set. */
  channel(organizationId: string, channel: Channel): Promise<StoredChannel | null>
  /** Whatever kept deliveries waiting is forgotten: the next is tried at once. */
  setChannel(organizationId: string, channel: StoredChannel): Promise<void>
  /** False where there was none. What waits for it is not sent any more. */
  removeChannel(organizationId: string, channel: Channel): Promise<boolean>
  /** True at most once in so many ms: the caller may send a test now. */
  mayTest(organizationId: string, channel: Channel, everyMs: number): Promise<boolean>
}
