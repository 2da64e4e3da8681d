import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { type PatternRead, readByContract } from '../../src/scoring/read-pattern.js'
import { person } from '../../src/typist/made-up-person.js'
import { agreesOn, difference, kernel } from './scanned.js'
import { bytesOf, typedBy, wirePattern } from './typists.js'

/** The reading of a body that the scanner does not decline. */
function scan(body: unknown): PatternRead {
  const scanned = kernel.scan(bytesOf(body))
  if (scanned === null) throw new Error(`declined: ${JSON.stringify(body)}`)
  return scanned
}

describe('scan', () => {
  agreesOn(4000, 1)

  it('accepts the bodies of made-up people and of the recorder', () => {
    for (let session = 0; session < 60; session++) {
      const mode = session % 2 === 0 ? 'visible' : 'sensitive'
      const made = person(session % 40).types(suggestWords('en', session).join(' '), session, { mode })
      const { k, ...typed } = wirePattern(typedBy(session, session), mode)
      for (const body of [made, typed]) expect(difference(scan(body), readByContract(bytesOf(body)))).toBeNull()
    }
  })

  it('skips any JSON value of an unknown field', () => {
    const pattern = JSON.stringify(wirePattern(typedBy(1, 0, 20)))
    const plain = readByContract(new TextEncoder().encode(pattern))
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }),
        fc.nat(4),
        fc.constantFrom('', '"kevt":', '"agent":{'),
        (value, indent, place) => {
          const field = `"unknown":${JSON.stringify(value, null, indent)},`
          const at = place === '' ? 1 : pattern.indexOf(place) + (place.endsWith('{') ? place.length : 0)
          const body = new TextEncoder().encode(`${pattern.slice(0, at)}${field}${pattern.slice(at)}`)
          const [scanned, read] = [kernel.scan(body), readByContract(body)]
          // The scanner declines keys with \u escapes and keys that pollute prototypes; the contract's reader decides on them.
          if (scanned === null && read.ok) expect(field).toMatch(/\\u[^"]*"\s*:/)
          if (scanned !== null) expect(difference(scanned, read)).toBeNull()
          if (read.ok) expect(read).toEqual(plain)
        },
      ),
      { seed: 1, numRuns: 500 },
    )
  })

  it('treats null in every optional field as absent, and declines it in a required one', () => {
    const pattern = {
      ...wirePattern(typedBy(1, 0)),
      ...{ sId: null, tId: null, ip: null, member_ref: null, tags: null, k: null },
      m: [{ et: 1, type: 'move', mX: null }],
      agent: { type: 'browser', version: null, mode: null },
      d: { ua: null, sW: null, fonts: null, navLanguage: null, navCookiesEnabled: null, uaData: { mobile: null } },
    }
    const nulls = { et: null, k: null, kc: null, r: null, l: null, eId: null, ctrlKey: null, shiftKey: null }
    const body = { ...pattern, kevt: pattern.kevt.map((event) => ({ ...event, ...nulls })) }
    const absent = JSON.parse(JSON.stringify(body, (_, value) => value ?? undefined))
    const scanned = scan(body)
    expect(difference(scanned, readByContract(bytesOf(absent)))).toBeNull()
    expect(scanned.warnings).toBeNull()
    const kevt = body.kevt.map((one) => ({ ...one, seqn: null }))
    for (const required of [{ agent: null }, { version: null }, { kevt }])
      expect(kernel.scan(bytesOf({ ...body, ...required }))).toBeNull()
  })

  it('warns of misspelt fields at every level, and for a list only in its first item', () => {
    const pattern = wirePattern(typedBy(1, 0))
    const [event, ...events] = pattern.kevt
    const body = {
      ...pattern,
      ...{ memberRef: 'ann', KEVT: 1, 'member-reference': 1, s_id: null, m: [{ et: 1, type: 'move', m_x: 2 }] },
      agent: { ...pattern.agent, Mode: 'sensitive' },
      tags: [{ k: 'a', v: 'b', V: 'c' }],
      kevt: [{ ...event, shift_key: true }, ...events.map((one) => ({ ...one, Seqn: 1 }))],
      d: { cpu_threads: 8, ua_data: {}, uaData: { Mobile: true } },
    }
    const scanned = scan(body)
    expect(scanned.warnings?.map((warning) => warning.split(' ')[0]).sort()).toEqual([
      ...['KEVT', 'agent.Mode', 'd.cpu_threads', 'd.uaData.Mobile', 'd.ua_data', 'kevt[0].shift_key', 'm[0].m_x'],
      ...['memberRef', 's_id', 'tags[0].V'],
    ])
    expect(scanned.warnings).toContain('memberRef is not a field and was ignored; did you mean member_ref?')
    expect(difference(scanned, readByContract(bytesOf(body)))).toBeNull()
  })

  it('treats a null r as absent, so that a second keydown of a key that is down counts as a repeat', () => {
    const { k: _, ...pattern } = wirePattern(typedBy(1, 0))
    const [first, ...others] = pattern.kevt as [(typeof pattern.kevt)[0]] // Sound: a pattern has events.
    const again = { ...first, et: first.et + 1, t: first.t + 1 }
    const body = { ...pattern, kevt: [first, again, ...others].map((event, seqn) => ({ ...event, seqn, r: null })) }
    expect(scan(body).nKeydowns).toBe(50)
    expect(difference(scan(body), readByContract(bytesOf(body)))).toBeNull()
  })

  it('drops the warnings of an object or list that a later duplicate replaces', () => {
    const pattern = JSON.stringify({ ...wirePattern(typedBy(1, 0)), d: { uaData: {} }, m: [] }).slice(1)
    const before = [
      '"agent":{"type":"a","Mode":1}',
      '"tags":[{"k":"a","v":"b","V":1}]',
      '"kevt":[{"type":"keydown","kc":1,"seqn":1,"Seqn":1}]',
      '"k":[{"kc":1,"et":1,"h":1,"H":1}]',
      '"m":[{"et":1,"type":"move","m_x":1}]',
      '"d":{"UA":1,"uaData":{"Mobile":1}}',
    ]
    for (const one of before) {
      const once = kernel.scan(new TextEncoder().encode(`{${pattern.slice(0, -1)},${one}}`))
      // A body whose last list has one event is not a valid pattern: the scanner declines it.
      if (once !== null) expect(once.warnings).not.toBeNull()
      const twice = new TextEncoder().encode(`{${one},${pattern}`)
      const scanned = kernel.scan(twice)
      expect([one, scanned?.warnings]).toEqual([one, null])
      expect(difference(scanned as PatternRead, readByContract(twice))).toBeNull()
    }
  })

  it('reads a body of exactly its size limit and declines a longer one', () => {
    const body = bytesOf(wirePattern(typedBy(1, 0)))
    const padded = (length: number) => {
      const out = new Uint8Array(length).fill(0x20)
      out.set(body)
      return out
    }
    expect(kernel.scan(padded(512 * 1024))).not.toBeNull()
    expect(kernel.scan(padded(512 * 1024 + 1))).toBeNull()
  })
})
