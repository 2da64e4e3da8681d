import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { binned } from '../../src/calibration/boosting.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import { collector } from '../../src/calibration/rows.js'
import { forget, runTasks, type Task } from '../../src/calibration/tasks.js'

const folder = mkdtempSync(join(tmpdir(), 'keystride-tasks-'))
afterAll(() => rmSync(folder, { recursive: true }))

function treesTask(name: string, seed: number): Task<'trees'> {
  const random = seededRandom(1)
  const rows = collector(2)
  for (let i = 0; i < 400; i++) {
    const row = Float32Array.of(normal(random), normal(random))
    rows.add(row, (row[0] ?? 0) > (row[1] ?? 0) ? 1 : 0)
  }
  const options = { trees: 40, leaves: 4, learningRate: 0.2, l2: 1, rowsPerLeafMin: 10, rowShare: 0.5, featureShare: 1 }
  return { name, work: 'trees', input: { data: binned(rows.done(), 1), options: { ...options, seed } }, seconds: seed }
}

describe('the tasks of a fit', () => {
  const kept = join(folder, 'model')
  const tasks = [treesTask('first', 1), treesTask('second', 2), treesTask('third', 3)]

  it('give results in their order, report progress, and are kept for a run that goes on', async () => {
    const lines: string[] = []
    const results = await runTasks(tasks, { kept, onProgress: (line) => lines.push(line) })
    expect(results.map(({ trees }) => trees.length)).toEqual([40, 40, 40])
    expect(results[0]).not.toEqual(results[1])
    expect(lines.filter((line) => line.includes(', 100 %; all '))).toHaveLength(3)
    expect(lines.at(-1)).toMatch(/, 100 %; all 100 %, about 0 minutes left$/)

    const again: string[] = []
    const resumed = await runTasks([...tasks, treesTask('fourth', 4)], {
      kept,
      onProgress: (line) => again.push(line),
    })
    expect(resumed.slice(0, 3)).toEqual(results)
    expect(again.filter((line) => line.endsWith('kept from an earlier run'))).toHaveLength(3)
    expect(again.filter((line) => line.startsWith('fourth, 100 %'))).toHaveLength(1)
  })

  it('are forgotten when the model is written', () => {
    expect(readdirSync(folder)).toHaveLength(4)
    forget([...tasks, treesTask('fourth', 4)], kept)
    expect(readdirSync(folder)).toEqual([])
  })

  it('fail with the error of their thread', async () => {
    const [task] = tasks
    const broken = { ...task, input: { ...task?.input, data: undefined } } as unknown as Task<'trees'>
    await expect(runTasks([broken], { kept: null, onProgress: () => {} })).rejects.toThrow(/undefined/)
  })
})
