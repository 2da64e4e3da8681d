import type { AttemptFacts } from '../domain/attempt-facts.js'
import type { AttemptKind } from '../domain/attempts.js'
import type { TimeWindow } from '../domain/time-window.js'
import type { RecommendedAction } from '../domain/verdict.js'
import type { Authentication } from './authentication.js'

/** Which attempts; what is null does not matter. */
export interface AttemptFilter {
  readonly window: TimeWindow
  readonly userRef: string | null
  readonly method: AttemptKind | null
  readonly action: RecommendedAction | null
}

export interface Paging {
  readonly skip: number
  readonly limit: number
}

/** An attempt as it is looked at: with the label of the person, if there is one (still). */
export interface LoggedAttempt extends Authentication {
  readonly displayName: string | null
}

/** As much of a typing attempt as another policy needs to judge it again. */
interface JudgedAttempt extends Pick<Authentication, 'id' | 'userRef' | 'recommendedAction'> {
  readonly facts: AttemptFacts
}

/** A typing pattern that is kept: one that was tested, or a reference. */
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

/** Recorded attempts, for people to look through. */
export interface AttemptLog {
  /** Newest first. */
  page(organizationId: string, filter: AttemptFilter, paging: Paging): Promise<LoggedAttempt[]>
  count(organizationId: string, filter: AttemptFilter): Promise<number>
  find(organizationId: string, id: string): Promise<LoggedAttempt | null>
  /** Typing attempts with what they were judged on, newest first, from before the attempt `before` (null: the newest). */
  judged(organizationId: string, window: TimeWindow, before: string | null, limit: number): Promise<JudgedAttempt[]>
  /** Tested patterns, newest first. */
  patterns(organizationId: string, window: TimeWindow, paging: Paging): Promise<KeptPattern[]>
  /** Tested ones and references; what is not there is left out. */
  patternsById(organizationId: string, ids: readonly string[]): Promise<KeptPattern[]>
  /** How often each key, or each value of one key, occurs in the newest `among` tested patterns of the window. */
  tags(organizationId: string, key: string | null, window: TimeWindow, among: number): Promise<TagCount[]>
}
