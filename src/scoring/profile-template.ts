import type { Kernel } from './kernel.js'
import { readableSample, sampleBytesAt } from './sample.js'
import type { ProfileTemplate } from './scoring.js'

/** Header of a template: u32 number of references, u32 bytes up to the samples (`assembly/profile-template.ts`). */
const HEADER_BYTES = 8
/** Bytes of a fit: the references' baseline, 30 x 3 x 4 float32, and their means on 3 x 148 axes and in 64 directions, int16. */
export const FIT_BYTES = 4 * 30 * 3 * 4 + 2 * (3 * 148 + 64)

/** The part of a template that takes the kernel longest to compute. Only the same kernel and model can use it. A view. */
export const fitOf = ({ bytes }: ProfileTemplate): Uint8Array => bytes.subarray(HEADER_BYTES, HEADER_BYTES + FIT_BYTES)

/** The fit of references without a pattern to compare; null unless the kernel can read and hold all of them. */
export function fitOfReferences(
  kernel: Pick<Kernel, 'referencesMax' | 'score' | 'templateOf'>,
  references: readonly Uint8Array[],
): Uint8Array | null {
  const [probe] = references
  const n = references.length
  if (probe === undefined || n > kernel.referencesMax || !references.every(readableSample)) return null
  kernel.score(probe, references)
  return fitOf({ bytes: kernel.templateOf(n), n })
}

/** The samples of the references in a template, in their order. Views. */
export function samplesIn({ bytes, n }: ProfileTemplate): Uint8Array[] {
  let at = HEADER_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true)
  return Array.from({ length: n }, () => {
    const from = at
    at += sampleBytesAt(bytes, from)
    return bytes.subarray(from, at)
  })
}

/** A template of a fit and the samples that it was computed from. The kernel computes the rest of it again. */
export function fittedTemplate(fit: Uint8Array, samples: readonly Uint8Array[]): ProfileTemplate {
  const header = Uint32Array.of(samples.length, FIT_BYTES)
  return { bytes: Buffer.concat([new Uint8Array(header.buffer), fit, ...samples]), n: samples.length }
}
