import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Binned, Boosted, BoostingOptions } from './boosting.js'

export interface FitTask {
  readonly name: string
  readonly data: Binned
  readonly options: Omit<BoostingOptions, 'onTree'>
}
type Message = { readonly done: number } | { readonly boosted: Boosted }

/**
 * Fits each task on a thread of its own, at most as many at once as there are cores. The threads share the columns. Results
 * are in the order of the tasks and independent of the number of cores. A finished fit is kept in a file `kept` + its name
 * until all are finished, so that an interrupted run resumes. `worker` is the built fit-worker.js.
 */
export async function fitInParallel(
  tasks: readonly FitTask[],
  worker: URL,
  kept: string,
  onProgress: (message: string) => void,
): Promise<Boosted[]> {
  const results: Boosted[] = []
  const files = tasks.map((task, i) => ({ file: `${kept}.fit-${i}`, print: fingerprint(task) }))
  let next = 0
  const work = async (): Promise<void> => {
    for (let i = next++; i < tasks.length; i = next++) {
      const [task, place] = [tasks[i], files[i]]
      if (task === undefined || place === undefined) continue
      const found = readKept(place.file, place.print)
      if (found !== null) onProgress(`${task.name}: kept from an earlier run`)
      results[i] = found ?? (await fitOne(task, worker, onProgress))
      writeFileSync(place.file, JSON.stringify({ print: place.print, boosted: results[i] }))
    }
  }
  await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work))
  for (const { file } of files) rmSync(file, { force: true })
  return results
}

/** The kept fit of exactly this task; null if there is none. */
function readKept(file: string, print: string): Boosted | null {
  if (!existsSync(file)) return null
  // Sound: only `fitInParallel` writes the file; a file of another task has another print.
  const kept = JSON.parse(readFileSync(file, 'utf8')) as { readonly print: string; readonly boosted: Boosted }
  return kept.print === print ? kept.boosted : null
}

function fingerprint({ data, options }: FitTask): string {
  const hash = createHash('sha256').update(JSON.stringify(options)).update(data.labels)
  hash.update(new Uint8Array(data.weights.buffer, data.weights.byteOffset, data.weights.byteLength))
  for (const column of data.bins) hash.update(column)
  return hash.digest('hex')
}

function fitOne(task: FitTask, worker: URL, onProgress: (message: string) => void): Promise<Boosted> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(worker, { workerData: task })
    thread.on('message', (message: Message) => {
      if ('boosted' in message) resolve(message.boosted)
      else onProgress(`${task.name}: tree ${message.done} of ${task.options.trees}`)
    })
    thread.on('error', reject)
    thread.on('exit', (code) => reject(new Error(`the thread of ${task.name} ended with status ${code}`)))
  })
}
