import { describe, expect, it } from 'vitest'
import type { KeyPress } from '../../src/domain/key-press.js'
import { keyName, keyOfCode } from '../../src/domain/key-table.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { encodeSample } from '../../src/scoring/sample.js'
import { scoreTask } from '../../src/scoring/score.js'
import { openScorer } from '../../src/scoring/scorer.js'
import { recompute, type Trace, traceOf } from '../../src/scoring/trace.js'
import { person } from '../../src/typist/made-up-person.js'
import { typedBy } from './typists.js'

const scorer = openScorer(wasmFile(), modelFile())
const sample = (presses: readonly KeyPress[], mode: 'visible' | 'sensitive' = 'visible') => encodeSample(presses, mode)
const references = [1, 2, 3, 4, 5].map((session) => sample(typedBy(1, session, 45)))
const adaptive = [6, 7].map((session) => sample(typedBy(1, session, 45)))
const probes = [1, 2, 3, 4].map((who) => sample(typedBy(who, 9, 45)))
const sameBits = (a: object, b: object) =>
  Object.entries(a).every(([key, value]) => Object.is(value, (b as Record<string, unknown>)[key]))

/** The presses with every time from `from` to `to` longer by `ms`. */
function slowed(presses: readonly KeyPress[], [from, to]: readonly [number, number], ms: number): KeyPress[] {
  let later = 0
  return presses.map(({ key, pressMs, releaseMs }, i) => {
    if (presses[i - 1]?.key === from && key === to) later += ms
    return { key, pressMs: pressMs + later, releaseMs: releaseMs + later }
  })
}

describe('a trace', () => {
  it.each([
    ['five references', { references }],
    ['one reference', { references: references.slice(0, 1) }],
    ['enrolled and adaptive references', { references, adaptive }],
    ['no reference', { references: [] }],
  ])('of %s is found again bit for bit, here, from JSON, and by a fresh kernel', (_, given) => {
    const fresh = openScorer(wasmFile(), modelFile())
    for (const probe of probes) {
      const trace = traceOf(scorer, { probe, ...given })
      const stored = JSON.parse(JSON.stringify(trace)) as Trace
      expect(stored).toEqual(trace)
      // Something else is scored in between.
      scorer.kernel.score(probes[0] ?? probe, adaptive)
      expect(sameBits(trace.result, recompute(scorer, stored))).toBe(true)
      expect(sameBits(trace.result, recompute(fresh, stored))).toBe(true)
      expect(traceOf(fresh, { probe, ...given })).toEqual(trace)
    }
  })

  it('holds what the worker found', () => {
    const body = (session: number) =>
      Buffer.from(JSON.stringify(person(3).types('the same words again and again', session)))
    const replayKey = new Uint8Array(32)
    const read = (session: number, enrolled: readonly Uint8Array[], learned: readonly Uint8Array[] = []) => {
      const task = { body: body(session), references: enrolled, adaptive: learned, replayKey }
      const result = scoreTask(scorer.kernel, task)
      if (!result.ok) throw new Error(result.message)
      return result.reading
    }
    const enrolled = [1, 2, 3, 4, 5].map((session) => read(session, []).sample)
    const learned = [6, 7].map((session) => read(session, []).sample)
    const reading = read(8, enrolled, learned)
    const { result, indicators } = traceOf(scorer, { probe: reading.sample, references: enrolled, adaptive: learned })
    expect(Object.is(result.confidence, reading.confidence)).toBe(true)
    expect(Object.is(result.confidenceAdapted, reading.confidenceAdapted)).toBe(true)
    expect(Object.is(result.botLikelihood, reading.botLikelihood)).toBe(true)
    expect(indicators).toEqual({ biometric: reading.confidence, bot: reading.botLikelihood })
  })

  it('names model and kernel, and is not found again by others', () => {
    const trace = traceOf(scorer, { probe: probes[0] ?? sample([]), references })
    expect(trace.model.name).toMatch(/^keystride-\d+$/)
    for (const { sha256 } of [trace.model, trace.kernel]) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    const other = { ...trace, model: { ...trace.model, sha256: '0'.repeat(64) } }
    expect(() => recompute(scorer, other)).toThrow('another model')
    expect(() => recompute(scorer, { ...trace, version: 2 as 1 })).toThrow('version 2')
  })

  it('refuses a probe that is no sample, and leaves out references that are none', () => {
    expect(() => traceOf(scorer, { probe: new Uint8Array(3), references })).toThrow(RangeError)
    const trace = traceOf(scorer, { probe: probes[0] ?? sample([]), references: [new Uint8Array(3), ...references] })
    expect(trace.nReferences).toBe(5)
  })
})

describe('an explanation', () => {
  const told = (presses: readonly KeyPress[], mode: 'visible' | 'sensitive' = 'visible') => {
    const { explanation } = traceOf(scorer, { probe: sample(presses, mode), references })
    if (explanation === null) throw new Error('there are references')
    return explanation
  }

  it('has every press once, the pairs sorted from what spoke most for to what spoke most against', () => {
    const { pairs } = told(typedBy(1, 9, 45))
    expect(pairs.reduce((sum, { times }) => sum + times, 0)).toBe(45)
    const weights = pairs.map(({ spokeFor }) => spokeFor)
    expect(weights).toEqual([...weights].sort((a, b) => b - a))
    expect(new Set(pairs.map(({ pair }) => pair)).size).toBe(pairs.length)
  })

  it('tells the owner by more for than an impostor', () => {
    const sum = (who: number) => told(typedBy(who, 9, 45)).pairs.reduce((all, { spokeFor }) => all + spokeFor, 0)
    const others = [2, 3, 4, 5, 6, 7, 8, 9].map(sum)
    expect(sum(1)).toBeGreaterThan(others.reduce((all, one) => all + one, 0) / others.length)
    expect(sum(1)).toBeGreaterThan(0)
  })

  it('says of a pair typed far slower that it was, by how much, and that it spoke against', () => {
    const typed = typedBy(1, 9, 45)
    const counts = typed.slice(1).map(({ key }, i) => [typed[i]?.key ?? 0, key] as const)
    const [from, to] = counts.find(
      ([a, b]) => a !== b && counts.filter(([c, d]) => a === c && b === d).length === 1,
    ) ?? [0, 0]
    const names = [from, to].map((key) => keyName(key) ?? 'other key')
    const name = names.every(({ length }) => length === 1) ? names.join('') : names.join(' + ')
    const before = told(typed).pairs.find(({ pair }) => pair === name)
    const after = told(slowed(typed, [from, to], 700)).pairs.find(({ pair }) => pair === name)
    expect((after?.observedMs ?? 0) - (before?.observedMs ?? 0)).toBeCloseTo(700, 0)
    expect(after?.expectedMs).toBe(before?.expectedMs)
    expect(after?.spokeFor).toBeLessThan(Math.min(0, before?.spokeFor ?? 0))
    expect(after?.words).toMatch(
      /: (\d+ ms slower|gap between the keys \d+ ms longer) than usual \(usual -?\d+ ms, here \d+ ms/,
    )
    expect(after?.words.startsWith(`${name}: `)).toBe(true)
  })

  it('counts how often the references hold a pair', () => {
    const typed = typedBy(1, 1, 45)
    const { pairs } = told(typed)
    for (const { seen, times } of pairs) expect(seen).toBeGreaterThanOrEqual(times)
  })

  it('tells a pattern that is slower as a whole', () => {
    const stretched = typedBy(1, 9, 45).map(({ key, pressMs, releaseMs }) => ({
      key,
      pressMs: pressMs * 1.5,
      releaseMs: pressMs * 1.5 + (releaseMs - pressMs) * 1.5,
    }))
    const words = told(stretched).whole.map((sign) => sign.words)
    expect(words[0]).toMatch(/^typed \d+ % slower than usual$/)
    expect(words[1]).toMatch(/^keys held \d+ % longer than usual$/)
  })

  it('of a masked pattern names no key', () => {
    const typed = typedBy(1, 9, 45)
    const masked = told(
      typed.map((press) => ({ ...press, key: 0 })),
      'sensitive',
    )
    expect(masked.masked).toBe(true)
    expect(masked.pairs).toHaveLength(45)
    for (const { pair, seen, words } of masked.pairs) {
      expect(pair).toMatch(/^key 1$|^keys \d+ and \d+$/)
      expect(seen).toBeNull()
      expect(words).toMatch(
        /^keys? \d+( and \d+)?: ((the key held |gap between the keys )?(as long as usual|as usual|as fast as usual|\d+ ms \w+ than usual))(, but (so for most people|closer to this person than to others))? \(usual -?\d+ ms, here -?\d+ ms\)$/,
      )
    }
    expect(masked.whole.map(({ sign }) => sign)).not.toContain('corrections')
  })

  it('names keys as people do', () => {
    const names = ['KeyA', 'Digit7', 'Space', 'Backspace', 'ShiftLeft', 'ArrowLeft', 'Period'].map((code) =>
      keyName(keyOfCode(code)),
    )
    expect(names).toEqual(['a', '7', 'Space', 'Backspace', 'Shift', 'ArrowLeft', 'Period'])
    expect(keyName(0)).toBeNull()
    expect(keyName(127)).toBeNull()
  })
})
