import { expect, it } from 'vitest'
import { sittingOf } from '../../src/domain/sitting.js'

const HOUR = 3600 * 1000
it('a probe is of a later sitting more than an hour after the profile was completed', () => {
  expect(sittingOf(null, 5 * HOUR)).toBe('later')
  expect(sittingOf(2 * HOUR, 3 * HOUR)).toBe('same')
  expect(sittingOf(2 * HOUR, 3 * HOUR + 1)).toBe('later')
  // A clock that was set back.
  expect(sittingOf(3 * HOUR, 2 * HOUR)).toBe('same')
})
