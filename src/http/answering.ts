import { STATUS_CODES } from 'node:http'
import { Refusal, type RefusalKind } from '../domain/refusal.js'
import { deprecationHeaders } from './deprecation.js'
import { refusalJson, replyJson } from './envelope.js'
import { retryAfterS, type WireRefusal, wireRefusals } from './refusals.js'
import { endsConnection, type Turn, whereOf } from './request-context.js'
import type { Reply } from './route.js'
import type { Answered, ServerNeeds } from './server-types.js'

const jsonType = 'application/json; charset=utf-8'

const PROBE_LOG_MS = 60_000

/** The way out of a request: whatever begins ends here, once, answered or not. */
interface Answering<S> {
  /** A turn begins; `finish` ends it. */
  begun(): void
  /** The turn of the event loop that something is parsed in now. */
  round(): number
  answer(turn: Turn<S>, reply: Reply): void
  send(
    turn: Turn<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): void
  sendRefusal(turn: Turn<S>, refusal: WireRefusal, message: string, headers: Record<string, string>): void
  /** Whatever was thrown, as an answer. */
  refuse(turn: Turn<S>, error: unknown): void
  finish(turn: Turn<S>, status: number): void
  inFlight(): number
  /** From now on every answer closes its connection. */
  closeAll(): void
  /** Resolves once nothing is in flight, after `deadlineMs` in any case. */
  idle(deadlineMs: number): Promise<void>
}

export function createAnswering<S>(
  needs: Pick<ServerNeeds<S>, 'log' | 'onAnswer' | 'admission' | 'now' | 'browserPage'>,
): Answering<S> {
  const wallClock = needs.now ?? Date.now
  const probeLoggedAt = new Map<string, number>()
  let inFlight = 0
  let closing = false
  let round = 0
  let roundEnds = false
  let whenIdle: (() => void) | null = null

  /** Numbers the turns of the event loop in which something is parsed: in a later one the parser has returned. */
  function thisRound(): number {
    if (!roundEnds) {
      roundEnds = true
      setImmediate(() => {
        roundEnds = false
        round += 1
      })
    }
    return round
  }

  function answer(turn: Turn<S>, reply: Reply): void {
    if (reply.file === undefined)
      send(turn, reply.status, jsonType, replyJson(reply, new Date(wallClock())), reply.headers)
    else send(turn, reply.status, reply.file.contentType, reply.file.bytes, reply.headers)
  }

  function refuse(turn: Turn<S>, error: unknown): void {
    const kind: RefusalKind = error instanceof Refusal ? error.kind : 'internal'
    turn.shed = kind === 'overloaded' || kind === 'over-rate'
    const headers: Record<string, string> = {}
    if (turn.allow !== null && kind === 'method-not-allowed') headers.allow = turn.allow
    const wait = (error instanceof Refusal ? error.retryAfterS : undefined) ?? retryAfterS[kind]
    if (wait !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(wait)))
    if ((kind === 'key-missing' || kind === 'path-unknown') && needs.browserPage && isBrowser(turn)) {
      const status = kind === 'key-missing' ? 401 : 404
      const page = needs.browserPage(status)
      send(turn, status, page.contentType, page.body, page.headers)
      return
    }
    if (kind !== 'internal') {
      sendRefusal(turn, wireRefusals[kind], messageOf(error), headers)
      return
    }
    needs.log.error({ ...whereOf(turn), requestId: turn.requestId, stack: stackOf(error) }, 'a handler failed')
    sendRefusal(
      turn,
      wireRefusals.internal,
      `internal error: give the request id ${turn.requestId} to support`,
      headers,
    )
  }

  function sendRefusal(turn: Turn<S>, refusal: WireRefusal, message: string, headers: Record<string, string>): void {
    send(turn, refusal.status, jsonType, refusalJson(refusal, message, new Date(wallClock())), headers)
  }

  /**
   * Ends the turn with an answer, once the parser has returned: while it parses, it would hand us the request behind this
   * one, a smuggled one included. It drops what is behind a header without a name, a length for example, and we cannot see
   * that. Left unanswered until it returns, it closes the connection at a pipelined request instead.
   */
  function send(
    turn: Turn<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>> = {},
  ): void {
    if (turn.answered) return
    const all = turn.leaving === null ? headers : { ...deprecationHeaders(turn.leaving), ...headers }
    checkHeaders(all)
    turn.answered = true
    if (turn.aborted) {
      finish(turn, status)
      return
    }
    const close = turn.close || closing || turn.method === 'head' || endsConnection(turn)
    turn.intake?.end('aborted')
    if (close || turn.round === round) setImmediate(() => write(turn, status, contentType, body, all, close))
    else write(turn, status, contentType, body, all, false)
  }

  function write(
    turn: Turn<S>,
    status: number,
    contentType: string,
    body: string | Uint8Array,
    headers: Readonly<Record<string, string>>,
    close: boolean,
  ): void {
    if (turn.aborted) return
    const { res } = turn
    const headBytes = turn.method === 'head' ? Buffer.byteLength(body) : 0
    res.cork(() => {
      res.writeStatus(statusLines[status] ?? `${status} Unknown`)
      res.writeHeader('content-type', contentType)
      res.writeHeader('x-request-id', turn.requestId)
      res.writeHeader('x-content-type-options', 'nosniff')
      if (headers['cache-control'] === undefined) res.writeHeader('cache-control', 'no-store')
      for (const name in headers) res.writeHeader(name, headers[name] ?? '')
      if (headBytes > 0) res.writeHeader('connection', 'close').tryEnd('', headBytes)
      else res.end(body, close)
    })
    finish(turn, status)
    // 20.30 never counts `endWithoutBody` as an answer and leaves the connection unusable, so HEAD announces the length,
    // sends nothing of it and closes.
    if (headBytes > 0) res.close()
  }

  /** Counts and logs a turn, once. Status 0: the client went away before there was an answer. */
  function finish(turn: Turn<S>, status: number): void {
    if (turn.finished) return
    turn.finished = true
    turn.answered = true
    turn.intake?.end('aborted')
    inFlight -= 1
    const now = performance.now()
    if (turn.atWork !== null) needs.admission?.leave(turn.atWork, turn.begunAt === 0 ? null : now - turn.begunAt)
    // By name: each field behind a spread is added by a look-up of its own.
    const { api, route, countedAs } = whereOf(turn)
    const answered: Answered = {
      api,
      route,
      countedAs,
      requestId: turn.requestId,
      method: turn.method,
      status,
      durationMs: now - turn.startedAt,
      organizationId: turn.organizationId,
      aborted: turn.aborted,
    }
    try {
      needs.onAnswer(answered)
      // Refusals are news to an operator, plain answers only to one who asks for them, and a crowd is told by the metrics.
      if (status >= 400 && !turn.shed && isNews(turn, now)) needs.log.info(answered, 'refused')
      else needs.log.debug(answered, 'answered')
    } catch (error) {
      needs.log.error({ requestId: turn.requestId, stack: stackOf(error) }, 'an answer could not be counted')
    }
    if (inFlight === 0) whenIdle?.()
  }

  /** A probe that fails says the same every few seconds. */
  function isNews({ place }: Turn<S>, now: number): boolean {
    if (place?.kind !== 'plain' || place.endpoint.probe === undefined) return true
    const { path } = place.endpoint
    if (now - (probeLoggedAt.get(path) ?? Number.NEGATIVE_INFINITY) < PROBE_LOG_MS) return false
    probeLoggedAt.set(path, now)
    return true
  }

  return {
    begun() {
      inFlight += 1
    },
    round: thisRound,
    answer,
    send,
    sendRefusal,
    refuse,
    finish,
    inFlight: () => inFlight,
    closeAll() {
      closing = true
    },
    idle: (deadlineMs) =>
      new Promise((resolve) => {
        if (inFlight === 0) {
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

const isBrowser = <S>({ headers }: Turn<S>): boolean => headers.get('accept')?.includes('text/html') === true

/** `200 OK` by status. */
const statusLines: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, words]) => [status, `${status} ${words ?? ''}`]),
)

/** A header value with a control character would split the answer; it is our own bug, so it ends as a 500. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code < 0x20 || code === 0x7f) throw new Error(`control character in the answer header ${name}`)
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** For the log. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
