import { parentPort, workerData } from 'node:worker_threads'
import { fitBinned } from './boosting.js'
import type { FitTask } from './parallel.js'

// Sound: only parallel.ts starts this file, and it passes a FitTask.
const { data, options } = workerData as FitTask
const onTree = (done: number): void => {
  if (done % 50 === 0) parentPort?.postMessage({ done })
}
parentPort?.postMessage({ boosted: fitBinned(data, { ...options, onTree }) })
