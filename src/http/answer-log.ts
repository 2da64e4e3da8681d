import { labelsOf, type RequestContext } from './request-context.js'
import type { Answered, ServerNeeds } from './server-types.js'

const PROBE_LOG_MS = 60_000

/**
 * Counts and logs each answered request. Refusals are logged as `info`, other answers as `debug`. Shed requests, which the
 * metrics count, and further failures of a probe within `PROBE_LOG_MS` are `debug` too.
 */
export function createAnswerLog<S>({ log, onAnswer }: Pick<ServerNeeds<S>, 'log' | 'onAnswer'>) {
  const probeLoggedAt = new Map<string, number>()

  function isNews({ match }: RequestContext<S>, now: number): boolean {
    if (match?.kind !== 'plain' || match.endpoint.probe === undefined) return true
    const { path } = match.endpoint
    if (now - (probeLoggedAt.get(path) ?? Number.NEGATIVE_INFINITY) < PROBE_LOG_MS) return false
    probeLoggedAt.set(path, now)
    return true
  }

  return (context: RequestContext<S>, status: number, now: number): void => {
    // Fields are listed one by one, because each field after a spread would cost a property look-up.
    const { api, route, countedAs } = labelsOf(context)
    const answered: Answered = {
      api,
      route,
      countedAs,
      requestId: context.requestId,
      method: context.method,
      status,
      durationMs: now - context.startedAt,
      organizationId: context.organizationId,
      aborted: context.aborted,
    }
    try {
      onAnswer(answered)
      if (status >= 400 && !context.shed && isNews(context, now))
        log.info({ ...answered, ...context.refusedAs }, 'refused')
      else log.debug(answered, 'answered')
    } catch (error) {
      log.error({ requestId: context.requestId, stack: stackOf(error) }, 'an answer could not be counted')
    }
  }
}

/** The stack of a thrown value, for the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
