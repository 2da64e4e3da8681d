import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { bytesOf, typedBy, wirePattern } from '../scoring/typists.js'

type Wire = ReturnType<typeof wirePattern> & Record<string, unknown>
const wire = (change: (body: Wire) => unknown = () => undefined): Wire => {
  const body: Wire = { ...wirePattern(typedBy(1, 0, 40)) }
  change(body)
  return body
}
const messageOf = (value: unknown): string => {
  const read = readTypingPattern(value instanceof Uint8Array ? value : bytesOf(value))
  return read.ok ? 'ok' : read.message
}
/** A pattern with other fields; an undefined one is absent. */
const having = (fields: object): Wire => wire((body) => Object.assign(body, fields))
/** A pattern with events only. */
const events = (change: (kevt: Wire['kevt']) => unknown): Wire =>
  wire((body) => {
    Object.assign(body, { k: undefined })
    change(body.kevt)
  })
/** Keys as an input method reports them; every third is unchanged. */
const composed = (keys: readonly object[]) => keys.map((key, i) => (i % 3 === 0 ? key : { ...key, kc: 229 }))
/** A pattern with records only, so that a single bound can be broken. */
const records = (n: number, gapMs = 150, holdMs = 80): Wire => {
  const k = Array.from({ length: n }, (_, i) => ({ c: 'KeyA', kc: 65, k: 'a', et: i * gapMs, h: holdMs }))
  return having({ kevt: undefined, k })
}

const ADDRESSES = ['not-an-ip', '', '1.2.3', '203.0.113.7:80', 'fe80::1%eth0']
const PASTES = [
  { c: 'KeyV', kc: 86, ctrlKey: true },
  { c: 'KeyK', kc: 86, metaKey: true },
  { c: 'Insert', kc: 45, shiftKey: true },
]

describe('typing pattern', () => {
  it('reads a pattern with both lists or with either one', () => {
    const [both, events, only] = [wire(), having({ k: undefined }), having({ kevt: undefined })].map((body) =>
      readTypingPattern(bytesOf(body)),
    )
    if (!both?.ok || !events?.ok || !only?.ok) throw new Error('all three are within the bounds')
    expect(both.presses).toEqual(typedBy(1, 0, 40))
    expect(events.presses).toEqual(both.presses)
    expect(only.presses).toEqual(both.presses)
  })

  // Regression: the mark was dropped here, while routing read the body from its first byte.
  it('refuses a byte order mark before the object', () => {
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytesOf(wire())])
    expect(messageOf(marked)).toBe('the body must be a JSON object in valid UTF-8')
  })

  it('drops unknown fields', () => {
    const read = readTypingPattern(bytesOf(having({ unheard: 1 })))
    expect(read.ok && 'unheard' in read.pattern).toBe(false)
  })

  it('accepts an address of the user in any spelling and gives the canonical one', () => {
    for (const [ip, canonical] of [
      [' 203.0.113.7 ', '203.0.113.7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
      [null, undefined],
    ]) {
      const read = readTypingPattern(bytesOf(having({ ip })))
      expect(read.ok && read.pattern.ip).toBe(canonical)
    }
  })

  it('orders events by seqn', () => {
    const read = readTypingPattern(bytesOf(wire((body) => body.kevt.reverse())))
    expect(read.ok && read.presses).toEqual(typedBy(1, 0, 40))
  })

  it('masks all keys in sensitive mode and keeps the timings', () => {
    const read = readTypingPattern(bytesOf(wirePattern(typedBy(1, 0, 40), 'sensitive')))
    if (!read.ok) throw new Error(read.message)
    expect(read.presses).toEqual(typedBy(1, 0, 40).map((press) => ({ ...press, key: 0 })))
  })

  it('drops auto-repeat keydowns and a key whose keyup is missing', () => {
    const [first, ...rest] = wire().kevt
    const kevt = [first, { ...first, r: true }, ...rest.slice(0, -1)].map((event, seqn) => ({ ...event, seqn }))
    const read = readTypingPattern(bytesOf(having({ k: undefined, kevt })))
    expect(read.ok && read.presses.length).toBe(39)
  })

  it('uses t if et is missing', () => {
    const kevt = wire().kevt.map(({ et: _, ...event }) => event)
    const read = readTypingPattern(bytesOf(having({ k: undefined, kevt })))
    expect(read.ok && read.presses).toEqual(typedBy(1, 0, 40))
  })

  it.each<[string, unknown, RegExp]>([
    ['no JSON', new TextEncoder().encode('{'), /JSON object/],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), /UTF-8/],
    ['an array', [], /JSON object/],
    ['null', null, /JSON object/],
    ['no version', having({ version: undefined }), /^version: /],
    [
      'version 2.0.0',
      having({ version: '2.0.0' }),
      /^version: recorder version is not supported: it must be >=1\.0\.0/,
    ],
    ['version 0.9.9', having({ version: '0.9.9' }), /^version: recorder version is not/],
    ['no agent type', having({ agent: {} }), /^agent\.type: /],
    [
      'an event without seqn',
      wire((body) => Reflect.deleteProperty(body.kevt[3] ?? {}, 'seqn')),
      /^kevt\[3\]\.seqn: is r/,
    ],
    ...ADDRESSES.map((ip): [string, unknown, RegExp] => [
      `the address ${ip}`,
      having({ ip }),
      /^ip: must be an IPv4 or/,
    ]),
    [
      'a misspelt field that is required',
      having({ version: undefined, Version: '1.0.0' }),
      /^version: is required; Version is not a field and was ignored; did you mean version\?$/,
    ],
    ['an unknown mode', having({ agent: { type: 'browser', mode: 'loud' } }), /^agent\.mode: /],
    ['neither list', having({ kevt: undefined, k: undefined }), /either kevt or k is required/],
    ['lists that disagree', wire(({ k }) => Object.assign(k.at(-1) ?? {}, { h: 1 })), /does not agree/],
    ['14 keydowns', records(14), /^too short: 15 keydowns/],
    ['501 keydowns', records(501), /^too long: 500 keydowns/],
    ['601 records', records(601), /^k: too long: 600/],
    ['a hold of 0', records(20, 150, 0), /^hold too short/],
    ['a hold over 5 s', records(20, 5500, 5001), /^hold too long/],
    ['a flight over 10 s', records(20, 10_001), /^flight too long/],
    ['a flight under -2 s', records(20, 100, 2101), /^flight too short/],
    ['a capture under 1 s', records(15, 50), /^too short: a capture/],
    ['a capture over 10 min', records(70, 9000), /^too long: a capture/],
    ['1,201 events', having({ kevt: Array(1201).fill(wire().kevt[0]) }), /^kevt: too long: 1200/],
    ['2,001 mouse events', having({ m: Array(2001).fill({ et: 1, type: 'move' }) }), /^m: too long: 2000/],
    ['513 fonts', having({ d: { fonts: Array(513).fill('x') } }), /^d\.fonts: too long: 512/],
    ['33 tags', having({ tags: Array(33).fill({ k: 'a', v: 'b' }) }), /^tags: too long: 32/],
    ['a long tag key', having({ tags: [{ k: 'a'.repeat(65), v: '' }] }), /^tags\[0\]\.k: /],
    ['a long tag value', having({ tags: [{ k: 'a', v: 'b'.repeat(257) }] }), /^tags\[0\]\.v: /],
    [
      'et that decreases',
      events((kevt) => Object.assign(kevt.at(-1) ?? {}, { et: 1 })),
      /^kevt\[\d+\]\.et: must not dec/,
    ],
    [
      'an event without key',
      events((kevt) => Object.assign(kevt[3] ?? {}, { c: null, kc: null })),
      /kc or c is required/,
    ],
    ...PASTES.map((keys): [string, unknown, RegExp] => [
      `pasting by ${JSON.stringify(keys)}`,
      events((kevt) => Object.assign(kevt[0] ?? {}, keys)),
      /^kevt: pasted/,
    ]),
    ['composed events', having({ kevt: composed(wire().kevt) }), /^kevt: an input method/],
    ['composed records', having({ kevt: undefined, k: composed(wire().k) }), /^k: an input/],
    ['nine levels', having({ x: [[[[[[[[1]]]]]]]] }), /nested deeper than 8/],
    ['__proto__', new TextEncoder().encode('{"__proto__":{}}'), /__proto__/],
    ['constructor within', having({ tags: [{ k: 'a', v: 'b', constructor: 1 }] }), /constructor/],
  ])('refuses %s and names the reason', (_, value, message) => {
    expect(messageOf(value)).toMatch(message)
  })

  it('accepts V with AltGr, which some systems report as Control and Alt, some dead keys, and eight levels', () => {
    const altGr = events((kevt) => {
      Object.assign(kevt[0] ?? {}, { c: 'KeyV', kc: 86, ctrlKey: true, altKey: true })
      for (const [i, event] of kevt.entries()) if (i % 8 === 3) event.kc = 229
    })
    expect(messageOf(altGr)).toBe('ok')
    expect(messageOf(having({ x: [[[[[[[1]]]]]]] }))).toBe('ok')
  })

  it('never throws and never accepts a non-finite number, for any mutated field', () => {
    const poison = fc.oneof(fc.anything(), fc.constantFrom(null, '', 'NaN', -1, 1e308, 0.5, [], {}))
    const names = ['kevt', 'k', 'agent', 'version', 'tags', 'm', 'd', 'ip']
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.nat(50),
        fc.constantFrom('et', 't', 'kc', 'h', 'type', 'seqn'),
        poison,
        (name, at, field, value) => {
          const body = wire()
          const list = body[name]
          if (Array.isArray(list) && list[at] !== undefined) list[at] = { ...(list[at] as object), [field]: value }
          else body[name] = value
          let text: string
          try {
            text = JSON.stringify(body) ?? ''
          } catch {
            return
          }
          const read = readTypingPattern(new TextEncoder().encode(text.replaceAll('null', '1e999')))
          if (read.ok)
            for (const { pressMs, releaseMs } of read.presses) expect(Number.isFinite(pressMs + releaseMs)).toBe(true)
        },
      ),
      { seed: 1, numRuns: 500 },
    )
  })

  it('never throws on bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        readTypingPattern(bytes)
      }),
      { seed: 1, numRuns: 1000 },
    )
  })
})
