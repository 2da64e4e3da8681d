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
 * Maximum duration of a handler. It has at most eight steps with a deadline of 1.2 s each, so a handler that takes this long has a
 * bug. STORE_PATIENCE multiplies both limits. A smaller value would refuse work that is nearly done on an overloaded machine.
 */
export const ANSWER_MS = 15_000
/** Checks per shorter deadline: a request may be late by a twentieth of it. */
const CHECKS = 20

/**
 * Enforces both deadlines of all requests with one timer, which stops while no request is in flight. A timer for each body and
 * each handler cost 1.2 us and 2 kB per verify. `onLate` answers a request whose handler takes too long.
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
