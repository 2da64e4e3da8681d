import { createHash, type Hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Sitting } from '../domain/sitting.js'
import { fittingFile, fitWorkerFile, wasmFile } from '../scoring/artifacts.js'
import type { Binned, Boosted, BoostingOptions } from './boosting.js'
import type { Comparisons, ScoredRows } from './comparisons.js'
import type { Confidence } from './confidence.js'
import type { EmbeddingOptions, EmbeddingSource } from './embedding.js'
import type { Selection } from './fitted-sources.js'
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
      readonly selection: Selection
      readonly models: readonly Uint8Array[]
      readonly sitting: Sitting
      readonly seed: number
    }
    readonly result: Comparisons
  }
  readonly confidence: {
    readonly input: { readonly rows: ScoredRows; readonly share: number }
    readonly result: Confidence
  }
  readonly liveness: { readonly input: SignsInput; readonly result: AmongReferences }
  readonly loneLiveness: { readonly input: SignsInput; readonly result: Liveness }
  readonly synthesis: { readonly input: SignsInput; readonly result: Synthesis }
}
interface SignsInput {
  readonly selection: Selection
  readonly parts: ModelParts
  readonly seed: number
}

/** A part of a fit for a thread. */
export interface Task<Work extends keyof Works> {
  readonly name: string
  readonly work: Work
  readonly input: Works[Work]['input']
  /** Expected time, s: only its share of the whole fit counts. */
  readonly seconds: number
}
type Message = { readonly done: number } | { readonly result: unknown }

/** Shortest time between two lines of progress, ms. */
const PROGRESS_MS = 15_000

/** The progress of a fit. */
interface Progress {
  /** Sets the share of a task that is done. */
  report(task: Task<keyof Works>, share: number): void
  /** Notes a task whose result is kept from an earlier run. */
  skip(task: Task<keyof Works>): void
}

/** Prints lines such as `trees of the later sitting, 40 %; all 62 %, about 12 minutes left`, for tasks of `seconds` in all. */
export function createProgress(seconds: number, onProgress: (message: string) => void): Progress {
  const shares = new Map<Task<keyof Works>, number>()
  const began = Date.now()
  let [kept, last] = [0, 0]
  return {
    skip(task) {
      shares.set(task, 1)
      kept += task.seconds
      onProgress(`${task.name}: kept from an earlier run`)
    },
    report(task, share) {
      shares.set(task, share)
      const now = Date.now()
      if (share < 1 && now - last < PROGRESS_MS) return
      last = now
      const finished = [...shares].reduce((sum, [{ seconds }, of]) => sum + seconds * of, 0)
      const left = ((now - began) * Math.max(0, seconds - finished)) / Math.max(finished - kept, 1e-9)
      const percent = (of: number) => `${Math.min(100, Math.round(100 * of))} %`
      const minutes = `about ${Math.ceil(left / 60_000)} minutes left`
      onProgress(`${task.name}, ${percent(share)}; all ${percent(finished / seconds)}, ${minutes}`)
    },
  }
}

interface Options {
  /** Path before the names of the files that keep finished results; results are not kept if it is null. */
  readonly kept: string | null
  readonly progress: Progress
}

/** Results in the order of the tasks, and the files that keep them. */
interface Finished<Work extends keyof Works> {
  readonly results: readonly Works[Work]['result'][]
  readonly files: readonly string[]
}

/**
 * Runs each task on a thread, at most as many at once as there are cores, the longest first. Results are independent of the number of
 * cores. A finished result is kept in a file, so that an interrupted run resumes; the caller deletes the files. If a task fails, the
 * others are stopped.
 */
export async function runTasks<Work extends keyof Works>(
  tasks: readonly Task<Work>[],
  { kept, progress }: Options,
): Promise<Finished<Work>> {
  const results: Works[Work]['result'][] = []
  const files = kept === null ? [] : tasks.map((task) => `${kept}.${fingerprint(task)}`)
  const order = [...tasks.keys()].sort((a, b) => (tasks[b]?.seconds ?? 0) - (tasks[a]?.seconds ?? 0))
  const threads = new Set<Worker>()
  const work = async (): Promise<void> => {
    for (let i = order.shift(); i !== undefined; i = order.shift()) {
      const [task, file] = [tasks[i] as Task<Work>, files[i]]
      if (file !== undefined && existsSync(file)) {
        // Sound: the name of the file has the fingerprint of the task, and only this function writes it.
        results[i] = deserialize(readFileSync(file)) as Works[Work]['result']
        progress.skip(task)
        continue
      }
      results[i] = await runOne(task, threads, (share) => share < 1 && progress.report(task, share))
      if (file !== undefined) writeWhole(file, serialize(results[i]))
      progress.report(task, 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(tasks.length, availableParallelism()) }, work))
  } catch (error) {
    order.length = 0
    await Promise.all([...threads].map((thread) => thread.terminate()))
    throw error
  }
  return { results, files }
}

/** Writes a file so that a reader finds all of it or nothing. */
export function writeWhole(file: string, bytes: Uint8Array): void {
  writeFileSync(`${file}.draft`, bytes)
  renameSync(`${file}.draft`, file)
}

function runOne<Work extends keyof Works>(
  { name, work, input }: Task<Work>,
  threads: Set<Worker>,
  onShare: (share: number) => unknown,
): Promise<Works[Work]['result']> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(fitWorkerFile(), { workerData: { work, input } })
    threads.add(thread)
    thread.on('message', (message: Message) => {
      // Sound: the worker answers with the result of this work.
      if ('result' in message) resolve(message.result as Works[Work]['result'])
      else onShare(message.done)
    })
    thread.on('error', reject)
    thread.on('exit', (code) => {
      threads.delete(thread)
      reject(new Error(`the thread of ${name} ended with status ${code}`))
    })
  })
}

/** A hash of a task's work and input, and of the code that runs it. */
function fingerprint({ work, input }: Task<keyof Works>): string {
  const hash = createHash('sha256').update(work).update(codeHash())
  addTo(hash, input)
  return hash.digest('hex').slice(0, 16)
}

/** A hash of the built modules and code of a fit. */
function codeHash(): string {
  const folder = dirname(fitWorkerFile())
  const code = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const hash = createHash('sha256')
  for (const file of [wasmFile(), fittingFile(), ...code.sort().map((name) => join(folder, name))])
    hash.update(readFileSync(file))
  return hash.digest('hex')
}

function addTo(hash: Hash, value: unknown): void {
  if (ArrayBuffer.isView(value)) hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  else if (typeof value === 'object' && value !== null)
    for (const [key, of] of Object.entries(value)) {
      hash.update(`${key}:`)
      addTo(hash, of)
    }
  else hash.update(`${String(value)};`)
}
