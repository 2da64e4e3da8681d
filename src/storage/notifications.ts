import type { AlertEvent, EventKind } from '../domain/alert.js'
import type { Paging } from './attempt-log.js'

export interface Notification extends AlertEvent {
  readonly id: string
  /** The attempt that caused it; null if none did. */
  readonly authenticationId: string | null
  /** Epoch ms; null while unread. */
  readonly readAt: number | null
}

/** Null matches everything. */
export interface NotificationFilter {
  readonly kind: EventKind | null
  readonly read: boolean | null
}

/** Notifications, one per event. */
export interface NotificationStore {
  /** Notifications, newest first. `count` counts all matches, and `unread` all unread notifications. */
  page(
    organizationId: string,
    filter: NotificationFilter,
    paging: Paging,
  ): Promise<{ notifications: Notification[]; count: number; unread: number }>
  /** Marks a notification as read. Idempotent. False if there is no such notification. */
  markRead(organizationId: string, id: string): Promise<boolean>
  markAllRead(organizationId: string): Promise<void>
  unread(organizationId: string): Promise<number>
  /** For a job: makes notifications of attempts recorded since its last run, or since `since`; true if more are left. */
  derive(since: number | null): Promise<boolean>
  /** Notes an outage that is over (epoch ms) for every organization with a rule for it. Overlapping outages count once. */
  noteOutage(beganAt: number, endedAt: number): Promise<void>
  /** For a job: deletes older notifications; true if more are left. */
  forget(before: number): Promise<boolean>
}
