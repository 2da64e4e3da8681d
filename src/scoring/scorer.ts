import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createKernel, type Kernel } from './kernel.js'

/** Identifies a scorer: the same two hashes give the same bits on every machine. */
export interface ScorerIdentity {
  /** Name of the model file without its extension, and SHA-256 of its bytes, hex. */
  readonly model: { readonly name: string; readonly sha256: string }
  /** SHA-256 of the compiled kernel, hex. */
  readonly kernel: { readonly sha256: string }
}

/** A kernel with its identity. */
export interface Scorer {
  readonly kernel: Kernel
  readonly identity: ScorerIdentity
}

/** Opens a separate kernel from these files. Throws if they cannot be read or do not fit each other. */
export function openScorer(wasmFile: string, modelFile: string): Scorer {
  const [wasm, model] = [readFileSync(wasmFile), readFileSync(modelFile)].map((bytes) => new Uint8Array(bytes))
  if (wasm === undefined || model === undefined) throw new Error('a scorer is made of two files')
  return {
    kernel: createKernel(wasm, model),
    identity: {
      model: modelIdentity(modelFile, model),
      kernel: { sha256: sha256(wasm) },
    },
  }
}

/** The identity of a model file, which is read unless its bytes are given. */
export const modelIdentity = (
  modelFile: string,
  bytes: Uint8Array = readFileSync(modelFile),
): ScorerIdentity['model'] => ({ name: basename(modelFile).replace(/\.[^.]*$/, ''), sha256: sha256(bytes) })

/** `Scoring.id` of this kernel and model. */
export const scoringId = (wasm: Uint8Array, model: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(wasm).update(model).digest()).subarray(0, 8)

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
