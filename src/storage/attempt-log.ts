import type { AttemptFacts } from '../domain/attempt-facts.js'
import type { AttemptKind } from '../domain/attempts.js'
import type { TimeWindow } from '../domain/time-window.js'
import type { RecommendedAction, VerdictReason } from '../domain/verdict.js'
import type { Authentication } from './authentication.js'

/** Null matches every attempt. */
export interface AttemptFilter {
  readonly window: TimeWindow
  readonly userRef: string | null
  readonly method: AttemptKind | null
  readonly action: RecommendedAction | null
  /** A reason other than none, which only typing has. */
  readonly reason: Exclude<VerdictReason, ''> | null
  /** The application of the facets, which only typing has. */
  readonly application: string | null
}

export interface Paging {
  readonly skip: number
  readonly limit: number
}

/** An attempt for display, with the person's current label, if any. */
export interface LoggedAttempt extends Authentication {
  readonly displayName: string | null
}

/** A listed attempt, without the sample of its typing pattern. */
export type ListedAttempt = Omit<LoggedAttempt, 'sealed'>

/** The part of a typing attempt that another policy needs to judge it again. Its facts are parsed at each access. */
interface JudgedAttempt extends Pick<Authentication, 'id' | 'userRef' | 'recommendedAction'> {
  readonly facts: AttemptFacts
}

/** A stored typing pattern, either a tested one or a reference. */
export interface KeptPattern {
  readonly id: string
  readonly kind: 'tested' | 'enrolled' | 'adaptive'
  readonly userRef: string
  readonly memberRef: string
  readonly mode: 'visible' | 'sensitive' | null
  readonly createdAt: number
  /** Null for a reference. */
  readonly authenticationId: string | null
  readonly tags: readonly { readonly k: string; readonly v: string }[]
}

interface TagCount {
  readonly name: string
  readonly n: number
}

/** Recorded attempts, for the dashboard. */
export interface AttemptLog {
  /** Attempts, newest first, older than the attempt `before`; all if it is null. */
  page(organizationId: string, filter: AttemptFilter, paging: Paging, before: string | null): Promise<ListedAttempt[]>
  count(organizationId: string, filter: AttemptFilter): Promise<number>
  find(organizationId: string, id: string): Promise<LoggedAttempt | null>
  /** Typing attempts with their facts, newest first, older than the attempt `before`; all if it is null. */
  judged(organizationId: string, window: TimeWindow, before: string | null, limit: number): Promise<JudgedAttempt[]>
  /** Tested patterns, newest first. */
  patterns(organizationId: string, window: TimeWindow, paging: Paging): Promise<KeptPattern[]>
  /** Tested patterns and references; absent ids are left out. */
  patternsById(organizationId: string, ids: readonly string[]): Promise<KeptPattern[]>
  /** How often each key, or each value of one key, occurs in the newest `among` tested patterns of the window. */
  tags(organizationId: string, key: string | null, window: TimeWindow, among: number): Promise<TagCount[]>
}
