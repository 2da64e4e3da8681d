import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/domain/refusal.js'
import { parseJsonAroundBytes } from '../../../src/http/intake/json-around-bytes.js'

const MAX = 16 * 1024
const bytes = (text: string) => new TextEncoder().encode(text)
const text = (value: unknown) => new TextDecoder().decode(value as Uint8Array)
const parse = (body: string) => parseJsonAroundBytes(bytes(body), 'pattern', MAX) as Record<string, unknown>
const refusalOf = (body: string) => {
  try {
    parse(body)
  } catch (error) {
    if (error instanceof Refusal) return error.kind
    throw error
  }
  return null
}

/** The whole value, composed from the parts. */
function together(body: string): unknown {
  const value = parse(body)
  return value.pattern instanceof Uint8Array ? { ...value, pattern: JSON.parse(text(value.pattern)) } : value
}
const orUndefined = (read: (body: string) => unknown, body: string): unknown => {
  try {
    return read(body)
  } catch {
    return undefined
  }
}

describe('parseJsonAroundBytes', () => {
  it('keeps the raw bytes of the field, at any position and with any content', () => {
    for (const raw of ['{"kevt": [ {"k":"}\\"]"} ] , "é":1}', '[]', '"a,b"', '-1e3', 'true', '{}']) {
      for (const body of [`{"action":"A","pattern":${raw}}`, ` {\n"pattern" : ${raw} ,\t"action":"A"} `]) {
        const value = parse(body)
        expect([value.action, text(value.pattern)]).toEqual(['A', raw])
      }
    }
  })

  it('accepts a large field, and a small rest', () => {
    const large = `"${'x'.repeat(500_000)}"`
    expect((parse(`{"action":"A","pattern":${large}}`).pattern as Uint8Array).length).toBe(500_002)
    expect(refusalOf(`{"action":${large},"pattern":1}`)).toBe('body-too-large')
    expect(refusalOf(`{"other":${large}}`)).toBe('body-too-large')
    expect(refusalOf(`${large}`)).toBe('body-too-large')
  })

  it('refuses a second field of the name, however it is escaped', () => {
    expect(refusalOf('{"pattern":1,"pattern":2}')).toBe('validation-failed')
    expect(refusalOf('{"pattern":1,"p\\u0061ttern":2}')).toBe('validation-failed')
    expect(refusalOf('{"p\\u0061ttern":2,"pattern":1}')).toBe('validation-failed')
  })

  it('applies the rules of a body to the rest', () => {
    for (const body of ['', '{', '{"a"', '{"pattern":1', '{"pattern":1}}', '{"pattern":1,}', '{"pattern" 1}', '{,}'])
      expect([body, refusalOf(body)]).toEqual([body, 'validation-failed'])
    for (const key of ['__proto__', 'constructor', 'prototype'])
      expect(refusalOf(`{"pattern":1,"${key}":{}}`)).toBe('validation-failed')
    expect(refusalOf(`{"pattern":1,"a":${'['.repeat(9)}${']'.repeat(9)}}`)).toBe('validation-failed')
    expect(refusalOf('{"pattern":1,"a":1e400}')).toBe('validation-failed')
  })

  it('accepts the same bodies as a parser of the whole, with the same values', () => {
    const value = fc.oneof({ depthSize: 'small' }, fc.jsonValue({ maxDepth: 3 }), fc.string())
    const key = fc.oneof(fc.constantFrom('pattern', 'action', 'pat"tern'), fc.string())
    const object = fc.dictionary(key, value, { maxKeys: 5 })
    const space = fc.constantFrom('', ' ', '\n\t', '\r')
    const asText = fc
      .tuple(object, space)
      .map(([given, gap]) => JSON.stringify(given, null, gap === '' ? undefined : gap))
    // A body, unchanged or with one character replaced, removed or doubled.
    const body = fc.tuple(asText, fc.nat(), fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', ' ', '1', 'x'))
    let same = 0
    fc.assert(
      fc.property(body, fc.boolean(), ([whole, at, put], mutate) => {
        const place = at % whole.length
        const given = mutate ? whole.slice(0, place) + put + whole.slice(place + 1) : whole
        const wanted = orUndefined(JSON.parse, given)
        const found = orUndefined(together, given)
        if (wanted === undefined) expect(found).toBeUndefined()
        // The other reasons for a refusal are doubled fields, prototype keys and depth.
        else if (found !== undefined) {
          expect(found).toEqual(wanted)
          same++
        } else expect(given).toMatch(/"pattern"|proto|constructor|\[|\{.*\{/s)
      }),
      { numRuns: 5000, seed: 20261121 },
    )
    expect(same).toBeGreaterThan(2000)
  })
})
