import type { z } from 'zod'
import { ExpectedFault } from '../domain/expected-fault.js'
import { opens } from '../domain/organization.js'
import { Refusal } from '../domain/refusal.js'
import { createAnswering, stackOf } from './answering.js'
import { type BodyRoom, takeBody } from './intake/body-intake.js'
import { parseJsonAroundBytes } from './intake/json-around-bytes.js'
import { type CheckedBody, checked, checkedBody, parseJson } from './intake/json-body.js'
import { checkMediaType, copyHeaders, framingOf } from './intake/request-head.js'
import { queryOf, segmentsOf } from './intake/request-line.js'
import type { UwsListenSocket, UwsRequest, UwsResponse } from './provider.js'
import { bodyLate } from './refusals.js'
import {
  allowOf,
  bodyBytesMax,
  bodyTooLarge,
  hasBody,
  leavingOf,
  type Place,
  routerOf,
  type Turn,
} from './request-context.js'
import type { BodyRule, Lane, Reply, Route } from './route.js'
import type { Api, CloseLimits, PlainEndpoint, Server, ServerNeeds } from './server-types.js'

const bodyDeadlineMs = 10_000
/** Of bodies that come in pieces, of all connections together: 256 of the largest. */
const slowBytesMax = 128 * 1024 * 1024
/**
 * A net under the handlers: every step of theirs is bounded, eight steps of 1.2 s at the worst, so what takes this long is
 * a bug. Less would turn work that is nearly done into refusals where the machine is overloaded.
 */
const answerDeadlineMs = 15_000
const noBytes = new Uint8Array(0)

/**
 * Serves the APIs and plain endpoints on one listener; this and answering.ts alone touch uWebSockets. Rejects where the
 * address cannot be listened on. Facts of the library that shape it: a request is gone after the first await; a response
 * without onAborted ends the process; and after an answer it goes on to parse what the client sent behind, even where the
 * answer closes, unless it is written after the parser has returned (see `send` there).
 */
export async function serve<S>(needs: ServerNeeds<S>): Promise<Server> {
  const router = routerOf(needs)
  const deadlineMs = needs.bodyDeadlineMs ?? bodyDeadlineMs
  const replyMs = needs.answerDeadlineMs ?? answerDeadlineMs
  const room: BodyRoom = { bytesMax: slowBytesMax, held: 0 }
  const answering = createAnswering<S>(needs)
  const { answer, send, sendRefusal, refuse, finish } = answering

  function accept(res: UwsResponse, req: UwsRequest): void {
    const copy = copyHeaders()
    req.forEach(copy.take)
    const turn: Turn<S> = {
      res,
      requestId: needs.newRequestId(),
      startedAt: performance.now(),
      method: req.getMethod(),
      headers: copy.headers,
      place: null,
      params: {},
      leaving: null,
      rawQuery: req.getQuery() ?? '',
      framing: { declared: 0, chunked: false },
      intake: null,
      organizationId: null,
      apiKeyId: '',
      atWork: null,
      begunAt: 0,
      allow: null,
      shed: false,
      close: false,
      round: answering.round(),
      aborted: false,
      answered: false,
      finished: false,
    }
    const url = req.getUrl()
    answering.begun()
    res.onAborted(() => {
      turn.aborted = true
      turn.intake?.end('aborted')
      // Answered but not written yet: nobody is left to write it.
      if (turn.answered) finish(turn, 0)
    })
    void conduct(turn, url, copy.fault())
  }

  /** The one try and catch of a request. Synchronous up to the body's onData, which must be attached before it returns. */
  async function conduct(turn: Turn<S>, url: string, fault: Refusal | null): Promise<void> {
    try {
      const place = findPlace(turn, url)
      readHead(turn, fault)
      if (place instanceof Refusal) {
        if (place.kind !== 'request-malformed') await knownCaller(turn, url)
        throw place
      }
      if (place.kind === 'row') refuseAtOnce(turn, place.row)
      attachBody(turn, place)
      if (place.kind === 'plain') await conductPlain(turn, place.endpoint)
      else await conductRow(turn, place.api, place.row)
    } catch (error) {
      try {
        refuse(turn, error)
      } catch (second) {
        needs.log.error({ requestId: turn.requestId, stack: stackOf(second) }, 'a refusal could not be written')
        finish(turn, 500)
      }
    }
  }

  function readHead(turn: Turn<S>, fault: Refusal | null): void {
    // Whatever is wrong here leaves open where the next request begins.
    turn.close = true
    if (fault !== null) throw fault
    turn.framing = framingOf(turn.headers)
    turn.close = false
  }

  /** Gives its refusal rather than throws it: what is wrong with the head is said first. */
  function findPlace(turn: Turn<S>, url: string): Place<S> | Refusal {
    const segments = segmentsOrRefusal(url)
    if (segments instanceof Refusal) return segments
    const found = router.find(segments)
    if (found === null) return new Refusal('path-unknown', 'no such path')
    const asked = turn.method === 'head' && !found.byMethod.has('head') ? 'get' : turn.method
    const target = found.byMethod.get(asked)
    const { paramNames = [] } = target ?? found.byMethod.values().next().value ?? {}
    for (let i = 0; i < paramNames.length; i++) turn.params[paramNames[i] ?? ''] = found.values[i] ?? ''
    turn.leaving = leavingOf(found, target, turn.params)
    if (target === undefined) {
      turn.allow = allowOf(found.byMethod)
      return new Refusal('method-not-allowed', `this path takes ${turn.allow}`)
    }
    turn.place = target.row
    return target.row
  }

  /** Below an API's base path nobody without a key learns which paths there are: unknown ones answer 401 like the others. */
  async function knownCaller(turn: Turn<S>, url: string): Promise<void> {
    const api = needs.apis.find(({ basePath }) => url === basePath || url.startsWith(`${basePath}/`))
    if (api === undefined) return
    refuseWhileDegraded()
    await organizationOf(turn, api, null)
  }

  function refuseWhileDegraded(): void {
    if (needs.degraded() !== null) throw new Refusal('degraded', 'the service is degraded: try again shortly')
  }

  /** Before anything of the body is read, and before the key is looked up. */
  function refuseAtOnce(turn: Turn<S>, row: Route<S>): void {
    if (row.needsKey) refuseWhileDegraded()
    if (row.lane !== null) needs.admission?.refuseFull(row.lane, turn.startedAt)
  }

  function attachBody(turn: Turn<S>, place: Place<S>): void {
    const { declared, chunked } = turn.framing
    if (declared > place.maxBytes || (declared === 0 && !chunked)) return
    const intake = takeBody(place.maxBytes, deadlineMs, room)
    turn.intake = intake
    turn.res.onData((chunk, isLast) => {
      turn.round = answering.round()
      intake.add(chunk, isLast)
    })
  }

  async function conductRow(turn: Turn<S>, api: Api<S>, row: Route<S>): Promise<void> {
    if (row.needsKey) await organizationOf(turn, api, row)
    if (hasBody(turn.framing)) checkMediaType(turn.headers)
    const bytes = await bodyOf(turn)
    if (bytes === null) return
    const lane = row.laneOfBody === undefined ? row.lane : row.laneOfBody(bytes)
    if (lane !== null && !(await begin(turn, lane))) return
    const { value: body, warnings } = bodyFor(row.body, bytes)
    if (turn.leaving !== null) turn.leaving.body = body ?? null
    const params = checked(row.params, turn.params, 'path')
    const query = checked(row.query, queryOf(turn.rawQuery), 'query')
    const headers =
      row.headers === undefined ? {} : checked(row.headers, headersFor(row.headers, turn.headers), 'header')
    const session = (row.needsSession || row.takesSession ? turn.headers.get('x-service-session') : null) ?? null
    if (row.needsSession && (session === null || session === '')) {
      throw new Refusal('session-missing', 'X-Service-Session is missing: bootstrap with GET /users/{userRef}')
    }
    const handling = row.handle({
      requestId: turn.requestId,
      organizationId: turn.organizationId ?? '',
      apiKeyId: turn.apiKeyId,
      session: session === '' ? null : session,
      header: (name) => turn.headers.get(name),
      // Sound: routesFor ties the handler's types to the outputs of these same schemas.
      params: params as never,
      query: query as never,
      headers: headers as never,
      body: body as never,
      services: needs.services,
    })
    answer(turn, withWarnings(await inTime(handling), warnings))
  }

  /** Waits for its turn; false where the client has gone meanwhile. */
  async function begin(turn: Turn<S>, lane: Lane): Promise<boolean> {
    if (needs.admission === undefined) return true
    if (!needs.admission.enter(lane)) await needs.admission.wait(lane, performance.now())
    turn.atWork = lane
    if (turn.aborted) {
      finish(turn, 0)
      return false
    }
    turn.begunAt = performance.now()
    return true
  }

  /** The handler may go on unseen, and what it does may be done: the outcome is unknown to the caller. */
  async function inTime(handling: Promise<Reply>): Promise<Reply> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Refusal('degraded', 'this took too long: try again')), replyMs)
    })
    try {
      return await Promise.race([handling, late])
    } finally {
      clearTimeout(timer)
    }
  }

  async function organizationOf(turn: Turn<S>, api: Api<S>, row: Route<S> | null): Promise<void> {
    const key = turn.headers.get('apikey')
    const holder = key === undefined || key === '' ? null : await needs.authenticate(key)
    if (holder === null) throw new Refusal('key-missing', 'the apikey header is missing or holds an unknown key')
    turn.organizationId = holder.organizationId
    turn.apiKeyId = holder.keyId
    const reads = row === null || row.method === 'get' || row.onlyReads === true
    if (opens(holder.scopes, api.scope, reads)) return
    const part = opens(holder.scopes, api.scope, !reads) ? `${reads ? 'reads' : 'writes'} of the ` : 'the '
    if (row !== null || part === 'the ') throw new Refusal('key-scope', `this key is not for ${part}${api.scope} API`)
  }

  async function conductPlain(turn: Turn<S>, endpoint: PlainEndpoint): Promise<void> {
    const request = {
      requestId: turn.requestId,
      params: turn.params,
      query: queryOf(turn.rawQuery),
      header: (name: string) => turn.headers.get(name),
      body: noBytes,
    }
    const { lane, whenOverloaded } = endpoint
    try {
      if (lane !== undefined) needs.admission?.refuseFull(lane, turn.startedAt)
      const bytes = await bodyOf(turn)
      if (bytes === null || (lane !== undefined && !(await begin(turn, lane)))) return
      const given = await endpoint.handle({ ...request, body: bytes })
      send(turn, given.status, given.contentType, given.body, given.headers)
    } catch (error) {
      if (whenOverloaded === undefined || !(error instanceof Refusal) || error.kind !== 'overloaded') throw error
      turn.shed = true
      const given = whenOverloaded(request)
      send(turn, given.status, given.contentType, given.body, given.headers)
    }
  }

  /** The body's bytes, none where there is no body; null where the turn has ended (client gone, body late). */
  async function bodyOf(turn: Turn<S>): Promise<Uint8Array | null> {
    const intake = turn.intake
    if (intake === null) {
      if (hasBody(turn.framing)) throw bodyTooLarge(turn)
      return noBytes
    }
    const ended = intake.ended() ?? (await intake.whenEnded())
    if (ended === 'whole') return intake.bytes()
    if (ended === 'too-large') throw bodyTooLarge(turn)
    if (ended === 'no-room') throw new Refusal('overloaded', 'too many bodies arrive at once: try again shortly')
    if (ended === 'aborted') {
      finish(turn, 0)
      return null
    }
    turn.close = true
    sendRefusal(turn, bodyLate, 'the body did not arrive in time', {})
    return null
  }

  const app = needs.uws.App().any('/*', (res, req) => {
    try {
      accept(res, req)
    } catch (error) {
      // Nothing may be thrown into C++, which would end the process.
      needs.log.error({ stack: stackOf(error) }, 'a request could not be taken')
      res.close()
    }
  })
  const listenOptions = (needs.exclusivePort ?? true) ? needs.uws.LIBUS_LISTEN_EXCLUSIVE_PORT : 0
  const listening = await new Promise<UwsListenSocket | false>((resolve) => {
    app.listen(needs.host, needs.port, listenOptions, resolve)
  })
  if (listening === false)
    throw new ExpectedFault(
      `PORT: cannot listen on ${needs.host}:${needs.port}: another process has it, or HOST is no address of this machine`,
    )

  async function drain(limits: CloseLimits): Promise<void> {
    needs.uws.us_listen_socket_close(listening as UwsListenSocket)
    answering.closeAll()
    await new Promise((resolve) => setTimeout(resolve, limits.lingerMs ?? 500))
    await answering.idle(limits.deadlineMs ?? 10_000)
    app.close()
  }

  let closed: Promise<void> | null = null
  return {
    port: needs.uws.us_socket_local_port(listening),
    inFlight: answering.inFlight,
    close(limits = {}) {
      closed ??= drain(limits)
      return closed
    },
  }
}

function segmentsOrRefusal(url: string): string[] | Refusal {
  try {
    return segmentsOf(url)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Those that the schema names, of all that came. */
const headersFor = (schema: z.ZodObject, given: ReadonlyMap<string, string>): Record<string, string | undefined> =>
  Object.fromEntries(Object.keys(schema.shape).map((name) => [name, given.get(name.toLowerCase())]))

const noWarnings: readonly string[] = []

function withWarnings(reply: Reply, warnings: readonly string[]): Reply {
  return warnings.length === 0 ? reply : { ...reply, warnings: [...warnings, ...(reply.warnings ?? noWarnings)] }
}

function bodyFor(rule: BodyRule, bytes: Uint8Array): CheckedBody {
  if (rule.kind === 'none') return { value: undefined, warnings: noWarnings }
  const absent = bytes.byteLength === 0
  if (absent && !(rule.kind === 'json' && rule.optional)) throw new Refusal('validation-failed', 'body: required')
  if (rule.kind === 'bytes') return { value: bytes, warnings: noWarnings }
  if (rule.kind === 'json-around-bytes') {
    return checkedBody(rule.schema, parseJsonAroundBytes(bytes, rule.field, bodyBytesMax))
  }
  return checkedBody(rule.schema, absent ? {} : parseJson(bytes))
}
