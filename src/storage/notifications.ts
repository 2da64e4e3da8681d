import type { AlertEvent, EventKind } from '../domain/alert.js'
import type { Paging } from './attempt-log.js'

export interface Notification extends AlertEvent {
  readonly id: string
  /** Of the attempt it tells of; null where it tells of none. */
  readonly authenticationId: string | null
  /** Epoch ms; null while nobody has read it. */
  readonly readAt: number | null
}

/** What is null does not matter. */
export interface NotificationFilter {
  readonly kind: EventKind | null
  readonly read: boolean | null
}

/** What happened, once each. */
export interface NotificationStore {
  /** Newest first; `count` is of all that match, `unread` of all there are. */
  page(
    organizationId: string,
    filter: NotificationFilter,
    paging: Paging,
  ): Promise<{ notifications: Notification[]; count: number; unread: number }>
  /** False where there is no such notification; reading twice is reading once. */
  markRead(organizationId: string, id: string): Promise<boolean>
  markAllRead(organizationId: string): Promise<void>
  unread(organizationId: string): Promise<number>
  /** A job's: notifications of attempts recorded since it last ran, or since a moment before; true where more are left. */
  derive(since: number | null): Promise<boolean>
  /** Of an outage that is over, to every organization with a rule for it; of several that overlap, one. Epoch ms. */
  noteOutage(beganAt: number, endedAt: number): Promise<void>
  /** A job's; true where more is left. */
  forget(before: number): Promise<boolean>
}
