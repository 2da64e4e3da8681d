import { afterAll, describe, expect, it } from 'vitest'
import { modelFile, wasmFile, workerFile } from '../../src/scoring/artifacts.js'
import { packTasks, unpackTasks } from '../../src/scoring/batch.js'
import { createInlineScoring } from '../../src/scoring/inline.js'
import { createScoringPool } from '../../src/scoring/pool.js'
import type { PatternReading, ScoringTask } from '../../src/scoring/scoring.js'
import { bytesOf, typedBy, wirePattern } from './typists.js'

const files = { wasmFile: wasmFile(), modelFile: modelFile() }
const replayKey = new Uint8Array(32).fill(3)
const taskOf = (person: number, session: number, references: readonly Uint8Array[] = []): ScoringTask => ({
  body: bytesOf(wirePattern(typedBy(person, session))),
  references,
  replayKey,
})
const pool = createScoringPool({ ...files, workerFile: workerFile(), workers: 2 })
const inline = createInlineScoring(files)
afterAll(() => pool.close())

/** The reading of a pattern within the bounds, which the pool and the caller's own thread must agree on. */
async function readingOf(task: ScoringTask): Promise<PatternReading> {
  const read = await pool.score(task)
  expect(await inline.score(task)).toEqual(read)
  if (!read.ok) throw new Error(read.message)
  return read.reading
}
/** The samples of a person's first sessions. */
const samples = (count: number) =>
  Promise.all(Array.from({ length: count }, async (_, session) => (await readingOf(taskOf(1, session))).sample))

describe('batch', () => {
  it('unpacks every task as it was packed, with odd lengths and without references', () => {
    const tasks = [0, 1, 2, 3].map((n) => ({
      body: new Uint8Array(n * 3 + 1).fill(n),
      references: Array.from({ length: n }, (_, i) => new Uint8Array(i * 5 + 1).fill(i)),
      adaptive: Array.from({ length: (n + 1) % 3 }, (_, i) => new Uint8Array(i * 3 + 2).fill(9 + i)),
      replayKey,
      returnTemplate: n % 3 === 0,
      sitting: n % 2 === 0 ? ('same' as const) : ('later' as const),
      known: Array.from({ length: (2 * n) % 3 }, (_, i) => new Uint8Array(i * 7 + n).fill(20 + i)),
      ...(n % 4 === 1 ? { template: { bytes: new Uint8Array(n).fill(n), n: 1 + n } } : {}),
    }))
    expect(unpackTasks(packTasks(tasks))).toEqual(tasks)
    expect(unpackTasks(packTasks([]))).toEqual([])
  })
})

describe('scoring pool', () => {
  it('answers a hundred concurrent attempts in order, with the same results as on the caller’s own thread', async () => {
    const tasks = Array.from({ length: 100 }, (_, i) => taskOf(i, 0))
    const pooled = await Promise.all(tasks.map((task) => pool.score(task)))
    const alone = await Promise.all(tasks.map((task) => inline.score(task)))
    expect(pooled).toEqual(alone)
  })

  it('scores the enrolled person higher than another person', async () => {
    const references = await samples(5)
    const [own, other] = await Promise.all([readingOf(taskOf(1, 9, references)), readingOf(taskOf(2, 9, references))])
    expect(own.nReferencesUsed).toBe(5)
    expect(own.confidence ?? 0).toBeGreaterThan(other.confidence ?? 1)
  })

  it('scores for the sitting of the task', async () => {
    const references = await samples(5)
    const asked = (['same', 'later'] as const).map((sitting) => ({ ...taskOf(1, 9, references), sitting }))
    const [same, later] = await Promise.all(asked.map(readingOf))
    expect(later?.confidence).not.toBe(same?.confidence)
  })

  it('recognizes a replay of an enrolled or an adaptive reference', async () => {
    const [first = new Uint8Array(), second = new Uint8Array()] = await samples(2)
    const replayed = async (task: ScoringTask) => (await readingOf(task)).replayOfReference
    expect(await replayed(taskOf(1, 0, [first]))).toBe(true)
    expect(await replayed({ ...taskOf(1, 1, [first]), adaptive: [second] })).toBe(true)
    expect(await replayed(taskOf(1, 4, [first]))).toBe(false)
  })

  it('scores once against the enrolled references alone and once with the adaptive ones added', async () => {
    const all = await samples(7)
    const enrolled = all.slice(0, 5)
    const both = await readingOf({ ...taskOf(1, 9, enrolled), adaptive: all.slice(5) })
    const alone = await readingOf(taskOf(1, 9, enrolled))
    expect(both.confidence).toBe(alone.confidence)
    expect(both.confidenceAdapted).toBe((await readingOf(taskOf(1, 9, all))).confidence)
    expect([both.nReferencesUsed, alone.confidenceAdapted]).toEqual([7, null])
  })

  it('answers an invalid pattern with a message', async () => {
    const answer = await pool.score({ body: bytesOf([]), references: [], replayKey })
    expect(answer).toEqual({ ok: false, message: 'the body must be a JSON object' })
  })

  it('leaves out references of another version', async () => {
    const answer = await pool.score(taskOf(1, 0, [new Uint8Array([9, 9, 9])]))
    expect(answer).toMatchObject({ ok: true, reading: { nReferencesUsed: 0, confidence: null } })
  })

  it('on the caller’s own thread yields to the event loop while it scores many attempts', async () => {
    const tasks = Array.from({ length: 30 }, (_, i) => taskOf(1, i))
    let rounds = 0
    let done = false
    const countRound = () => {
      rounds += 1
      if (!done) setImmediate(countRound)
    }
    setImmediate(countRound)
    const scored = await Promise.all(tasks.map((task) => inline.score(task)))
    done = true
    expect(scored.every(({ ok }) => ok)).toBe(true)
    expect(rounds).toBeGreaterThanOrEqual(3)
  })

  it('answers tasks that were submitted before it closes, and rejects later ones', async () => {
    const closing = createScoringPool({ ...files, workerFile: workerFile(), workers: 1 })
    const asked = closing.score(taskOf(1, 0))
    await closing.close()
    await expect(asked).resolves.toMatchObject({ ok: true })
    await expect(closing.score(taskOf(1, 0))).rejects.toThrow('closed')
  })
})
