import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Sitting } from '../domain/sitting.js'
import { fitWorkerFile } from '../scoring/artifacts.js'
import type { Binned, Boosted, BoostingOptions } from './boosting.js'
import type { Comparisons } from './comparisons.js'
import type { EmbeddingOptions, EmbeddingSource } from './embedding.js'
import type { People } from './fitted-sources.js'
import type { AmongReferences, Liveness } from './liveness.js'
import type { Embedding, ModelParts, Synthesis } from './model-file.js'

/** The parts of a fit that run on a thread of their own: input and result of each. */
export interface Works {
  readonly trees: {
    readonly input: { readonly data: Binned; readonly options: Omit<BoostingOptions, 'onTree'> }
    readonly result: Boosted
  }
  readonly embedding: {
    readonly input: { readonly sources: readonly EmbeddingSource[]; readonly options: Omit<EmbeddingOptions, 'onStep'> }
    readonly result: Embedding
  }
  readonly comparisons: {
    readonly input: {
      readonly people: People
      readonly models: readonly Uint8Array[]
      readonly sitting: Sitting
      readonly seed: number
    }
    readonly result: Comparisons
  }
  readonly liveness: { readonly input: LivenessInput; readonly result: AmongReferences }
  readonly loneLiveness: { readonly input: LivenessInput; readonly result: Liveness }
  readonly synthesis: {
    readonly input: { readonly people: People; readonly model: Uint8Array; readonly seed: number }
    readonly result: Synthesis
  }
}
interface LivenessInput {
  readonly people: People
  readonly parts: ModelParts
  readonly seed: number
}

export interface Task<Work extends keyof Works> {
  readonly name: string
  readonly work: Work
  readonly input: Works[Work]['input']
  /** Expected time, s, on the machine of `model/notebook.md`: only its share of all tasks counts. */
  readonly seconds: number
}
type Message = { readonly done: number } | { readonly result: unknown }

interface Options {
  /** Path before the names of the files that keep finished results; results are not kept if it is null. */
  readonly kept: string | null
  readonly onProgress: (message: string) => void
}

/** Shortest time between two lines of progress, ms. */
const PROGRESS_MS = 15_000

/**
 * Runs each task on a thread, at most as many at once as there are cores, the longest first. Results are in the order of the tasks
 * and independent of the number of cores. A finished result is kept in a file until all are finished, so that an interrupted run
 * resumes. Reports the time left.
 */
export async function runTasks<Work extends keyof Works>(
  tasks: readonly Task<Work>[],
  { kept, onProgress }: Options,
): Promise<Works[Work]['result'][]> {
  const results: Works[Work]['result'][] = []
  const files = tasks.map((task) => (kept === null ? null : `${kept}.${fingerprint(task)}`))
  const progress = createProgress(tasks, onProgress)
  const order = [...tasks.keys()].sort((a, b) => (tasks[b]?.seconds ?? 0) - (tasks[a]?.seconds ?? 0))
  const work = async (): Promise<void> => {
    for (let i = order.shift(); i !== undefined; i = order.shift()) {
      const [task, file] = [tasks[i] as Task<Work>, files[i] ?? null]
      if (file !== null && existsSync(file)) {
        // Sound: the name of the file has the fingerprint of the task, and only this function writes it.
        results[i] = deserialize(readFileSync(file)) as Works[Work]['result']
        progress.skip(i)
        continue
      }
      results[i] = await runOne(task, (done) => done < 1 && progress.report(i, done))
      if (file !== null) writeFileSync(file, serialize(results[i]))
      progress.report(i, 1)
    }
  }
  await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work))
  return results
}

/** Deletes the files that keep these tasks' results. */
export function forget(tasks: readonly Task<keyof Works>[], kept: string): void {
  for (const task of tasks) rmSync(`${kept}.${fingerprint(task)}`, { force: true })
}

/** Lines such as `trees of the later sitting, 40 %; all 62 %, about 12 minutes left`. */
function createProgress(tasks: readonly Task<keyof Works>[], onProgress: Options['onProgress']) {
  const shares = tasks.map(() => 0)
  const began = Date.now()
  let [before, last] = [0, 0]
  const finished = () => tasks.reduce((sum, { seconds }, i) => sum + seconds * (shares[i] ?? 0), 0)
  const whole = tasks.reduce((sum, { seconds }) => sum + seconds, 0)
  return {
    skip(i: number): void {
      shares[i] = 1
      before += tasks[i]?.seconds ?? 0
      onProgress(`${tasks[i]?.name}: kept from an earlier run`)
    },
    report(i: number, done: number): void {
      shares[i] = done
      const now = Date.now()
      if (done < 1 && now - last < PROGRESS_MS) return
      last = now
      const left = ((now - began) * (whole - finished())) / Math.max(finished() - before, 1e-9)
      const percent = (share: number) => `${Math.round(100 * share)} %`
      const minutes = `about ${Math.ceil(left / 60_000)} minutes left`
      onProgress(`${tasks[i]?.name}, ${percent(done)}; all ${percent(finished() / whole)}, ${minutes}`)
    },
  }
}

function runOne<Work extends keyof Works>(
  task: Task<Work>,
  onDone: (share: number) => unknown,
): Promise<Works[Work]['result']> {
  return new Promise((resolve, reject) => {
    const { work, input } = task
    const thread = new Worker(fitWorkerFile(), { workerData: { work, input } })
    thread.on('message', (message: Message) => {
      if ('result' in message) resolve(message.result as Works[Work]['result'])
      else onDone(message.done)
    })
    thread.on('error', reject)
    thread.on('exit', (code) => reject(new Error(`the thread of ${task.name} ended with status ${code}`)))
  })
}

/** A hash of a task's work and input. */
function fingerprint({ work, input }: Task<keyof Works>): string {
  const hash = createHash('sha256').update(work)
  addTo(hash, input)
  return hash.digest('hex').slice(0, 16)
}

function addTo(hash: ReturnType<typeof createHash>, value: unknown): void {
  if (ArrayBuffer.isView(value)) hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  else if (typeof value === 'object' && value !== null)
    for (const [key, of] of Object.entries(value)) {
      hash.update(`${key}:`)
      addTo(hash, of)
    }
  else hash.update(`${String(value)};`)
}
