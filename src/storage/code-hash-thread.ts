import { constants, getPriority, setPriority } from 'node:os'
import { hashSync, verifySync } from '@node-rs/argon2'
import type { HashTask } from './code-hash-task.js'

/** Typing waits for milliseconds, a code for its hash of 23 ms anyway: where both want a core, typing gets nine tenths. */
const NICER = 10

// On Linux this is the thread's own; elsewhere it would be the whole process's.
if (process.platform === 'linux') setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER))

/** Piscina's entry: a new hash of the text, or whether it matches the one that is kept. */
export default function compute({ text, cost, kept }: HashTask): string | boolean {
  return kept === null ? hashSync(text, cost) : verifySync(kept, text)
}
