import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packedFit, packedSample, unpackedFit, unpackedSample } from '../../../src/flows/attempt/packed-references.js'
import { packedSketches, unpackedSketches } from '../../../src/flows/attempt/packed-sketches.js'
import { encodeSample } from '../../../src/scoring/sample.js'

const BEFORE = Uint8Array.of(9, 9, 9)
/** Behind other bytes and before others, as in a base. */
const within = (bytes: Uint8Array): Uint8Array => Buffer.concat([BEFORE, bytes, BEFORE])
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

const sketch = fc
  .tuple(fc.integer({ min: 0, max: 127 }), fc.constantFrom(0, 128), fc.integer({ min: 1, max: 255 }))
  .chain(([presses, confirmed, spread]) =>
    fc
      .array(fc.integer({ min: 255 - spread, max: 255 }), { minLength: 3 * presses, maxLength: 3 * presses })
      .map((values) => Uint8Array.of(presses | confirmed, ...values)),
  )

describe('packed sketches', () => {
  it('give the same sketches, of any values', () => {
    fc.assert(
      fc.property(fc.array(sketch, { maxLength: 64 }), (sketches) => {
        const all = Buffer.concat(sketches)
        expect(hex(unpackedSketches(within(packedSketches(all)).subarray(BEFORE.length), sketches.length))).toBe(
          hex(all),
        )
      }),
    )
  })

  it('take three quarters of the bytes if the values are near one another', () => {
    const values = Array.from({ length: 90 }, (_, i) => 80 + ((i * 7) % 31))
    const all = Buffer.concat(Array.from({ length: 48 }, () => Uint8Array.of(30, ...values)))
    expect(packedSketches(all).length).toBeLessThan(0.75 * all.length)
  })
})

describe('a packed fit', () => {
  it('gives the same numbers, of any bits', () => {
    const number = fc.constantFrom(0, 0, 0, 1, 0x80000000, 0x7fc00000, 0xffffffff)
    fc.assert(
      fc.property(fc.array(number, { maxLength: 700 }), (numbers) => {
        const fit = new Uint8Array(Uint32Array.from(numbers).buffer)
        expect(hex(unpackedFit(packedFit(fit), fit.length))).toBe(hex(fit))
      }),
    )
  })
})

describe('a packed sample', () => {
  const unpacked = (sample: Uint8Array) => {
    const packed = within(packedSample(sample))
    const { bytes, end } = unpackedSample(packed, BEFORE.length)
    expect([hex(bytes), end]).toEqual([hex(sample), packed.length - BEFORE.length])
    return packed.length - 2 * BEFORE.length
  }
  const press = (ms: typeof anyMs) => fc.tuple(fc.integer({ min: 1, max: 255 }), ms, ms)
  const anyMs = fc.float({ min: 0, max: 9000, noNaN: true })
  const sampleOf = (presses: readonly [number, number, number][]) => {
    let pressMs = 0
    const timed = presses.map(([key, interval, hold]) => {
      pressMs += interval
      return { key, pressMs, releaseMs: pressMs + hold }
    })
    return encodeSample(timed, 'visible')
  }

  it('gives the same bytes, of any times', () => {
    fc.assert(
      fc.property(
        fc.array(press(anyMs), { minLength: 1, maxLength: 500 }),
        (presses) => void unpacked(sampleOf(presses)),
      ),
    )
  })

  it('takes 5 bytes a press if the times are tenths of a millisecond', () => {
    const tenths = fc.integer({ min: 0, max: 20_000 }).map((steps) => steps / 10)
    const times = fc.array(press(tenths), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(times, (presses) => {
        expect(unpacked(sampleOf(presses))).toBe(5 + 5 * presses.length)
      }),
    )
  })

  it('gives the bytes of another version of the format, whatever follows its head', () => {
    const other = encodeSample([{ key: 1, pressMs: 0, releaseMs: 90 }], 'visible')
    other[0] = 250
    unpacked(other)
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 12, maxLength: 12 }),
        (bytes) => void unpacked(Buffer.concat([other.subarray(0, 4), bytes])),
      ),
    )
  })
})
