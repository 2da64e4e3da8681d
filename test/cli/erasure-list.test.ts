import { describe, expect, it } from 'vitest'
import { newErasureList, wholeErasureList } from '../../src/cli/erasure-list.js'
import type { Erasure } from '../../src/storage/erasures.js'

const id = (n: number) => `0198c0de-0000-7000-8000-${String(n).padStart(12, '0')}`
const erasures: readonly Erasure[] = Array.from({ length: 40 }, (_, n) => ({
  organizationId: id(n % 3),
  id: id(1000 + n),
  at: Date.UTC(2026, 5, 15, 12, 0, n, 123),
  of: n % 4 === 0 ? 'member' : 'account',
  person: n.toString(16).padStart(64, 'a'),
}))

function printed(erasures: readonly Erasure[]): string {
  const list = newErasureList()
  return `${[...erasures.map(list.line), list.last()].join('\n')}\n`
}

describe('a list of erasures', () => {
  it.each([0, 1, 40])('of %i is parsed as it was printed', (n) => {
    const some = erasures.slice(0, n)
    expect(wholeErasureList(printed(some))).toEqual(some)
    expect(wholeErasureList(printed(some).trimEnd())).toEqual(some)
  })

  it('is null if cut or changed at any position', () => {
    const text = printed(erasures.slice(0, 4))
    for (let at = 0; at < text.length - 1; at++) {
      const other = text[at] === '0' ? '1' : '0'
      expect(wholeErasureList(text.slice(0, at)), `${at}`).toBeNull()
      expect(wholeErasureList(text.slice(0, at) + other + text.slice(at + 1)), `${at}`).toBeNull()
    }
  })

  it('is null if a line is missing, doubled, or after its end', () => {
    const rows = printed(erasures).trimEnd().split('\n')
    const [first = ''] = rows
    for (const bad of [rows.slice(1), [first, ...rows], [...rows, first], [...rows, '{}'], rows.toReversed()])
      expect(wholeErasureList(`${bad.join('\n')}\n`)).toBeNull()
  })
})
