import { describe, expect, it } from 'vitest'
import { enteredDigits, withoutMarks } from '../../src/domain/entered-code.js'

/** The digits of a script from its zero. */
const inScript = (zero: number, digits: string) =>
  [...digits].map((digit) => String.fromCodePoint(zero + Number(digit))).join('')

describe('an entered code', () => {
  it('is read in the digits of every script', () => {
    const zeros: number[] = []
    for (let code = 0; code < 0x110000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      // A zero begins ten digits, and the tens of one block follow each other.
      if (/\p{Nd}/u.test(String.fromCodePoint(code))) {
        zeros.push(code)
        code += 9
      }
    }
    // Latin, Arabic, Persian, Devanagari, fullwidth and mathematical digits.
    expect(zeros).toEqual(expect.arrayContaining([0x30, 0x660, 0x6f0, 0x966, 0xff10, 0x1d7ce, 0x1d7d8]))
    for (const zero of zeros)
      expect([zero.toString(16), enteredDigits(inScript(zero, '0123456789'))]).toEqual([
        zero.toString(16),
        '0123456789',
      ])
  })

  it.each([
    ['123 456', '123456'],
    [' 123\u00a0456\n', '123456'],
    ['123\u2009456\t', '123456'],
    ['12-34-56', '123456'],
    ['12–34—56', '123456'],
    ['12\u221234\u00ad56', '123456'],
    ['123.456.', '123456'],
    ['１２３．４５６。', '123456'],
    ['\u200e123\u200b456\u202c\ufeff', '123456'],
    ['١٢٣٤٥٦', '123456'],
    ['12३४56', '123456'],
    ['123,456', '123,456'],
    ['12345six', '12345six'],
    ['Ⅻ½²', 'Ⅻ½²'],
    ['', ''],
  ])('%j is %j', (entered, digits) => {
    expect(enteredDigits(entered)).toBe(digits)
  })

  it('and a name lose the invisible marks of copied text', () => {
    expect(withoutMarks('\u200e\ufeffann\u200b@example.org\u2060')).toBe('ann@example.org')
    expect(withoutMarks('José María 李 علی\u200cرضا')).toBe('José María 李 علی\u200cرضا')
  })
})
