import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createInFlight } from '../../src/http/in-flight.js'
import { takeBody } from '../../src/http/intake/body-intake.js'
import type { RequestContext } from '../../src/http/request-context.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** A request that begins now; its handler begins `handledAfterMs` later. */
function begun(handledAfterMs = Number.POSITIVE_INFINITY) {
  const startedAt = performance.now()
  const intake = takeBody(1024, { bytesMax: 1024, held: 0 })
  // Sound: the deadlines read these fields only.
  return { startedAt, intake, handledSince: startedAt + handledAfterMs } as unknown as RequestContext<object>
}

it('ends a late body and answers a late handler, each a twentieth of the shorter deadline late at most', () => {
  const late: RequestContext<object>[] = []
  const inFlight = createInFlight<object>({ bodyDeadlineMs: 1000, answerDeadlineMs: 4000 }, (context) => {
    late.push(context)
    inFlight.ended(context)
  })
  const slow = begun()
  inFlight.begun(slow)
  vi.advanceTimersByTime(500)
  const handled = begun(100)
  handled.intake?.add(new ArrayBuffer(1), true)
  inFlight.begun(handled)
  vi.advanceTimersByTime(499)
  expect(slow.intake?.ended()).toBeNull()
  vi.advanceTimersByTime(51)
  expect(slow.intake?.ended()).toBe('late')
  inFlight.ended(slow)
  vi.advanceTimersByTime(3549)
  expect([handled.intake?.ended(), late, inFlight.count()]).toEqual(['whole', [], 1])
  vi.advanceTimersByTime(51)
  expect(late).toEqual([handled])
  expect(inFlight.count()).toBe(0)
})

it('has one timer for all requests, and none while idle', () => {
  const inFlight = createInFlight<object>({}, () => {})
  const contexts = Array.from({ length: 100 }, () => begun())
  for (const round of [1, 2]) {
    for (const context of contexts) inFlight.begun(context)
    expect([round, vi.getTimerCount()]).toEqual([round, 1])
    for (const context of contexts) inFlight.ended(context)
    vi.advanceTimersByTime(1000)
    expect([round, vi.getTimerCount()]).toEqual([round, 0])
  }
})
