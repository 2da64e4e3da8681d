import fc from 'fast-check'
import { parse, stringify, v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { EMPTY_ROW, hasId, idsIn, latestOf, type SketchRow, sketchesIn } from '../../../src/flows/attempt/sketch-row.js'

const sketch = (presses: number, byte: number) => Uint8Array.from([presses, ...Array(3 * presses).fill(byte)])

describe('a row of sketches', () => {
  it('holds the latest patterns, and no version changes an earlier one, in any order of appends', () => {
    const pattern = fc.record({ presses: fc.integer({ min: 0, max: 127 }), byte: fc.nat(255) })
    const append = fc.record({
      to: fc.nat(),
      fresh: fc.array(pattern, { maxLength: 8 }),
      max: fc.integer({ min: 0, max: 6 }),
    })
    fc.assert(
      fc.property(fc.array(append, { maxLength: 40 }), (appends) => {
        const versions: { row: SketchRow; ids: string[]; bytes: Buffer[] }[] = [{ row: EMPTY_ROW, ids: [], bytes: [] }]
        for (const { to, fresh, max } of appends) {
          // Mostly the latest version, sometimes an earlier one: then two versions follow one.
          const before = versions[to % 3 === 0 ? to % versions.length : versions.length - 1] as (typeof versions)[0]
          const added = fresh.map(({ presses, byte }) => ({ id: parse(v7()), sketch: sketch(presses, byte) }))
          const from = Math.max(0, before.ids.length + added.length - max)
          versions.push({
            row: latestOf(before.row, added, max),
            ids: [...before.ids, ...added.map(({ id }) => stringify(id))].slice(from),
            bytes: [...before.bytes, ...added.map((one) => Buffer.from(one.sketch))].slice(from),
          })
        }
        for (const { row, ids, bytes } of versions) {
          expect(idsIn(row)).toEqual(ids)
          expect(ids.every((id) => hasId(row, parse(id)))).toBe(true)
          expect(hasId(row, parse(v7()))).toBe(false)
          expect(Buffer.compare(sketchesIn(row), Buffer.concat(bytes))).toBe(0)
        }
      }),
      { numRuns: 200, seed: 1 },
    )
  })
})
