import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { PATTERN, type PatternBody, pressesOf } from '../../../bench/peers/pattern.js'
import { bodyOf } from '../../../bench/ratio/people.js'
import { readTypingPattern } from '../../../src/domain/typing-pattern.js'

const bodies = Array.from({ length: 40 }, (_, i) => bodyOf(i, i * 31, 15 + 3 * i))
const parsed = (body: string) => JSON.parse(body) as PatternBody

describe('the conventional peer', () => {
  it('finds the presses that the service finds', () => {
    for (const body of bodies) {
      const read = readTypingPattern(Buffer.from(body))
      expect(read.ok && pressesOf(parsed(body))).toEqual(read.ok && read.presses)
      expect(read.ok).toBe(true)
    }
  })

  it('accepts what the recorder sends and refuses what breaks the schema', () => {
    const check = new Ajv().compile(PATTERN)
    expect(bodies.every((body) => check(JSON.parse(body)))).toBe(true)
    const body = parsed(bodies[0] ?? '')
    expect(check({ ...body, kevt: undefined })).toBe(false)
    expect(check({ ...body, agent: { ...body.agent, mode: 'loud' } })).toBe(false)
    expect(check({ ...body, kevt: [{ ...body.kevt[0], et: 'now' }] })).toBe(false)
  })

  it('refuses too few presses and a clock that runs backwards', () => {
    const body = parsed(bodies[0] ?? '')
    expect(pressesOf({ ...body, kevt: body.kevt.slice(0, 10) })).toBeNull()
    expect(pressesOf({ ...body, kevt: [...body.kevt].reverse() })).toBeNull()
  })

  it('never gets the same typing from two ordinals', () => {
    expect(new Set(Array.from({ length: 50 }, (_, n) => JSON.stringify(parsed(bodyOf(1, n)).kevt))).size).toBe(50)
  })
})
