import type { TimeWindow } from '../domain/time-window.js'
import type { Paging } from './attempt-log.js'

export type UsageKind = 'enroll' | 'delete' | 'type-change' | 'checkpoint'

/** The headcount after something changed it. */
export interface UsageEvent {
  readonly kind: UsageKind
  readonly at: number
  readonly nAccounts: number
  readonly nAccountsGeneric: number
  readonly nUsersNominative: number
  readonly nUsersGeneric: number
  readonly overQuota: boolean
}

/** Requests of one UTC day. */
export interface ApiUsageDay {
  /** When the day begins, epoch ms. */
  readonly at: number
  readonly byClass: Readonly<Record<string, number>>
  /** The most people who signed in within one hour of it. */
  readonly nActiveUsersMax: number
}

/** Requests of one organization, day and class. */
export interface RequestCount {
  readonly organizationId: string
  /** `2026-11-21`, UTC. */
  readonly day: string
  readonly class: string
  readonly n: number
}

/** One request: templates and figures, nothing that the client sent. */
export interface LoggedRequest {
  /** UUIDv7: tells the time. */
  readonly id: string
  readonly api: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

export interface UsageStore {
  /** Oldest first. */
  history(organizationId: string, window: TimeWindow, paging: Paging): Promise<{ events: UsageEvent[]; count: number }>
  /** The last event from before a moment; null where there is none. */
  before(organizationId: string, at: number): Promise<UsageEvent | null>
  /** Days of the window with a request or a sign-in, oldest first. */
  api(organizationId: string, window: TimeWindow): Promise<ApiUsageDay[]>
  /** Newest first. */
  requests(
    organizationId: string,
    window: TimeWindow,
    paging: Paging,
    failed: boolean | null,
  ): Promise<{ requests: LoggedRequest[]; count: number }>
  request(organizationId: string, id: string): Promise<LoggedRequest | null>
  /** Of any organizations: what a process counted and logged since it last did. */
  add(counted: readonly RequestCount[], logged: readonly (LoggedRequest & { organizationId: string })[]): Promise<void>
  /** A job's: adds up what creations have left beside the headcount; true where more is left. */
  addUpHeadcounts(): Promise<boolean>
  /** A job's: one checkpoint a day and organization. */
  appendCheckpoints(): Promise<void>
  /** A job's; true where more is left. */
  forgetRequests(before: number): Promise<boolean>
}
