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

/** The presses, with each interval from key `from` to key `to` longer by `ms`. */
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
  ])('of %s is recomputed bit for bit, from JSON, by the same kernel and by a new one', (_, given) => {
    const fresh = openScorer(wasmFile(), modelFile())
    for (const probe of probes) {
      const trace = traceOf(scorer, { probe, ...given })
      const stored = JSON.parse(JSON.stringify(trace)) as Trace
      expect(stored).toEqual(trace)
      // Scores another pattern in between, to change the state of the kernel.
      scorer.kernel.score(probes[0] ?? probe, adaptive)
      expect(sameBits(trace.result, recompute(scorer, stored))).toBe(true)
      expect(sameBits(trace.result, recompute(fresh, stored))).toBe(true)
      expect(traceOf(fresh, { probe, ...given })).toEqual(trace)
    }
  })

  it('has the scores of the worker', () => {
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

  it('names its model and kernel, and refuses to recompute with another model or version', () => {
    const trace = traceOf(scorer, { probe: probes[0] ?? sample([]), references })
    expect(trace.model.name).toMatch(/^keystride-\d+$/)
    for (const { sha256 } of [trace.model, trace.kernel]) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    const other = { ...trace, model: { ...trace.model, sha256: '0'.repeat(64) } }
    expect(() => recompute(scorer, other)).toThrow('another model')
    expect(() => recompute(scorer, { ...trace, version: 1 as 2 })).toThrow('version 1')
  })

  it('refuses an unreadable probe, and leaves out unreadable references', () => {
    expect(() => traceOf(scorer, { probe: new Uint8Array(3), references })).toThrow(RangeError)
    const trace = traceOf(scorer, { probe: probes[0] ?? sample([]), references: [new Uint8Array(3), ...references] })
    expect(trace.nReferences).toBe(5)
  })
})

describe('an explanation', () => {
  const explained = (presses: readonly KeyPress[], mode: 'visible' | 'sensitive' = 'visible') => {
    const { explanation } = traceOf(scorer, { probe: sample(presses, mode), references })
    if (explanation === null) throw new Error('there are references')
    return explanation
  }

  it('counts every press once, and sorts pairs from the strongest evidence for the person to the strongest against the person', () => {
    const { pairs } = explained(typedBy(1, 9, 45))
    expect(pairs.reduce((sum, { times }) => sum + times, 0)).toBe(45)
    const weights = pairs.map(({ spokeFor }) => spokeFor)
    expect(weights).toEqual([...weights].sort((a, b) => b - a))
    expect(new Set(pairs.map(({ pair }) => pair)).size).toBe(pairs.length)
  })

  it('sets each press next to the references: their range, mean and number of the same key pair', () => {
    const typed = typedBy(1, 9, 45)
    const { presses, pairs } = explained(typed)
    expect(presses.map(({ second }) => second)).toEqual(typed.map(({ key }) => keyName(key) ?? 'other key'))
    const intervals = [1, 2, 3, 4, 5].flatMap((session) => {
      const reference = typedBy(1, session, 45)
      return reference.slice(1).map(({ key, pressMs }, i) => {
        const before = reference[i]
        return { pair: `${before?.key} ${key}`, ms: Math.min(Math.max(pressMs - (before?.pressMs ?? 0), 5), 3000) }
      })
    })
    let known = 0
    for (const [i, { byTime }] of presses.entries()) {
      const found = byTime.pressPress
      expect(found === undefined).toBe(i === 0)
      if (found === undefined) continue
      const pair = `${typed[i - 1]?.key} ${typed[i]?.key}`
      const all = intervals.filter((one) => one.pair === pair).map(({ ms }) => ms)
      known += Math.min(1, all.length)
      const mean = all.reduce((sum, ms) => sum + ms, 0) / all.length
      const deviation = Math.sqrt(all.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / (all.length - 1))
      const near = (ms: number, of = all) => (of.length === 0 ? null : expect.closeTo(ms, 0))
      expect(found).toMatchObject({
        ...{ n: all.length, meanMs: near(mean), deviationMs: near(deviation, all.slice(1)) },
        ...{ lowestMs: near(Math.min(...all)), highestMs: near(Math.max(...all)) },
      })
    }
    expect(known).toBeGreaterThan(10)
    const sum = (of: readonly { spokeFor: number }[]) => of.reduce((all, one) => all + one.spokeFor, 0)
    expect(sum(presses)).toBeCloseTo(sum(pairs), 1)
  })

  it('has more evidence for the owner than for an average impostor', () => {
    const sum = (who: number) => explained(typedBy(who, 9, 45)).pairs.reduce((all, { spokeFor }) => all + spokeFor, 0)
    const others = [2, 3, 4, 5, 6, 7, 8, 9].map(sum)
    expect(sum(1)).toBeGreaterThan(others.reduce((all, one) => all + one, 0) / others.length)
    expect(sum(1)).toBeGreaterThan(0)
  })

  it('reports a pair typed far slower, the difference in ms, and that it counts against the person', () => {
    const typed = typedBy(1, 9, 45)
    const counts = typed.slice(1).map(({ key }, i) => [typed[i]?.key ?? 0, key] as const)
    const [from, to] = counts.find(
      ([a, b]) => a !== b && counts.filter(([c, d]) => a === c && b === d).length === 1,
    ) ?? [0, 0]
    const names = [from, to].map((key) => keyName(key) ?? 'other key')
    const name = names.every(({ length }) => length === 1) ? names.join('') : names.join(' + ')
    const before = explained(typed).pairs.find(({ pair }) => pair === name)
    const after = explained(slowed(typed, [from, to], 700)).pairs.find(({ pair }) => pair === name)
    expect((after?.observedMs ?? 0) - (before?.observedMs ?? 0)).toBeCloseTo(700, 0)
    expect(after?.expectedMs).toBe(before?.expectedMs)
    expect(after?.spokeFor).toBeLessThan(Math.min(0, before?.spokeFor ?? 0))
    expect(after?.words).toMatch(/\d+ ms (slower|longer) than usual/)
    expect(after?.words.startsWith(`${name}: `)).toBe(true)
  })

  it('reports a pattern that is slower as a whole', () => {
    const stretched = typedBy(1, 9, 45).map(({ key, pressMs, releaseMs }) => ({
      key,
      pressMs: pressMs * 1.5,
      releaseMs: releaseMs * 1.5,
    }))
    const words = explained(stretched).whole.map((sign) => sign.words)
    expect(words[0]).toContain('slower than usual')
    expect(words[1]).toContain('longer than usual')
  })

  it('names no key of a masked pattern', () => {
    const presses = typedBy(1, 9, 45).map((press) => ({ ...press, key: 0 }))
    const masked = explained(presses, 'sensitive')
    expect(masked.masked).toBe(true)
    expect(masked.pairs).toHaveLength(45)
    for (const { pair, seen, words } of masked.pairs) {
      expect(pair).toMatch(/^key 1$|^keys \d+ and \d+$/)
      expect(seen).toBeNull()
      expect(words.startsWith(`${pair}: `)).toBe(true)
    }
    expect(masked.whole.map(({ sign }) => sign)).not.toContain('corrections')
  })

  it('names keys by their common names', () => {
    const codes = ['KeyA', 'Digit7', 'Space', 'Backspace', 'ShiftLeft', 'ArrowLeft', 'Period']
    const names = codes.map((code) => keyName(keyOfCode(code)))
    expect(names).toEqual(['a', '7', 'Space', 'Backspace', 'Shift', 'ArrowLeft', 'Period'])
    expect([0, 127].map(keyName)).toEqual([null, null])
  })
})
