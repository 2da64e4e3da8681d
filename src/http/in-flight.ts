import { createUnorderedList } from '../base/unordered-list.js'
import type { RequestContext } from './request-context.js'
import type { ServerNeeds } from './server-types.js'

/** The requests that have begun and not ended. */
interface InFlight<S> {
  begun(context: RequestContext<S>): void
  ended(context: RequestContext<S>): void
  count(): number
  /** Resolves once no request is in flight, after `deadlineMs` at the latest. */
  idle(deadlineMs: number): Promise<void>
}

const bodyMsDefault = 10_000
/**
 * Last bound of a handler. Each of its steps is bounded, eight steps of 1.2 s at the worst (times STORE_PATIENCE, as this), so a handler that takes this
 * long has a bug. A smaller value would refuse work that is nearly done on an overloaded machine.
 */
export const ANSWER_MS = 15_000
/** Deadlines are checked this often within the shorter one, so a request may be late by a twentieth of it. */
const CHECKS = 20

/**
 * Holds both deadlines of all requests by one timer, which stops while no request is in flight. A timer for each body and
 * each handler took 1.2 us and 2 kB a verify. `onLate` answers a request whose handler takes too long.
 */
export function createInFlight<S>(
  {
    bodyDeadlineMs: bodyMs = bodyMsDefault,
    answerDeadlineMs: answerMs = ANSWER_MS,
  }: Pick<ServerNeeds<S>, 'bodyDeadlineMs' | 'answerDeadlineMs'>,
  onLate: (context: RequestContext<S>) => void,
): InFlight<S> {
  const contexts = createUnorderedList<RequestContext<S>>()
  let checking: NodeJS.Timeout | undefined
  let whenIdle: (() => void) | null = null

  function check(): void {
    if (contexts.items.length === 0) {
      clearInterval(checking)
      checking = undefined
    }
    const now = performance.now()
    for (const context of [...contexts.items]) {
      if (now - context.startedAt >= bodyMs) context.intake?.end('late')
      if (now - context.handledSince >= answerMs) onLate(context)
    }
  }

  return {
    begun(context) {
      contexts.add(context)
      checking ??= setInterval(check, Math.min(bodyMs, answerMs) / CHECKS)
    },
    ended(context) {
      contexts.delete(context)
      if (contexts.items.length === 0) whenIdle?.()
    },
    count: () => contexts.items.length,
    idle: (deadlineMs) =>
      new Promise((resolve) => {
        if (contexts.items.length === 0) {
          resolve()
          return
        }
        const deadline = setTimeout(resolve, deadlineMs)
        whenIdle = () => {
          clearTimeout(deadline)
          resolve()
        }
      }),
  }
}
