import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  livePending,
  PENDING_ACTIONS,
  type PendingEvent,
  pendingAfter,
  type QueuedAction,
} from '../../src/domain/pending-action.js'

const DAY = 24 * 3600 * 1000
const TARGET = 3

interface Happened {
  readonly event: PendingEvent
  readonly at: number
}

const event: fc.Arbitrary<PendingEvent> = fc.oneof(
  fc.record({ kind: fc.constant('queue' as const), id: fc.uuid(), action: fc.constantFrom(...PENDING_ACTIONS) }),
  fc.record({ kind: fc.constant('replaced' as const), target: fc.constant(TARGET) }),
  fc.constantFrom({ kind: 'clear' as const }, { kind: 'emptied' as const }),
)
const history: fc.Arbitrary<Happened[]> = fc
  .array(fc.tuple(event, fc.integer({ min: 0, max: 4 * DAY })), { maxLength: 30 })
  .map((steps) => {
    let at = 1_800_000_000_000
    return steps.map(([happened, after]) => {
      at += after
      return { event: happened, at }
    })
  })

/** The rule, derived from the whole history: the last queued action, unless a later event ended it. */
function expectedAction(happened: readonly Happened[], now: number): PendingEvent | null {
  const last = happened.findLastIndex(({ event: { kind } }) => kind === 'queue')
  const queued = happened[last]
  if (queued === undefined || queued.event.kind !== 'queue') return null
  const since = happened.slice(last + 1)
  if (since.some(({ event: { kind } }) => kind === 'clear' || kind === 'emptied')) return null
  if (now > queued.at + 7 * DAY) return null
  const replaced = since.filter(({ event: { kind } }) => kind === 'replaced').length
  return queued.event.action === 'UPDATE_BIOMETRIC_PROFILE' && replaced >= TARGET ? null : queued.event
}

describe('a pending action', () => {
  it('is the last one queued, until cleared, done or seven days old, in every order of events', () => {
    fc.assert(
      fc.property(history, (steps) => {
        let queued: QueuedAction | null = null
        steps.forEach(({ event: happened, at }, i) => {
          queued = pendingAfter(queued, happened, at)
          for (const now of [at, at + 3 * DAY, at + 7 * DAY, at + 7 * DAY + 1]) {
            const wanted = expectedAction(steps.slice(0, i + 1), now)
            const held = livePending(queued, now)
            expect(held === null ? null : { id: held.id, action: held.action }).toEqual(
              wanted?.kind === 'queue' ? { id: wanted.id, action: wanted.action } : null,
            )
          }
        })
      }),
      { seed: 1, numRuns: 1000 },
    )
  })
})
