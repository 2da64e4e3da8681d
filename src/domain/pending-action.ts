export const PENDING_ACTIONS = ['RESET_BIOMETRIC_PROFILE', 'UPDATE_BIOMETRIC_PROFILE'] as const
export type PendingAction = (typeof PENDING_ACTIONS)[number]

/** An action that an administrator queued for a member's next sign-in; times are epoch milliseconds. */
export interface QueuedAction {
  /** Unique per queueing: a session honors only the action that its bootstrap reported. */
  readonly id: string
  readonly action: PendingAction
  readonly queuedAt: number
  /** References an UPDATE has replaced so far. */
  readonly nReplaced: number
}

/** A queued action lapses after this time. */
export const PENDING_ACTION_LIFETIME_MS = 7 * 24 * 3600 * 1000

export type PendingEvent =
  /** Replaces an action queued before. */
  | { readonly kind: 'queue'; readonly id: string; readonly action: PendingAction }
  | { readonly kind: 'clear' }
  /** An UPDATE has replaced one reference; it ends at `target` replacements. */
  | { readonly kind: 'replaced'; readonly target: number }
  /** All references were removed, by this action or otherwise: nothing is left to reset or to update. */
  | { readonly kind: 'emptied' }

/** The queued action; null if it has lapsed. */
export const livePending = (queued: QueuedAction | null, now: number): QueuedAction | null =>
  queued !== null && now - queued.queuedAt <= PENDING_ACTION_LIFETIME_MS ? queued : null

/** The queued action after an event at `now`; null if none. */
export function pendingAfter(before: QueuedAction | null, event: PendingEvent, now: number): QueuedAction | null {
  const queued = livePending(before, now)
  switch (event.kind) {
    case 'queue':
      return { id: event.id, action: event.action, queuedAt: now, nReplaced: 0 }
    case 'clear':
    case 'emptied':
      return null
    case 'replaced': {
      if (queued === null || queued.action !== 'UPDATE_BIOMETRIC_PROFILE') return queued
      const nReplaced = queued.nReplaced + 1
      return nReplaced < event.target ? { ...queued, nReplaced } : null
    }
  }
}

/** Progress of an UPDATE. */
export interface UpdateProgress {
  readonly nPatternsReplaced: number
  /** Patterns to replace in all. */
  readonly nPatternsToReplace: number
}

/** `pending` comes from `livePending`; null if no UPDATE is queued. */
export const updateProgress = (pending: QueuedAction | null, target: number): UpdateProgress | null =>
  pending?.action === 'UPDATE_BIOMETRIC_PROFILE'
    ? { nPatternsReplaced: pending.nReplaced, nPatternsToReplace: target }
    : null
