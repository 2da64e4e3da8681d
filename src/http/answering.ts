import { Refusal, type RefusalKind } from '../domain/refusal.js'
import { createAnswerLog, stackOf } from './answer-log.js'
import { checkHeaders, writeAnswer } from './answer-writer.js'
import { deprecationHeaders } from './deprecation.js'
import { refusalJson, replyJson } from './envelope.js'
import { createInFlight } from './in-flight.js'
import { retryAfterS, type WireRefusal, wireRefusals } from './refusals.js'
import { endsConnection, labelsOf, organizationOf, type RequestContext } from './request-context.js'
import type { Reply } from './route.js'
import type { ServerNeeds } from './server-types.js'

/** The refusals of an address that a person may open. */
const PAGES: Readonly<Partial<Record<RefusalKind, 400 | 401 | 404>>> = {
  'request-malformed': 400,
  'key-missing': 401,
  'path-unknown': 404,
}
const jsonType = 'application/json; charset=utf-8'

/** Answers requests. Each request that begins ends here exactly once, answered or not. */
export interface Answering<S> {
  /** A request begins; `finish` ends it. */
  begun(context: RequestContext<S>): void
  /** Number of the current event-loop iteration. */
  round(): number
  answer(context: RequestContext<S>, reply: Reply): void
  send(
    context: RequestContext<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): void
  sendRefusal(context: RequestContext<S>, refusal: WireRefusal, message: string, headers: Record<string, string>): void
  /** Answers with anything that was thrown. Does not throw. */
  refuse(context: RequestContext<S>, error: unknown): void
  /** Ends the request; idempotent. Status 0: the client left before its answer. */
  finish(context: RequestContext<S>, status: number): void
  inFlight(): number
  /** From now on every answer closes its connection. */
  closeAll(): void
  /** Resolves once no request is in flight, after `deadlineMs` at the latest. */
  idle(deadlineMs: number): Promise<void>
}

export function createAnswering<S>(
  needs: Pick<
    ServerNeeds<S>,
    'log' | 'onAnswer' | 'admission' | 'now' | 'browserPage' | 'bodyDeadlineMs' | 'answerDeadlineMs'
  >,
): Answering<S> {
  const { admission, browserPage } = needs
  const wallClock = needs.now ?? Date.now
  const rounds = createRounds()
  // The late handler goes on and may take effect: its outcome is unknown to the caller.
  const { begun, ended, count, idle } = createInFlight<S>(needs, (context) =>
    refuse(context, new Refusal('degraded', 'this took too long: try again')),
  )
  const logAnswer = createAnswerLog(needs)
  let closing = false

  function answer(context: RequestContext<S>, reply: Reply): void {
    if (reply.file === undefined) send(context, reply.status, jsonType, replyJson(reply, wallClock()), reply.headers)
    else send(context, reply.status, reply.file.contentType, reply.file.bytes, reply.headers)
  }

  function refuse(context: RequestContext<S>, error: unknown): void {
    try {
      sendError(context, error)
    } catch (second) {
      needs.log.error({ requestId: context.requestId, stack: stackOf(second) }, 'a refusal could not be written')
      finish(context, 500)
    }
  }

  function sendError(context: RequestContext<S>, error: unknown): void {
    const kind: RefusalKind = error instanceof Refusal ? error.kind : 'internal'
    context.refusedAs = kind === 'degraded' ? { kind, why: messageOf(error) } : { kind }
    context.shed = kind === 'overloaded' || kind === 'over-rate'
    const pageStatus = PAGES[kind]
    if (pageStatus !== undefined && browserPage && isBrowser(context)) {
      const page = browserPage(pageStatus)
      send(context, pageStatus, page.contentType, page.body, page.headers)
      return
    }
    if (kind === 'internal')
      needs.log.error({ ...labelsOf(context), requestId: context.requestId, stack: stackOf(error) }, 'a handler failed')
    const message =
      kind === 'internal' ? `internal error: give the request id ${context.requestId} to support` : messageOf(error)
    sendRefusal(context, wireRefusals[kind], message, refusalHeaders(context, kind, error))
  }

  function sendRefusal(
    context: RequestContext<S>,
    refusal: WireRefusal,
    message: string,
    headers: Record<string, string>,
  ): void {
    send(context, refusal.status, jsonType, refusalJson(refusal, message, wallClock()), headers)
  }

  /**
   * Answers after the parser has returned. An answer while the parser runs makes the parser deliver the connection's next
   * request, even a smuggled one.
   * While a request is unanswered, the parser closes the connection at a pipelined request instead.
   */
  function send(
    context: RequestContext<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    if (context.answered) return
    const { deprecatedCall } = context
    const all = deprecatedCall === null ? headers : { ...deprecationHeaders(deprecatedCall), ...headers }
    checkHeaders(all)
    context.answered = true
    if (context.aborted) {
      finish(context, status)
      return
    }
    const close = context.close || closing || endsConnection(context)
    context.intake?.end('aborted')
    if (close || context.round === rounds.latest())
      setImmediate(() => write(context, status, contentType, body, all, close))
    else write(context, status, contentType, body, all, false)
  }

  function write(
    context: RequestContext<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>>,
    close: boolean,
  ): void {
    if (context.aborted) return
    writeAnswer(context, status, contentType, body, headers, close)
    finish(context, status)
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
  return { begun, round: rounds.current, answer, send, sendRefusal, refuse, finish, inFlight: count, closeAll, idle }
}

/** Numbers the event-loop iterations that parse a request: in a later iteration the parser has returned. */
function createRounds() {
  let round = 0
  let roundEnds = false
  return {
    /** Number of this iteration; counts it if no earlier call has. */
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

function refusalHeaders<S>(context: RequestContext<S>, kind: RefusalKind, error: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  if (context.allow !== null && kind === 'method-not-allowed') headers.allow = context.allow
  const wait = (error instanceof Refusal ? error.retryAfterS : undefined) ?? retryAfterS[kind]
  if (wait !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(wait)))
  return headers
}

const isBrowser = <S>({ headers }: RequestContext<S>): boolean => headers.get('accept')?.includes('text/html') === true

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
