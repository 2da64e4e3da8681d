import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { wasmFile } from '../scoring/artifacts.js'
import { fitBinned } from './boosting.js'
import { comparisonExamples } from './comparisons.js'
import { fitConfidence } from './confidence.js'
import { fitEmbedding } from './embedding.js'
import { loadSources } from './fitted-sources.js'
import { fitAmongReferences, fitLone, livenessPeople } from './liveness.js'
import { encodeModel } from './model-file.js'
import { fitSynthesis, synthesisPeople } from './synthesis.js'
import type { Works } from './tasks.js'

const wasm = () => new Uint8Array(readFileSync(wasmFile()))
const onShare = (done: number): void => parentPort?.postMessage({ done })

const works: { readonly [Work in keyof Works]: (input: Works[Work]['input']) => Works[Work]['result'] } = {
  trees: ({ data, options }) =>
    fitBinned(data, { ...options, onTree: (done) => done % 20 === 0 && onShare(done / options.trees) }),
  embedding: ({ sources, options }) =>
    fitEmbedding(sources, { ...options, onStep: (done) => done % 100 === 0 && onShare(done / options.steps) }),
  comparisons: ({ selection, models, sitting, seed }) =>
    comparisonExamples({ wasm: wasm(), models }, loadSources(selection), sitting, seed),
  confidence: ({ rows, share }) => fitConfidence(rows, share),
  liveness: ({ selection, parts, seed }) =>
    fitAmongReferences(wasm(), parts, livenessPeople(loadSources(selection)), { seed, onShare }),
  loneLiveness: ({ selection, parts, seed }) =>
    fitLone(wasm(), parts, livenessPeople(loadSources(selection)), { seed, onShare }),
  synthesis: ({ selection, parts, seed }) =>
    fitSynthesis(wasm(), encodeModel(parts), synthesisPeople(loadSources(selection)), { seed, onShare }),
}

// Sound: only tasks.ts starts this file, and it passes a task.
const { work, input } = workerData as { readonly work: keyof Works; readonly input: never }
parentPort?.postMessage({ result: works[work](input) })
