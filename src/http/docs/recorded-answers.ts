import type { RefusalKind } from '../../domain/refusal.js'

/** Calls of a running service, recorded as examples for documents. */
export interface RecordedAnswers {
  /** By method and whole path of the row (`get /core/users/{userRef}`), then by status. */
  readonly replies: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly refusals: Readonly<Partial<Record<RefusalKind, unknown>>>
  /** Request bodies by the title of their schema. */
  readonly bodies: Readonly<Record<string, unknown>>
}

export const nothingRecorded: RecordedAnswers = { replies: {}, refusals: {}, bodies: {} }
