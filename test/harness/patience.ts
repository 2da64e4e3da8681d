import { setTimeout as delay } from 'node:timers/promises'

/**
 * The time that a test waits for a state, ms, by what the state needs. Each is many times the time on a quiet machine, because
 * another program may take a core. A state that is reached ends the wait at once, so the length costs nothing.
 */
export const PATIENCE_MS = {
  /** Work that the service does after an answer: a job, an event to another process, a line of a log. */
  background: 60_000,
  /** A program starts and answers: a server, a command, a service that builds its schema. */
  start: 180_000,
} as const

const BETWEEN_TWO_LOOKS_MS = 10

/** Waits until `isSo`; throws after the patience for `what`. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  what: keyof typeof PATIENCE_MS = 'background',
): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS[what]; !(await isSo()); ) {
    if (performance.now() > deadline) throw new Error(`state not reached within ${PATIENCE_MS[what]} ms: ${isSo}`)
    await delay(BETWEEN_TWO_LOOKS_MS)
  }
}
