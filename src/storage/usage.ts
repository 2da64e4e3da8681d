import type { TimeWindow } from '../domain/time-window.js'
import type { Paging } from './attempt-log.js'

export type UsageKind = 'enroll' | 'delete' | 'type-change' | 'checkpoint'

/** The headcount after a change. */
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
  /** Begin of the day, epoch ms. */
  readonly at: number
  readonly byClass: Readonly<Record<string, number>>
  /** Largest number of people who signed in within one hour of the day. */
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

/** One request, with its route template and figures, and no data of the client. */
export interface LoggedRequest {
  /** UUIDv7, which contains the time. */
  readonly id: string
  readonly api: string
  readonly method: string
  readonly route: string
  readonly status: number
  readonly durationMs: number
}

/** Requests that a process has collected. */
export interface UsageBatch {
  readonly counted: readonly RequestCount[]
  readonly logged: readonly (LoggedRequest & { organizationId: string })[]
  /** Why some were not added, unless their database is lost. */
  readonly error?: unknown
}

export interface UsageStore {
  /** Events, oldest first. */
  history(organizationId: string, window: TimeWindow, paging: Paging): Promise<{ events: UsageEvent[]; count: number }>
  /** The last event before a moment; null if there is none. */
  before(organizationId: string, at: number): Promise<UsageEvent | null>
  /** Days of the window with a request or a sign-in, oldest first. */
  api(organizationId: string, window: TimeWindow): Promise<ApiUsageDay[]>
  /** Requests, newest first; only failed or only successful ones unless `failed` is null. */
  requests(
    organizationId: string,
    window: TimeWindow,
    paging: Paging,
    failed: boolean | null,
  ): Promise<{ requests: LoggedRequest[]; count: number }>
  request(organizationId: string, id: string): Promise<LoggedRequest | null>
  /**
   * Adds the counts and log entries that a process has collected since its last call, of any organization. Returns those that could not
   * be written, because one of several databases is lost; null with one database.
   */
  add(counted: UsageBatch['counted'], logged: UsageBatch['logged']): Promise<UsageBatch | null>
  /** For a job: adds the queued changes of creations to the headcount; true if more are left. */
  addUpHeadcounts(): Promise<boolean>
  /** For a job: appends one checkpoint per day and organization. */
  appendCheckpoints(): Promise<void>
  /** For a job: deletes older requests; true if more are left. */
  forgetRequests(before: number): Promise<boolean>
}
