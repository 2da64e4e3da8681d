import { createAnswerLog } from './answer-log.js'
import { checkHeaders, writeAnswer } from './answer-writer.js'
import { deprecationHeaders } from './deprecation.js'
import { createInFlight } from './in-flight.js'
import { endsConnection, organizationOf, type RequestContext } from './request-context.js'
import type { PlainAnswer, ServerNeeds } from './server-types.js'

/** Sends answers. Each request that begins ends here exactly once, answered or not. */
export interface Sending<S> {
  /** Notes that a request begins; `finish` ends it. */
  begun(context: RequestContext<S>): void
  /** Number of the current event-loop iteration. */
  round(): number
  /** Sends the first answer of a request; further ones have no effect. */
  send(context: RequestContext<S>, answer: PlainAnswer): void
  /** Ends the request; idempotent. The status is 0 if the client left before its answer. */
  finish(context: RequestContext<S>, status: number): void
  inFlight(): number
  /** From now on every answer closes its connection. */
  closeAll(): void
  /** Resolves once no request is in flight, after `deadlineMs` at the latest. */
  idle(deadlineMs: number): Promise<void>
}

export type SendingNeeds<S> = Pick<
  ServerNeeds<S>,
  'log' | 'onAnswer' | 'admission' | 'bodyDeadlineMs' | 'answerDeadlineMs'
>

/** `onLate` answers a request whose handler takes too long. */
export function createSending<S>(needs: SendingNeeds<S>, onLate: (context: RequestContext<S>) => void): Sending<S> {
  const { admission } = needs
  const rounds = createRounds()
  const { begun, ended, count, idle } = createInFlight<S>(needs, onLate)
  const logAnswer = createAnswerLog<S>(needs)
  let closing = false

  /**
   * Answers after the parser has returned. An answer while the parser runs would make it deliver the connection's next request,
   * even a smuggled one. While a request is unanswered, the parser closes the connection at a pipelined request instead.
   */
  function send(context: RequestContext<S>, answer: PlainAnswer): void {
    if (context.answered) return
    const { deprecatedCall } = context
    const headers =
      deprecatedCall === null ? answer.headers : { ...deprecationHeaders(deprecatedCall), ...answer.headers }
    if (headers !== undefined) checkHeaders(headers)
    context.answered = true
    const close = context.close || closing || endsConnection(context)
    function write(): void {
      if (!context.aborted) writeAnswer(context, answer, headers, close)
      finish(context, answer.status)
    }
    if (!context.aborted) context.intake?.end('aborted')
    if (!context.aborted && (close || context.round === rounds.latest())) setImmediate(write)
    else write()
  }

  function finish(context: RequestContext<S>, status: number): void {
    if (context.finished) return
    context.finished = true
    context.answered = true
    context.intake?.end('aborted')
    const now = performance.now()
    if (context.atWork !== null)
      admission?.leave(
        context.atWork,
        organizationOf(context),
        context.begunAt === 0 ? null : now - context.begunAt,
        now,
      )
    logAnswer(context, status, now)
    ended(context)
  }

  const closeAll = (): void => {
    closing = true
  }
  return { begun, round: rounds.current, send, finish, inFlight: count, closeAll, idle }
}

/** Numbers the event-loop iterations that parse a request: in a later iteration the parser has returned. */
function createRounds() {
  let round = 0
  let roundEnds = false
  return {
    /** Number of this iteration, which the first call counts. */
    current(): number {
      if (!roundEnds) {
        roundEnds = true
        setImmediate(() => {
          roundEnds = false
          round += 1
        })
      }
      return round
    },
    /** Number of the latest iteration, without counting this one. */
    latest: () => round,
  }
}
