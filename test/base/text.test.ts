import { describe, expect, it } from 'vitest'
import { clipped, illFormedPath, isText } from '../../src/base/text.js'

describe('a string in a request', () => {
  it.each(['', 'é', '😀', 'a\u0001\u007f', '\ufeff', '\uffff', '\ue000', '\ud7ff', '\ud83d\ude00'])(
    '%j is text',
    (text) => expect(isText(text)).toBe(true),
  )
  it.each(['\0', 'a\0b', '\ud800', 'a\udbff', '\udc00b', '\ude00\ud83d', '\ud83d\ud83d\ude00', '\ud83d\ude00\ude00'])(
    '%j is not text',
    (text) => expect(isText(text)).toBe(false),
  )

  it('that is not text is found by its path, and such a key by the path of its object', () => {
    expect(
      illFormedPath({
        tags: [
          { k: 'a', v: 'b' },
          { k: 'a', v: '\0' },
        ],
      }),
    ).toEqual(['tags', 1, 'v'])
    expect(illFormedPath({ tag: { 'a\ud800': 'b' } })).toEqual(['tag'])
    expect(illFormedPath('\0')).toEqual([])
    expect(illFormedPath({ a: [1, null, true, { b: 'c' }] })).toBeNull()
  })

  it('is cut between characters', () => {
    expect(clipped('ab😀c', 3)).toBe('ab')
    expect(clipped('ab😀c', 4)).toBe('ab😀')
    expect(clipped('ab', 4)).toBe('ab')
    for (let units = 0; units < 9; units++) expect(isText(clipped('😀a😀😀', units))).toBe(true)
  })
})
