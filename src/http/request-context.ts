import { Refusal } from '../domain/refusal.js'
import type { Leaving } from './deprecation.js'
import type { BodyIntake } from './intake/body-intake.js'
import type { BodyFraming } from './intake/request-head.js'
import type { UwsResponse } from './provider.js'
import type { Lane, Route } from './route.js'
import { type Found, makeRouter, type Router, type Target } from './router.js'
import type { Answered, Api, PlainEndpoint, ServerNeeds } from './server-types.js'

/** Cap of every body but typing patterns (decisions 1). */
export const bodyBytesMax = 16 * 1024
/**
 * The rest of a refused body up to so many bytes is read and dropped, so that the client can read its answer and keep
 * its connection; past that the connection is closed. No measurement behind it.
 */
const droppedBytesMax = 1024 * 1024

/** What a path and method lead to. */
export type Place<S> =
  | { readonly kind: 'row'; readonly api: Api<S>; readonly row: Route<S>; readonly maxBytes: number }
  | { readonly kind: 'plain'; readonly endpoint: PlainEndpoint; readonly maxBytes: number }

/** One request from its first byte to its answer. */
export interface Turn<S> {
  readonly res: UwsResponse
  readonly requestId: string
  readonly startedAt: number
  readonly method: string
  readonly headers: ReadonlyMap<string, string>
  place: Place<S> | null
  readonly params: Record<string, string>
  /** Set where what was asked for is deprecated: every answer then says so. */
  leaving: Leaving | null
  readonly rawQuery: string
  framing: BodyFraming
  intake: BodyIntake | null
  organizationId: string | null
  apiKeyId: string
  /** The lane in which it is at work; null before it has begun, or where it needs none. */
  atWork: Lane | null
  begunAt: number
  /** The `Allow` header of a 405. */
  allow: string | null
  /** Sent away for want of room, or by its key's rate: nothing was done of it. */
  shed: boolean
  /** The connection must not be used again. */
  close: boolean
  /** The round of the event loop in which its last bytes were parsed. */
  round: number
  aborted: boolean
  answered: boolean
  finished: boolean
}

/** The routing table of a server; throws where two rows claim one method and path shape. */
export function routerOf<S>(needs: Pick<ServerNeeds<S>, 'apis' | 'plain'>): Router<Place<S>> {
  const router = makeRouter<Place<S>>()
  for (const api of needs.apis) {
    for (const row of api.routes) {
      const maxBytes = 'maxBytes' in row.body ? row.body.maxBytes : bodyBytesMax
      router.add(row.method, api.basePath + row.path, { kind: 'row', api, row, maxBytes })
    }
  }
  for (const endpoint of needs.plain) {
    const maxBytes = endpoint.maxBytes ?? bodyBytesMax
    router.add(endpoint.method, endpoint.path, { kind: 'plain', endpoint, maxBytes })
  }
  return router
}

/**
 * What an answer from here has to announce: the end of the row that was asked for or, where the method is none of the
 * path's, of every row there. Null where something stays.
 */
export function leavingOf<S>(
  found: Found<Place<S>>,
  target: Target<Place<S>> | undefined,
  params: Readonly<Record<string, string>>,
): Leaving | null {
  if (target !== undefined) return leaving(target.row, params)
  const all = [...found.byMethod.values()].map(({ row }) => leaving(row, params))
  return all.includes(null) ? null : (all[0] ?? null)
}

function leaving<S>(place: Place<S>, params: Readonly<Record<string, string>>): Leaving | null {
  if (place.kind !== 'row' || place.row.deprecated === undefined) return null
  return { path: place.row.path, deprecated: place.row.deprecated, params, body: null }
}

/** The refusal of a body over its row's cap. */
export function bodyTooLarge<S>(turn: Turn<S>): Refusal {
  return new Refusal('body-too-large', `the body is larger than ${turn.place?.maxBytes ?? bodyBytesMax} bytes`)
}

/** Whether the request says that a body follows. */
export function hasBody(framing: BodyFraming): boolean {
  return framing.chunked || framing.declared > 0
}

/**
 * Whether the connection ends with the body: more of it may still come than is worth reading, or it came in chunks. The
 * library reads those laxly (any two bytes end a chunk, and the last one), so where they end, another reader may see more.
 */
export function endsConnection<S>(turn: Turn<S>): boolean {
  const { declared, chunked } = turn.framing
  return chunked || (declared > droppedBytesMax && turn.intake?.ended() !== 'whole')
}

/** What is said of a turn in metrics and logs: templates, never what the client sent. */
export function whereOf<S>(turn: Turn<S>): Pick<Answered, 'api' | 'route' | 'countedAs'> {
  const { place } = turn
  if (place === null) return { api: 'none', route: 'unmatched', countedAs: null }
  if (place.kind === 'plain') return { api: 'plain', route: place.endpoint.path, countedAs: null }
  return { api: place.api.scope, route: place.row.path, countedAs: place.row.countedAs }
}

/** Our choice: HEAD is served wherever GET is, without the body. */
export function allowOf(byMethod: ReadonlyMap<string, unknown>): string {
  const methods = [...byMethod.keys()]
  if (byMethod.has('get') && !byMethod.has('head')) methods.push('head')
  return methods.join(', ').toUpperCase()
}
