import type { Listed } from '../base/unordered-list.js'
import type { RefusalKind } from '../domain/refusal.js'
import type { DeprecatedCall } from './deprecation.js'
import type { BodyIntake } from './intake/body-intake.js'
import type { BodyFraming } from './intake/request-head.js'
import type { Lane } from './route.js'
import type { RouteMatch } from './route-match.js'
import type { Answered } from './server-types.js'
import type { UwsResponse } from './uws.js'

/**
 * The rest of a refused body, up to this size, is read and dropped, so that the client can read its answer and keep its
 * connection; beyond that the connection is closed. No measurement behind it.
 */
const droppedBytesMax = 1024 * 1024

/** `why` names the part that was away; other kinds have none, because their messages may quote the call. */
interface RefusedAs {
  readonly kind: RefusalKind
  readonly why?: string
}

/** One request from its first byte to its answer. */
export interface RequestContext<S> extends Listed {
  readonly res: UwsResponse
  readonly requestId: string
  readonly startedAt: number
  readonly method: string
  readonly headers: ReadonlyMap<string, string>
  match: RouteMatch<S> | null
  readonly params: Record<string, string>
  /** Set if the called route is deprecated: every answer then announces it. */
  deprecatedCall: DeprecatedCall | null
  readonly rawQuery: string
  framing: BodyFraming
  intake: BodyIntake | null
  organizationId: string | null
  apiKeyId: string
  /** The lane it occupies; null before it has begun, between two slices, and if it needs none. */
  atWork: Lane | null
  /** When it, or its slice, began. */
  begunAt: number
  /** When the route's handler began; infinite before. */
  handledSince: number
  /** The `Allow` header of a 405. */
  allow: string | null
  /** Refused because of overload or its key's rate limit: no work was done. */
  shed: boolean
  /** Why it was refused, for the log; null if it was not, or if the status says all. */
  refusedAs: RefusedAs | null
  /** The connection must not be used again. */
  close: boolean
  /** The event-loop iteration in which its last bytes were parsed. */
  round: number
  aborted: boolean
  answered: boolean
  finished: boolean
}

/** The organization to which the request counts for admission; empty without a key. */
export const organizationOf = <S>({ organizationId }: RequestContext<S>): string => organizationId ?? ''

/** Whether the head announces a body. */
export function hasBody(framing: BodyFraming): boolean {
  return framing.chunked || framing.declared > 0
}

/**
 * Whether the connection ends with the body: the rest of the body is too large to drop, or the body is chunked. The library
 * parses chunks laxly (any two bytes end a chunk, and the last chunk), so another reader may see a different end.
 */
export function endsConnection<S>(context: RequestContext<S>): boolean {
  const { declared, chunked } = context.framing
  return chunked || (declared > droppedBytesMax && context.intake?.ended() !== 'whole')
}

/** The labels of a request in metrics and logs: path templates, never anything that the client sent. */
export function labelsOf<S>(context: RequestContext<S>): Pick<Answered, 'api' | 'route' | 'countedAs'> {
  const { match } = context
  if (match === null) return { api: 'none', route: 'unmatched', countedAs: null }
  if (match.kind === 'plain') return { api: 'plain', route: match.endpoint.path, countedAs: null }
  return { api: match.api.scope, route: match.route.path, countedAs: match.route.countedAs }
}
