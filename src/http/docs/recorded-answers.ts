import type { RefusalKind } from '../../domain/refusal.js'

/** Recorded answers of a running service, used as examples in documents. */
export interface RecordedAnswers {
  /** Payloads by method and full path of the route (`get /core/users/{userRef}`), then by status. */
  readonly replies: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly refusals: Readonly<Partial<Record<RefusalKind, unknown>>>
  /** Request bodies by the title of their schema. */
  readonly bodies: Readonly<Record<string, unknown>>
}

export const nothingRecorded: RecordedAnswers = { replies: {}, refusals: {}, bodies: {} }
