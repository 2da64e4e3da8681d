import { describe, expect, it } from 'vitest'
import { patternBody } from '../../../bench/load/pattern-body.js'
import { readTypingPattern, TypingPattern } from '../../../src/domain/typing-pattern.js'
import { person, wirePattern } from '../../../src/typist/made-up-person.js'

const ENDED_AT = 1_790_000_123_456
const WORDS = ['seven', 'quiet', 'lamps', 'beside', 'the', 'old', 'harbour', 'wall', 'tonight']

describe('a pattern of the load tester', () => {
  it('reads as the typing that it was written from, as sent by the recorder', () => {
    for (let seed = 0; seed < 10; seed++) {
      const keys = person(seed).keys(WORDS.join(' '), seed)
      const body = patternBody(keys, ENDED_AT, '203.0.113.7')
      const read = readTypingPattern(Buffer.from(body))
      const recorded = readTypingPattern(Buffer.from(JSON.stringify(wirePattern(keys))))
      if (!read.ok || !recorded.ok) throw new Error(read.ok ? 'the other one' : read.message)
      expect(read.presses).toEqual(recorded.presses)
      const { kevt = [], ip } = TypingPattern.parse(JSON.parse(body))
      expect(ip).toBe('203.0.113.7')
      // The pattern ends at sending: the times of day are those of the run.
      expect(Math.abs((kevt.at(-1)?.t ?? 0) - ENDED_AT)).toBeLessThan(300)
      expect(kevt.map(({ seqn }) => seqn)).toEqual(kevt.map((_, i) => i))
    }
  })

  it('has one byte per character, as its content length assumes', () => {
    const body = patternBody(person(1).keys(WORDS.join(' '), 1), ENDED_AT, '203.0.113.7')
    expect(Buffer.byteLength(body)).toBe(body.length)
  })
})
