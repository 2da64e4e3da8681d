import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { binned } from '../../src/calibration/boosting.js'
import { normal, seededRandom } from '../../src/calibration/random.js'
import { collector } from '../../src/calibration/rows.js'
import { createProgress, runTasks, type Task } from '../../src/calibration/tasks.js'

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

const tasks = [treesTask('first', 1), treesTask('second', 2), treesTask('third', 3)]
const SECONDS = 6

/** Lines of progress, and a progress that writes them. */
function recorded(seconds = SECONDS) {
  const lines: string[] = []
  return { lines, progress: createProgress(seconds, (line) => lines.push(line)) }
}

describe('the tasks of a fit', () => {
  it('give results in their order, report progress, and are kept for a run that goes on', async () => {
    const kept = join(folder, 'model')
    const { lines, progress } = recorded()
    const { results, files } = await runTasks(tasks, { kept, progress })
    expect(results.map(({ trees }) => trees.length)).toEqual([40, 40, 40])
    expect(results[0]).not.toEqual(results[1])
    expect(lines.filter((line) => line.includes(', 100 %; all '))).toHaveLength(3)
    expect(lines.at(-1)).toMatch(/, 100 %; all 100 %, about 0 minutes left$/)
    expect(files.map((file) => basename(file)).sort()).toEqual(readdirSync(folder).sort())

    const again = recorded(10)
    const resumed = await runTasks([...tasks, treesTask('fourth', 4)], { kept, progress: again.progress })
    expect(resumed.results.slice(0, 3)).toEqual(results)
    expect(again.lines.filter((line) => line.endsWith('kept from an earlier run'))).toHaveLength(3)
    expect(again.lines.filter((line) => line.startsWith('fourth, 100 %'))).toHaveLength(1)
  })

  it('are not kept without a path', async () => {
    const before = readdirSync(folder)
    const { files } = await runTasks(tasks.slice(0, 1), { kept: null, progress: recorded().progress })
    expect(files).toEqual([])
    expect(readdirSync(folder)).toEqual(before)
  })

  it('fail with the error of their thread, and start no other', async () => {
    const [task] = tasks
    const broken = { ...task, name: 'broken', input: { ...task?.input, data: undefined }, seconds: 9 }
    const { lines, progress } = recorded()
    const all = [
      ...tasks,
      broken as unknown as Task<'trees'>,
      ...Array.from({ length: 40 }, () => treesTask('late', 1)),
    ]
    await expect(runTasks(all, { kept: null, progress })).rejects.toThrow(/undefined/)
    expect(lines.filter((line) => line.startsWith('late')).length).toBeLessThan(40)
  })
})
