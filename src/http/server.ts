import { ExpectedFault } from '../base/expected-fault.js'
import { stackOf } from './answer-log.js'
import { createAnswering } from './answering.js'
import { handleRequest } from './handle-request.js'
import { copyHeaders } from './intake/request-head.js'
import type { RequestContext } from './request-context.js'
import { routerOf } from './route-match.js'
import type { ServerState } from './server-state.js'
import type { CloseLimits, Server, ServerNeeds } from './server-types.js'
import type { UwsApp, UwsListenSocket, UwsRequest, UwsResponse } from './uws.js'

/** Memory of bodies that arrive in pieces, for all connections together: 256 bodies of the largest size. */
const slowBytesMax = 128 * 1024 * 1024
/**
 * Serves the APIs and plain endpoints on one listener. Rejects if it cannot listen on the address. Only this folder calls
 * uWebSockets.js. Three facts of the library shape the code: a request object is invalid after the first await; a response
 * without onAborted ends the process; and after an answer, even one that closes the connection, it parses the next request of
 * the connection, unless the answer is written after the parser has returned (see `send` in sending.ts).
 */
export async function serve<S>(needs: ServerNeeds<S>): Promise<Server> {
  const { uws, log } = needs
  const server: ServerState<S> = {
    needs,
    router: routerOf(needs),
    answering: createAnswering<S>(needs),
    room: { bytesMax: slowBytesMax, held: 0 },
  }
  const app = uws.App().any('/*', (res, req) => {
    try {
      accept(server, res, req)
    } catch (error) {
      // An exception that reaches C++ ends the process.
      log.error({ stack: stackOf(error) }, 'a request could not be accepted')
      res.close()
    }
  })
  const socket = await listen(app, needs)
  const { answering } = server

  async function drain(limits: CloseLimits): Promise<void> {
    uws.us_listen_socket_close(socket)
    answering.closeAll()
    await new Promise((resolve) => setTimeout(resolve, limits.lingerMs ?? 500))
    await answering.idle(limits.deadlineMs ?? 10_000)
    app.close()
  }

  let closed: Promise<void> | null = null
  return {
    port: uws.us_socket_local_port(socket),
    inFlight: answering.inFlight,
    close(limits = {}) {
      closed ??= drain(limits)
      return closed
    },
  }
}

async function listen<S>(app: UwsApp, { uws, host, port, exclusivePort = true }: ServerNeeds<S>) {
  const options = exclusivePort ? uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0
  const socket = await new Promise<UwsListenSocket | false>((resolve) => {
    app.listen(host, port, options, resolve)
  })
  if (socket === false)
    throw new ExpectedFault(
      `PORT: cannot listen on ${host}:${port}: another process has it, or HOST is not an address of this machine`,
    )
  return socket
}

/** The method in lower case, as routes have it. Methods are case-sensitive, so a method in lower case becomes one that no path has. */
const methodOf = (method: string): string =>
  method === method.toUpperCase() ? method.toLowerCase() : method.toUpperCase()

/** Copies the request, which is valid only during this call, and begins to handle it. */
function accept<S>(server: ServerState<S>, res: UwsResponse, req: UwsRequest): void {
  const { answering } = server
  const copy = copyHeaders()
  req.forEach(copy.take)
  const context: RequestContext<S> = {
    listIndex: -1,
    res,
    requestId: server.needs.newRequestId(),
    startedAt: performance.now(),
    method: methodOf(req.getCaseSensitiveMethod()),
    headers: copy.headers,
    match: null,
    params: {},
    deprecatedCall: null,
    rawQuery: req.getQuery() ?? '',
    framing: { declared: 0, chunked: false },
    intake: null,
    organizationId: null,
    apiKeyId: '',
    atWork: null,
    begunAt: 0,
    handledSince: Number.POSITIVE_INFINITY,
    allow: null,
    shed: false,
    refusedAs: null,
    close: false,
    round: answering.round(),
    aborted: false,
    answered: false,
    finished: false,
  }
  const url = req.getUrl()
  answering.begun(context)
  res.onAborted(() => {
    context.aborted = true
    context.intake?.end('aborted')
    // A pending answer has no reader any more.
    if (context.answered) answering.finish(context, 0)
  })
  const fault = copy.fault()
  const { traced } = server.needs
  if (traced === undefined) void handleRequest(server, context, url, fault)
  else traced(context, () => void handleRequest(server, context, url, fault))
}
