import { readFileSync } from 'node:fs'
import { it } from 'vitest'
import { seededRandom } from '../../src/calibration/random.js'
import { modelFile, wasmFile } from '../../src/scoring/artifacts.js'
import { createKernel } from '../../src/scoring/kernel.js'
import { type PatternRead, readByContract } from '../../src/scoring/read-pattern.js'
import { KINDS } from './body-kinds.js'

export const kernel = createKernel(readFileSync(wasmFile()), readFileSync(modelFile()))

const bits = ({ buffer, byteOffset, byteLength }: Float64Array | Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Describes the first difference of the two readings; null if they agree. */
export function difference(scanned: PatternRead, read: ReturnType<typeof readByContract>): string | null {
  if (!read.ok) return `accepted, though ${read.message}`
  const { sample, times, warnings, ...rest } = scanned
  const { sample: wantedSample, times: wantedTimes, warnings: wantedWarnings, ...wanted } = read
  if (!bits(sample).equals(bits(wantedSample))) return 'another sample'
  if (!bits(times).equals(bits(wantedTimes))) return 'other times'
  // The order of the warnings can differ: a duplicate key has one position after JSON.parse, and two in the text.
  if (`${warnings?.toSorted()}` !== `${wantedWarnings?.toSorted()}`) return `${warnings} for ${wantedWarnings}`
  return JSON.stringify(rest) === JSON.stringify(wanted)
    ? null
    : `${JSON.stringify(rest)} for ${JSON.stringify(wanted)}`
}

/** Kinds that get a tenth of the bodies: their bodies are twenty times as long and similar to each other. */
const LONG = ['too many', 'many presses']

/** Compares the scanner with the contract's reader on bodies of all kinds. */
export function agreesOn(bodies: number, seed: number): void {
  const kinds = Object.entries(KINDS)
  it.each(kinds)('agrees with the contract’s reader or declines: %s', (name, make) => {
    const random = seededRandom(seed * 1000 + kinds.findIndex(([other]) => other === name))
    const share = Math.ceil(bodies / (LONG.includes(name) ? 10 : 1) / (kinds.length - 1.8))
    for (let i = 0; i < share; i++) {
      const body = make(random)
      const scanned = kernel.scan(body)
      const differs = scanned === null ? null : difference(scanned, readByContract(body))
      if (differs !== null) throw new Error(`${differs}: ${new TextDecoder().decode(body)}`)
    }
  })
}
