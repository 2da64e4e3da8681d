import { type KernelHost, type KernelInstance, sampleBytesAt, writeSample } from './kernel-instance.js'

/** u32 number of references and u32 length of PREPARED in bytes; PREPARED and the samples follow. */
const TEMPLATE_HEADER = 8

/** `Kernel.keep`. */
export function keepTemplate({ current, guarded }: KernelHost, references: number): Uint8Array {
  const prepared = guarded((surface) => surface.keepTemplate(references))
  const instance = current()
  const { bytes, samples, slotBytes, address } = instance
  const sizes = Array.from({ length: references }, (_, i) => sampleBytesAt(instance, i + 1))
  const template = new Uint8Array(TEMPLATE_HEADER + prepared + sizes.reduce((sum, size) => sum + size, 0))
  new DataView(template.buffer).setUint32(0, references, true)
  new DataView(template.buffer).setUint32(4, prepared, true)
  const preparedAt = address('PREPARED')
  template.set(bytes.subarray(preparedAt, preparedAt + prepared), TEMPLATE_HEADER)
  let to = TEMPLATE_HEADER + prepared
  for (const [i, size] of sizes.entries()) {
    const from = samples + (i + 1) * slotBytes
    template.set(bytes.subarray(from, from + size), to)
    to += size
  }
  return template
}

/** Restores a template of `keepTemplate` to PREPARED and the slots from 1. Returns the number of references. */
export function restoreTemplate(instance: KernelInstance, template: Uint8Array): number {
  const { bytes, samples, slotBytes, address } = instance
  const header = new DataView(template.buffer, template.byteOffset, TEMPLATE_HEADER)
  const references = header.getUint32(0, true)
  let from = TEMPLATE_HEADER + header.getUint32(4, true)
  bytes.set(template.subarray(TEMPLATE_HEADER, from), address('PREPARED'))
  for (let slot = 1; slot <= references; slot++) {
    // The size of the sample is in its header, so the header is written first.
    bytes.set(template.subarray(from, from + 4), samples + slot * slotBytes)
    const to = from + sampleBytesAt(instance, slot)
    writeSample(instance, slot, template.subarray(from, to))
    from = to
  }
  return references
}
