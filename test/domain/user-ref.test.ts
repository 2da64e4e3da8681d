import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeUserRef, UserRef } from '../../src/domain/user-ref.js'

describe('a user reference', () => {
  it.each([
    ['  Ann Lee@Example.com ', 'ann-lee@example.com'],
    ['ANN', 'ann'],
    ['a  b', 'a--b'],
    ['0x+y_z.w-q', '0x+y_z.w-q'],
  ])('%j becomes %j', (given, wanted) => expect(normalizeUserRef(given)).toBe(wanted))

  it.each(['', ' ', '-a', '.a', 'a/b', 'a\u0000b', '\u212A', 'ann\u0301', 'é', 'a\tb', '../etc', 'x'.repeat(129)])(
    '%j is refused',
    (given) => expect(normalizeUserRef(given)).toBeNull(),
  )

  it.each(['\u00a0', '\ufeff', '\u3000', '\u2028', '\n', '\r\n', '\t', '\v'])(
    'accepts no surrounding space except U+0020: %j is refused',
    (space) => {
      for (const given of [`${space}ann`, `ann${space}`, ` ${space}ann `]) expect(normalizeUserRef(given)).toBeNull()
    },
  )

  it('is normalized on the wire, or refused with the accepted characters', () => {
    expect(UserRef.parse('  Ann Lee@Example.com ')).toBe('ann-lee@example.com')
    const { error } = UserRef.safeParse('a/b')
    expect(error?.issues.map(({ code, message }) => [code, message])).toEqual([
      ['custom', expect.stringContaining('letters, digits, spaces and . _ @ + -')],
    ])
    expect(error?.message).not.toContain('a/b')
  })

  it('has at most 128 characters', () => {
    expect(normalizeUserRef('x'.repeat(128))).toBe('x'.repeat(128))
    expect(normalizeUserRef(` ${'x'.repeat(128)} `)).toBe('x'.repeat(128))
  })

  it('is not changed by a second normalization', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = normalizeUserRef(text)
        if (once !== null) expect(normalizeUserRef(once)).toBe(once)
      }),
      { seed: 1, numRuns: 5000 },
    )
  })

  it('is equal for two texts only if they differ in nothing but case, outer spaces, or a space instead of a dash', () => {
    const fold = (text: string) =>
      text
        .trim()
        .replace(/[A-Z]/g, (c) => c.toLowerCase())
        .replaceAll(' ', '-')
    const letters = 'aAkK\u212AiI\u0130\u0131 -.s\u017F\u00DF'
    const alphabet = fc.constantFrom(...letters)
    const text = fc.array(alphabet, { maxLength: 6 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [a, b] = [normalizeUserRef(one), normalizeUserRef(other)]
        if (a !== null && a === b) expect(fold(one)).toBe(fold(other))
      }),
      { seed: 1, numRuns: 5000 },
    )
  })
})
