import { describe, expect, it } from 'vitest'
import { type ComparedPerson, comparedWith } from '../../../src/flows/attempt/compared-with.js'
import { idsOfKnown, type KnownPatterns, sketchesOfKnown } from '../../../src/flows/attempt/known-patterns.js'
import { createPatternMemory, type PatternMemory, remember } from '../../../src/flows/attempt/pattern-memory.js'
import { idsIn } from '../../../src/flows/attempt/sketch-row.js'
import { encodeSample } from '../../../src/scoring/sample.js'
import { sketchBytesAt, sketchOf } from '../../../src/scoring/sketch.js'
import type { TestedBy, TestedPattern } from '../../../src/storage/authentication.js'
import { member, NOW } from '../../domain/members.js'
import { typedBy } from '../../scoring/typists.js'

const REFERENCES = 5
/** An id of a kind of pattern: enrolled, tested or refused. */
const idOf = (kind: 'e' | 't' | 'r', n: number) =>
  `01900000-0000-7000-8000-${{ e: 'e', t: '1', r: 'f' }[kind]}${String(n).padStart(11, '0')}`
const sampleOf = (n: number) => encodeSample(typedBy(1, n, 20), 'visible')
const tested = (n: number, changes: Partial<TestedPattern> = {}): TestedPattern => ({
  patternId: idOf('t', n),
  createdAt: NOW + n,
  authenticated: true,
  sealed: sampleOf(n),
  refused: null,
  ...changes,
})
const refused = (n: number) => tested(n, { patternId: idOf('r', n), authenticated: false, refused: { generation: 0 } })

/** A member whose attempts have this version, in a store with these patterns, newest first. */
function knowing(
  patterns: readonly TestedPattern[],
  memory: PatternMemory = createPatternMemory(1e6),
  now: () => number = () => NOW + 1000,
) {
  const asked: TestedBy[] = []
  const needs = {
    memory,
    people: { profileOf: () => null },
    comparisonSets: { find: async () => null },
    profiles: {
      references: async () =>
        Array.from({ length: REFERENCES }, (_, i) => ({
          ...{ id: idOf('e', i), generation: 0, mode: 'visible' as const, kind: 'enrolled' as const },
          sealed: sampleOf(100 + i),
        })),
    },
    authentications: {
      tested: async (_: string, by: TestedBy) => {
        asked.push(by)
        const left = patterns.filter(
          ({ patternId, createdAt }) => createdAt >= by.since && !by.known.includes(patternId),
        )
        const { confirmed, failed } = by.limits
        return [
          ...left.filter((one) => one.authenticated).slice(0, confirmed),
          ...left.filter((one) => !one.authenticated && one.refused === null).slice(0, failed),
          ...left.filter((one) => one.refused !== null).slice(0, failed),
        ]
      },
    },
    vault: { open: async (_organizationId: string, _binding: unknown, sealed: Uint8Array) => sealed },
    now,
  }
  const at = async (attemptsVersion: number) => {
    const person = {
      who: { organizationId: 'o', userRef: 'ada', memberRef: null },
      account: { id: 'a' },
      member: member(REFERENCES, { attemptsVersion }),
    }
    // Sound: these are all the fields of needs and person that are read.
    return (await comparedWith(needs as never, person as unknown as ComparedPerson)).known
  }
  return { asked, memory, at }
}

const ids = (kind: 'e' | 't' | 'r', from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => idOf(kind, from + i))
const newestFirst = (n: number) => Array.from({ length: n }, (_, i) => tested(n - 1 - i))
const sketchesOf = (known: KnownPatterns) => {
  const [ids, sketches] = [idsOfKnown(known), Buffer.concat(sketchesOfKnown(known))]
  let at = 0
  return ids.map(() => {
    const from = at
    at += sketchBytesAt(sketches, from)
    return sketches.subarray(from, at)
  })
}

describe('the known patterns of a member', () => {
  it('are the references, then successes, then failures and refused calls, oldest first, each with its sketch', async () => {
    const { at } = knowing([tested(3), refused(2), tested(1), refused(0)])
    const known = await at(4)
    expect(idsOfKnown(known)).toEqual([
      ...ids('e', 0, REFERENCES),
      idOf('t', 1),
      idOf('t', 3),
      idOf('r', 0),
      idOf('r', 2),
    ])
    expect([known.references.n, known.failed.n]).toEqual([REFERENCES, 2])
    const presses = sketchesOf(known).map((sketch) => Buffer.from(sketch.subarray(1)).toString('hex'))
    const wanted = [...[0, 1, 2, 3, 4].map((i) => 100 + i), 1, 3, 0, 2].map((n) => sketchOf(sampleOf(n)).subarray(1))
    expect(presses).toEqual(wanted.map((sketch) => Buffer.from(sketch).toString('hex')))
  })

  it('are read once for a version of the attempts, and then only those that the process does not know', async () => {
    const first = knowing(newestFirst(3))
    await first.at(3)
    await first.at(3)
    expect(first.asked).toHaveLength(1)
    expect(first.asked[0]).toMatchObject({
      since: 0,
      limits: { confirmed: 3, failed: 3 },
      known: ids('e', 0, REFERENCES),
    })
    const later = knowing(newestFirst(5), first.memory)
    expect(idsOfKnown(await later.at(5))).toEqual([...ids('e', 0, REFERENCES), ...ids('t', 0, 5)])
    expect(later.asked).toMatchObject([
      { limits: { confirmed: 2, failed: 2 }, known: [...ids('e', 0, REFERENCES), ...ids('t', 0, 3)] },
    ])
  })

  it('are read from a little before the latest one, and all if it is in the future: the clock was set back', async () => {
    const DAY_MS = 86_400_000
    const { memory, at } = knowing([tested(2, { createdAt: NOW })])
    await at(1)
    const later = knowing([tested(2, { createdAt: NOW })], memory)
    await later.at(2)
    expect(later.asked).toMatchObject([{ since: NOW - 120_000 }])
    const setBack = tested(1, { createdAt: NOW - DAY_MS })
    const after = knowing([tested(2, { createdAt: NOW }), setBack], memory, () => NOW - DAY_MS + 1000)
    expect(idsOfKnown(await after.at(3))).toContain(idOf('t', 1))
    expect(after.asked).toMatchObject([{ since: 0 }])
  })

  it('hold the latest 48 successes, and the latest 16 failures and refused calls, which push out no success', async () => {
    const refusals = Array.from({ length: 60 }, (_, i) => refused(59 - i))
    const { at } = knowing([...newestFirst(60), ...refusals])
    const known = await at(120)
    expect(idsOfKnown(known)).toEqual([...ids('e', 0, REFERENCES), ...ids('t', 12, 60), ...ids('r', 44, 60)])
    const bytes = sketchesOf(known).reduce((sum, { length }) => sum + length, 0)
    expect(bytes).toBe(Buffer.concat(sketchesOfKnown(known)).length)
  })

  it('gain the pattern of a recorded attempt, unless another attempt was recorded in between', async () => {
    const { at, memory } = knowing(newestFirst(1))
    const known = await at(1)
    const sketch = sketchOf(sampleOf(9))
    const pattern = { id: idOf('t', 9), at: NOW + 9, authenticated: true, sketch, nInTail: null }
    remember(memory, member(REFERENCES, { attemptsVersion: 3 }), known, pattern)
    expect(memory.find(member(REFERENCES))).toEqual(known)
    remember(memory, member(REFERENCES, { attemptsVersion: 2 }), known, pattern)
    const { attemptsVersion, confirmed } = memory.find(member(REFERENCES)) as KnownPatterns
    expect([attemptsVersion, idsIn(confirmed)]).toEqual([2, [...idsIn(known.confirmed), pattern.id]])
  })

  it('are forgotten with another generation or version of the profile, and the least recent member first', async () => {
    const memory = createPatternMemory(4000)
    const { at } = knowing(newestFirst(1), memory)
    await at(1)
    for (const other of [{ generation: 1 }, { profileVersion: 1 }])
      expect(memory.find(member(REFERENCES, other))).toBeNull()
    const held = memory.find(member(REFERENCES)) as KnownPatterns
    memory.keep('n', held)
    memory.keep('o', held)
    expect([memory.find(member(REFERENCES)), memory.find(member(REFERENCES, { id: 'o' }))]).toEqual([null, held])
  })
})
