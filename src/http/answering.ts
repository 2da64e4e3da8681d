import { Refusal, type RefusalKind } from '../domain/refusal.js'
import { stackOf } from './answer-log.js'
import { refusalJson, replyJson } from './envelope.js'
import { retryAfterS, type WireRefusal, wireRefusals } from './refusals.js'
import { labelsOf, type RequestContext } from './request-context.js'
import type { Reply } from './route.js'
import { createSending, type Sending, type SendingNeeds } from './sending.js'
import type { ServerNeeds } from './server-types.js'

/** Statuses of the refusals that a person who opens an address sees as a page. */
const PAGES: Readonly<Partial<Record<RefusalKind, 400 | 401 | 404>>> = {
  'request-malformed': 400,
  'key-missing': 401,
  'path-unknown': 404,
}
const jsonType = 'application/json; charset=utf-8'

/** Answers requests with replies and refusals in their wire format. */
export interface Answering<S> extends Sending<S> {
  answer(context: RequestContext<S>, reply: Reply): void
  sendRefusal(context: RequestContext<S>, refusal: WireRefusal, message: string, headers: Record<string, string>): void
  /** Answers with the refusal of a thrown value. Does not throw. */
  refuse(context: RequestContext<S>, error: unknown): void
}

export function createAnswering<S>(needs: SendingNeeds<S> & Pick<ServerNeeds<S>, 'now' | 'browserPage'>): Answering<S> {
  const { browserPage } = needs
  const wallClock = needs.now ?? Date.now
  // The late handler continues and may take effect, so the caller does not know its outcome.
  const sending = createSending<S>(needs, (context) =>
    refuse(context, new Refusal('degraded', 'this took too long: try again')),
  )
  const { send, finish } = sending

  function answer(context: RequestContext<S>, reply: Reply): void {
    const { status, headers, file } = reply
    if (file === undefined)
      send(context, { status, contentType: jsonType, body: replyJson(reply, wallClock()), headers })
    else send(context, { status, contentType: file.contentType, body: file.bytes, headers })
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
      send(context, { status: pageStatus, ...browserPage(pageStatus) })
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
    const body = refusalJson(refusal, message, wallClock())
    send(context, { status: refusal.status, contentType: jsonType, body, headers })
  }

  return { ...sending, answer, sendRefusal, refuse }
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
