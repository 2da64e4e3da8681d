import { hashSync, verifySync } from '@node-rs/argon2'
import type { HashTask } from './code-hash-task.js'

/** Piscina's entry: a new hash of the text, or whether the text matches the kept hash. */
export default function compute({ text, cost, kept }: HashTask): string | boolean {
  return kept === null ? hashSync(text, cost) : verifySync(kept, text)
}
