import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The folder of Keystride's own package.json, searched upwards from this module. The result is the same from src/ in a test
 * runner and from build/ in an installation. Throws if no folder has it.
 */
export function packageRoot(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'keystride')
      return folder
    if (dirname(folder) === folder) throw new Error('no package.json of keystride above the scoring module')
  }
}

/** The scoring kernel, compiled from assembly/. */
export const wasmFile = (): string => join(packageRoot(), 'build', 'scoring.wasm')

/** The built WASM module of a fit. */
export const fittingFile = (): string => join(packageRoot(), 'build', 'fitting.wasm')

/** The compiled worker of a fit. */
export const fitWorkerFile = (): string => join(packageRoot(), 'build', 'src', 'calibration', 'fit-worker.js')

/** The compiled worker of the scoring pool. */
export const workerFile = (): string => join(packageRoot(), 'build', 'src', 'scoring', 'worker.js')
/** The compiled thread that hashes security codes. */
export const codeHashThreadFile = (): string =>
  join(packageRoot(), 'build', 'src', 'storage', 'crypto', 'code-hash-thread.js')
/** The model that ships with this version; its card is in the same folder. */
export const modelFile = (): string => join(packageRoot(), 'model', 'keystride-5.bin')
/** Measured costs of requests, with their machine: the default of `keystride plan`. */
export const costsFile = (): string => join(packageRoot(), 'model', 'capacity-costs.json')
