import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { logAtIntervals } from '../../src/base/log-at-intervals.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('logs at most a line a second, and each line once a minute, also if two alternate', () => {
  const lines: string[] = []
  const log = logAtIntervals((line) => lines.push(line))
  for (let ms = 0; ms < 60_000; ms += 100) {
    log(ms % 200 === 0 ? 'one' : 'two')
    vi.advanceTimersByTime(100)
  }
  expect(lines).toEqual(['one', 'two'])
  log('one')
  expect(lines).toEqual(['one', 'two', 'one'])
  log('three')
  expect(lines).toHaveLength(3)
  vi.advanceTimersByTime(1000)
  log('three')
  expect(lines).toEqual(['one', 'two', 'one', 'three'])
})
