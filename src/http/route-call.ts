import type { z } from 'zod'
import { Refusal } from '../domain/refusal.js'
import { admitCaller, holderOf } from './caller.js'
import { parseJsonAroundBytes } from './intake/json-around-bytes.js'
import { type CheckedBody, checked, checkedBody, parseJson } from './intake/json-body.js'
import { checkMediaType } from './intake/request-head.js'
import { queryOf, readableQueryOf } from './intake/request-line.js'
import { bodyLate } from './refusals.js'
import { hasBody, organizationOf, type RequestContext } from './request-context.js'
import type { BodyRule, Lane, Reply, Route } from './route.js'
import { bodyBytesMax, bodyTooLarge } from './route-match.js'
import type { ServerState } from './server-state.js'
import type { Api, PlainEndpoint } from './server-types.js'

const noBytes = new Uint8Array(0)
const noWarnings: readonly string[] = []

/** Authenticates, receives and checks the body, waits for admission, then runs the route's handler and answers. */
export async function callRoute<S>(
  server: ServerState<S>,
  context: RequestContext<S>,
  api: Api<S>,
  route: Route<S>,
): Promise<void> {
  const { needs } = server
  if (route.needsKey) admitCaller(context, api, route, await holderOf(needs, context))
  // Checked once the organization is known, so that a flood of one organization does not get the requests of others refused.
  if (route.lane !== null) needs.admission?.refuseFull(route.lane, organizationOf(context), context.startedAt)
  if (hasBody(context.framing)) checkMediaType(context.headers)
  // Body and admission are awaited here, because an async function would cost each request a promise.
  if (context.intake?.ended() === null) await context.intake.whenEnded()
  const bytes = bodyOf(server, context)
  if (bytes === null) return
  const lane = route.laneOfBody === undefined ? route.lane : route.laneOfBody(bytes)
  if (lane !== null) {
    if (!enters(server, context, lane)) await needs.admission?.wait(lane, organizationOf(context), performance.now())
    if (!begins(server, context, lane)) return
  }
  const { value: body, warnings } = bodyFor(route.body, bytes)
  if (context.deprecatedCall !== null) context.deprecatedCall.body = body ?? null
  const params = checked(route.params, context.params, 'path')
  const query = checked(route.query, queryOf(context.rawQuery), 'query')
  const headers =
    route.headers === undefined ? {} : checked(route.headers, headersFor(route.headers, context.headers), 'header')
  const session = (route.needsSession || route.takesSession ? context.headers.get('x-service-session') : null) ?? null
  if (route.needsSession && (session === null || session === '')) {
    throw new Refusal('session-missing', 'X-Service-Session is missing: bootstrap with GET /users/{userRef}')
  }
  context.handledSince = performance.now()
  const reply = await route.handle({
    requestId: context.requestId,
    organizationId: context.organizationId ?? '',
    apiKeyId: context.apiKeyId,
    session: session === '' ? null : session,
    header: (name) => context.headers.get(name),
    // Sound: routesFor ties the handler's types to the outputs of these same schemas.
    params: params as never,
    query: query as never,
    headers: headers as never,
    body: body as never,
    services: needs.services,
    turn: () => nextSlice(server, context),
  })
  server.answering.answer(context, withWarnings(reply, warnings))
}

/** Runs a plain endpoint's handler and answers. */
export async function callPlain<S>(
  server: ServerState<S>,
  context: RequestContext<S>,
  endpoint: PlainEndpoint,
): Promise<void> {
  const { answering, needs } = server
  const request = {
    requestId: context.requestId,
    params: context.params,
    query: endpoint.page === true ? readableQueryOf(context.rawQuery) : queryOf(context.rawQuery),
    header: (name: string) => context.headers.get(name),
    body: noBytes,
  }
  const { lane, whenOverloaded } = endpoint
  try {
    if (lane !== undefined) needs.admission?.refuseFull(lane, organizationOf(context), context.startedAt)
    if (context.intake?.ended() === null) await context.intake.whenEnded()
    const bytes = bodyOf(server, context)
    if (bytes === null) return
    if (lane !== undefined) {
      if (!enters(server, context, lane)) await needs.admission?.wait(lane, organizationOf(context), performance.now())
      if (!begins(server, context, lane)) return
    }
    answering.send(context, await endpoint.handle({ ...request, body: bytes }))
  } catch (error) {
    if (whenOverloaded === undefined || !(error instanceof Refusal) || error.kind !== 'overloaded') throw error
    context.shed = true
    answering.send(context, whenOverloaded(request))
  }
}

const enters = <S>({ needs }: ServerState<S>, context: RequestContext<S>, lane: Lane): boolean =>
  needs.admission?.enter(lane, organizationOf(context), performance.now()) ?? true

/** Begins the work of an admitted request; false if the client has left. */
function begins<S>({ needs, answering }: ServerState<S>, context: RequestContext<S>, lane: Lane): boolean {
  if (needs.admission === undefined) return true
  context.atWork = lane
  if (context.aborted) {
    answering.finish(context, 0)
    return false
  }
  context.begunAt = performance.now()
  return true
}

/**
 * Ends a slice of the request's work; resolves when the next may begin. Requests that arrived meanwhile are parsed first, and
 * those of other organizations begin first if this organization has used its share. Rejects if nobody waits for the answer.
 */
async function nextSlice<S>({ needs: { admission } }: ServerState<S>, context: RequestContext<S>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  const lane = context.atWork
  if (admission !== undefined && lane !== null) {
    const now = performance.now()
    const waiting = admission.turn(lane, organizationOf(context), now - context.begunAt, now)
    if (waiting !== null) {
      context.atWork = null
      await waiting
      if (context.finished) admission.leave(lane, organizationOf(context), null, performance.now())
      else context.atWork = lane
    }
    context.begunAt = performance.now()
  }
  if (context.aborted || context.finished) throw new Refusal('degraded', 'nobody waits for this answer')
}

/** The received body, empty if there is none; null if the request has ended because the client left or the body was late. */
function bodyOf<S>({ answering }: ServerState<S>, context: RequestContext<S>): Uint8Array | null {
  const { intake } = context
  if (intake === null) {
    if (hasBody(context.framing)) throw bodyTooLarge(context.match)
    return noBytes
  }
  const ended = intake.ended()
  if (ended === 'whole') return intake.bytes()
  if (ended === 'too-large') throw bodyTooLarge(context.match)
  if (ended === 'no-room') throw new Refusal('overloaded', 'too many bodies arrive at once: try again shortly')
  if (ended === 'aborted') {
    answering.finish(context, 0)
    return null
  }
  context.close = true
  answering.sendRefusal(context, bodyLate, 'the body did not arrive in time', {})
  return null
}

/** The headers that the schema names. */
function headersFor(schema: z.ZodObject, given: ReadonlyMap<string, string>): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {}
  for (const name in schema.shape) headers[name] = given.get(name.toLowerCase())
  return headers
}

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
