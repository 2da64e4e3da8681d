import { hashSync, verifySync } from '@node-rs/argon2'
import type { HashTask } from './code-hash-task.js'

/** Piscina's entry: a new hash of the text, or whether it matches the one that is kept. */
export default function compute({ text, cost, kept }: HashTask): string | boolean {
  return kept === null ? hashSync(text, cost) : verifySync(kept, text)
}
