import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createUnorderedList } from '../../src/base/unordered-list.js'

describe('an unordered list', () => {
  it('holds what a Set would hold, in any order of additions and deletions', () => {
    const change = fc.record({ nth: fc.nat(19), adds: fc.boolean() })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const all = Array.from({ length: 20 }, (_, nth) => ({ nth, listIndex: -1 }))
        const [list, wanted] = [createUnorderedList<(typeof all)[0]>(), new Set<(typeof all)[0]>()]
        for (const { nth, adds } of changes) {
          const item = all[nth] as (typeof all)[0]
          if (!adds) list.delete(item)
          else if (!wanted.has(item)) list.add(item)
          wanted[adds ? 'add' : 'delete'](item)
          expect(new Set(list.items)).toEqual(wanted)
          expect(list.items).toHaveLength(wanted.size)
        }
      }),
    )
  })
})
