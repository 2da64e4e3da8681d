import { reasonOf } from '../base/error-reason.js'
import { Refusal } from '../domain/refusal.js'
import type { Logger } from './log.js'

export interface OutageLog {
  /** Counts failures that the outage explains, and writes all other lines to the log that this one was made of. */
  readonly log: Logger
  /** Logs a change of the health: `why` is null once it is healthy again, `reason` has the last errors of the lost stores. */
  turn(why: string | null, reason: string): void
}

/**
 * The health shows a lost store at most 4 s after its loss: after 3 s without a ping and two failed pings. Until then the first
 * failures wait, so that the line of the outage counts them. This limit and `LATE_MS` are multiplied by STORE_PATIENCE.
 */
const UNDECIDED_MS = 5000
/** A call that began in an outage fails at most this long after the end of the outage. Its line is `debug`. */
const LATE_MS = 5000
const REMIND_EVERY_MS = 60_000

/**
 * Logs an outage of the stores by one line when it begins, at most one a minute while work fails, and one when it ends. An
 * error in the field `err` belongs to the outage if it is the refusal `degraded`. While all stores answer, such a line is
 * written 5 s times `patience` late and without its stack. `patience` is STORE_PATIENCE, `back` the line of the end.
 */
export function createOutageLog(log: Logger, patience: number, back = 'all stores answer again'): OutageLog {
  const held = new Set<NodeJS.Timeout>()
  let away: { readonly since: number; why: string; failures: number; readonly reminding: NodeJS.Timeout } | null = null

  let endedAt = Number.NEGATIVE_INFINITY

  const counted =
    (level: 'warn' | 'error'): Logger['warn'] =>
    (...[first, message]: [string] | [object, string]) => {
      if (typeof first === 'string') return log[level](first)
      const { err, ...facts } = first as { err?: unknown }
      if (!(err instanceof Refusal && err.kind === 'degraded')) return log[level](first, message as string)
      if (away !== null) {
        away.failures += 1
        return
      }
      if (performance.now() - endedAt < LATE_MS * patience) return log.debug(first, message as string)
      const timer = setTimeout(() => {
        held.delete(timer)
        log[level]({ ...facts, why: reasonOf(err) }, message as string)
      }, UNDECIDED_MS * patience).unref()
      held.add(timer)
    }

  function remind(): void {
    if (away === null || away.failures === 0) return
    log.warn({ why: away.why, failures: away.failures, awayMs: msSince(away.since) }, 'still degraded')
    away.failures = 0
  }

  function begin(why: string, reason: string): void {
    away ??= { since: performance.now(), why, failures: 0, reminding: setInterval(remind, REMIND_EVERY_MS).unref() }
    away.why = why
    away.failures += held.size
    for (const timer of held) clearTimeout(timer)
    held.clear()
    log.error(reason === '' ? { why } : { why, reason }, 'degraded')
  }

  return {
    log: { ...log, warn: counted('warn'), error: counted('error') },
    turn(why, reason) {
      if (why !== null) return begin(why, reason)
      if (away === null) return
      clearInterval(away.reminding)
      log.warn({ awayMs: msSince(away.since), failures: away.failures }, back)
      away = null
      endedAt = performance.now()
    },
  }
}

const msSince = (at: number): number => Math.round(performance.now() - at)
