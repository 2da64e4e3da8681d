import { Refusal } from '../domain/refusal.js'
import { admitCaller, holderOf, refuseWhileDegraded } from './caller.js'
import { takeBody } from './intake/body-intake.js'
import { framingOf } from './intake/request-head.js'
import { segmentsOf } from './intake/request-line.js'
import type { RequestContext } from './request-context.js'
import { callPlain, callRoute } from './route-call.js'
import { allowOf, deprecatedCallOf, type RouteMatch } from './route-match.js'
import type { ServerState } from './server-state.js'

/**
 * Handles one request, and answers with every error that is thrown. Synchronous up to the body's onData, which must be
 * attached before uWebSockets.js gets control back.
 */
export async function handleRequest<S>(
  server: ServerState<S>,
  context: RequestContext<S>,
  url: string,
  fault: Refusal | null,
): Promise<void> {
  const { answering } = server
  try {
    const match = findRoute(server, context, url)
    readHead(context, fault)
    if (match instanceof Refusal) {
      if (match.kind !== 'request-malformed') await refuseStranger(server, context, url)
      throw match
    }
    if (match.kind === 'route' && match.route.needsKey && match.route.whileDegraded !== true)
      refuseWhileDegraded(server.needs)
    attachBody(server, context, match)
    if (match.kind === 'plain') await callPlain(server, context, match.endpoint)
    else await callRoute(server, context, match.api, match.route)
  } catch (error) {
    answering.refuse(context, error)
  }
}

function readHead<S>(context: RequestContext<S>, fault: Refusal | null): void {
  // The connection closes after a malformed head, because it is uncertain where the next request begins.
  context.close = true
  if (fault !== null) throw fault
  context.framing = framingOf(context.headers)
  context.close = false
}

/** The match of a path and method. Returns a refusal instead of throwing it, because a malformed head is reported first. */
function findRoute<S>({ router }: ServerState<S>, context: RequestContext<S>, url: string): RouteMatch<S> | Refusal {
  const segments = segmentsOrRefusal(url)
  if (segments instanceof Refusal) return segments
  const found = router.find(segments)
  if (found === null) return new Refusal('path-unknown', 'no such path')
  const method = context.method === 'head' && !found.byMethod.has('head') ? 'get' : context.method
  const target = found.byMethod.get(method)
  const { paramNames = [] } = target ?? found.byMethod.values().next().value ?? {}
  for (let i = 0; i < paramNames.length; i++) context.params[paramNames[i] ?? ''] = found.values[i] ?? ''
  context.deprecatedCall = deprecatedCallOf(found, target, context.params)
  if (target === undefined) {
    context.allow = allowOf(found.byMethod)
    return new Refusal('method-not-allowed', `this path accepts ${context.allow}`)
  }
  context.match = target.row
  return target.row
}

function segmentsOrRefusal(url: string): string[] | Refusal {
  try {
    return segmentsOf(url)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Throws `key-missing` for an unknown path below an API's base path, so that a caller without a key cannot probe for paths. */
async function refuseStranger<S>({ needs }: ServerState<S>, context: RequestContext<S>, url: string): Promise<void> {
  const api = needs.apis.find(({ basePath }) => url === basePath || url.startsWith(`${basePath}/`))
  if (api === undefined) return
  refuseWhileDegraded(needs)
  admitCaller(context, api, null, await holderOf(needs, context))
}

function attachBody<S>(server: ServerState<S>, context: RequestContext<S>, { maxBytes }: RouteMatch<S>): void {
  const { declared, chunked } = context.framing
  if (declared > maxBytes || (declared === 0 && !chunked)) return
  const { answering } = server
  const intake = takeBody(maxBytes, server.room)
  context.intake = intake
  context.res.onData((chunk, isLast) => {
    context.round = answering.round()
    intake.add(chunk, isLast)
  })
}
