import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isoTime } from '../../src/base/iso-time.js'

it('writes a time as toISOString does, in any order of times', () => {
  const second = fc.constantFrom(0, 1_700_000_000_000, 253_402_300_799_000)
  const ms = fc.oneof(fc.nat({ max: 999 }), fc.double({ min: 0, max: 999.9, noNaN: true }))
  fc.assert(
    fc.property(second, ms, (at, part) => {
      expect(isoTime(at + part)).toBe(new Date(at + part).toISOString())
    }),
    { seed: 20261129 },
  )
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})
