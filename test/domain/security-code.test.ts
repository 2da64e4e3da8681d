import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { DEFAULT_POLICY } from '../../src/domain/policy.js'
import {
  afterIssue,
  type CodeRules,
  type CodeState,
  codeUsable,
  ISSUED_PER_HOUR,
  pickCode,
  TEMPORARY_CODE_MS,
  weakness,
} from '../../src/domain/security-code.js'

const rules = (changes: Partial<CodeRules['policy']> = {}, refs: string[] = []): CodeRules => ({
  policy: { ...DEFAULT_POLICY.security_code_fallback, ...changes },
  refs,
})
/** The weakness under a policy that requires the code's own length. */
const judge = (code: string, refs: string[] = []) => weakness(code, rules({ code_length: code.length }, refs))

const KEYPAD_SHAPES = ['147258', '258025', '159357', '2580', '0852', '753951', '789456', '1397', '2684']
const NOW = Date.UTC(2026, 5, 15)
const HOUR = 3_600_000

describe('weakness', () => {
  it('accepts only digits, of the required length', () => {
    for (const code of ['12', '74920', '7492051', 'abcdef', '7492o5', '', ' 749205', '７４９２０５', '749205\n'])
      expect(weakness(code, rules()), JSON.stringify(code)).toBe('must be exactly 6 digits')
    expect(weakness('749205', rules())).toBeNull()
    expect(weakness('74920518', rules({ code_length: 8 }))).toBeNull()
  })

  const weak: Record<string, string[]> = {
    'must have more than two different digits': ['111111', '000000', '121212', '110011', '7778', '77878778'],
    'must not count up or down in equal steps': ['123456', '654321', '890123', '210987', '135791', '147036', '2468'],
    'must not repeat a block of digits': ['123123', '407407', '4071407140', '4074074', '48214821'],
    'must not read the same backwards': ['123321', '407704', '40704'],
    'must not begin or end with a year': ['1984', '2031', '198407', '741999', '20268413'],
    'must not be a date': ['3112', '1231', '240783', '072483', '830724', '290296', '2407', '832407', '010183'],
    'must not follow a shape on the keypad': KEYPAD_SHAPES,
    'is one of the most common codes': ['142536', '5683', '314159', '778899'],
  }
  for (const [rule, codes] of Object.entries(weak)) {
    it(`names the broken rule: ${rule}`, () => {
      for (const code of codes) expect(judge(code), code).toBe(rule)
    })
  }

  it('includes dates in each order, but only existing days and years of two centuries', () => {
    for (const date of ['24071983', '07241983', '19830724', '19832407']) expect(judge(date), date).not.toBeNull()
    expect(judge('310483')).toBeNull()
    expect(judge('324583')).toBeNull()
    for (const code of ['0012', '24074120', '41200724']) expect(judge(code), code).toBeNull()
  })

  it('includes a date only if it is the whole code', () => {
    for (const code of ['24075', '2407835']) expect(judge(code), code).toBeNull()
  })

  it('includes a ring of keys from any start, in both directions and repeated', () => {
    for (const code of ['987412', '478963', '8426', '874123698741'])
      expect(judge(code), code).toBe('must not follow a shape on the keypad')
  })

  it('does not include codes that only resemble a shape', () => {
    for (const code of ['147269', '258094', '749205', '483061', '7492', '90517', '1475', '3828'])
      expect(judge(code), code).toBeNull()
  })

  it('includes digits of the userRef: four in a row that are in the code, or the whole code', () => {
    const message = 'must not contain digits of the user reference'
    expect(judge('749205', ['ann7492@example.com'])).toBe(message)
    expect(judge('749205', ['p-330749205118'])).toBe(message)
    expect(judge('7492', ['p-3307492'])).toBe(message)
    expect(judge('749205', ['shared', 'bob.9205'])).toBe(message)
    expect(judge('749205', ['ann749@example.com', 'a7b4c9d2'])).toBeNull()
  })

  it("includes the policy's own list", () => {
    const message = weakness('749205', rules({ weak_codes: ['749205'] }))
    expect(message).toBe('is on the list of codes this organization does not accept')
  })

  it('never contains the code in its message', () => {
    for (const code of Object.values(weak).flat()) expect(judge(code) ?? '', code).not.toContain(code)
  })
})

describe('pickCode', () => {
  const random = seededRandom(7)
  const randomDigits = (count: number) => Array.from({ length: count }, () => Math.floor(random() * 10)).join('')

  it('gives no weak code in 20,000', () => {
    const given = rules({ weak_codes: ['749205'] }, ['ann7492'])
    const codes = Array.from({ length: 20_000 }, () => pickCode(given, randomDigits))
    expect(codes.filter((code) => weakness(code, given) !== null)).toEqual([])
    expect(new Set(codes).size).toBeGreaterThan(19_000)
  })

  it('finds a code for every length that a policy can require', () => {
    for (let length = 4; length <= 12; length++)
      expect(pickCode(rules({ code_length: length }), randomDigits)).toHaveLength(length)
  })

  it('throws if it finds no code that is not weak', () => {
    expect(() => pickCode(rules(), () => '111111')).toThrow('no security code')
  })
})

describe('codeUsable', () => {
  const temporary: CodeState = { set: true, temporary: true, expiresAt: NOW, used: false, version: 1 }

  it('is true for a chosen code, and for a temporary one until its use or its expiry after a day', () => {
    expect(TEMPORARY_CODE_MS).toBe(24 * HOUR)
    expect(codeUsable({ ...temporary, temporary: false, expiresAt: null }, NOW)).toBe(true)
    expect(codeUsable(temporary, NOW - 1)).toBe(true)
    expect(codeUsable(temporary, NOW)).toBe(false)
    expect(codeUsable({ ...temporary, used: true }, NOW - 1)).toBe(false)
    expect(codeUsable({ ...temporary, set: false }, NOW - 1)).toBe(false)
  })
})

describe('afterIssue', () => {
  it('allows five an hour and gives the wait for the sixth', () => {
    let issued: readonly number[] = []
    for (let i = 0; i < ISSUED_PER_HOUR; i++) {
      const after = afterIssue(issued, NOW + i)
      if ('waitMs' in after) throw new Error('too early')
      issued = after.issued
    }
    expect(afterIssue(issued, NOW + 10)).toEqual({ waitMs: HOUR - 10 })
    expect(afterIssue(issued, NOW + HOUR)).toEqual({ issued: [...issued.slice(1), NOW + HOUR] })
  })
})
