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
 * The rest of a refused body is read and dropped up to this size, so that the client can read its answer and keep its connection.
 * A larger body closes the connection. No measurement behind it.
 */
const droppedBytesMax = 1024 * 1024

/** `why` names the unavailable part; kinds other than `degraded` have none, because their messages may quote the call. */
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
  /** Set if the called route is deprecated, which every answer then announces. */
  deprecatedCall: DeprecatedCall | null
  readonly rawQuery: string
  framing: BodyFraming
  intake: BodyIntake | null
  organizationId: string | null
  apiKeyId: string
  /** The lane that the request occupies; null before it has begun, between two slices, and if it needs none. */
  atWork: Lane | null
  /** When the request, or its slice, began. */
  begunAt: number
  /** When the route's handler began; infinite until then. */
  handledSince: number
  /** The `Allow` header of a 405. */
  allow: string | null
  /** The request was refused because of overload or its key's rate limit, and no work was done. */
  shed: boolean
  /** The refusal, for the log; null if the request was not refused, or if the status is enough. */
  refusedAs: RefusedAs | null
  /** The connection must not be used again. */
  close: boolean
  /** The event-loop iteration in which the last bytes of the request were parsed. */
  round: number
  aborted: boolean
  answered: boolean
  finished: boolean
}

/** The organization that the request counts for at admission; empty without a key. */
export const organizationOf = <S>({ organizationId }: RequestContext<S>): string => organizationId ?? ''

/** Whether the head announces a body. */
export function hasBody(framing: BodyFraming): boolean {
  return framing.chunked || framing.declared > 0
}

/**
 * Whether the connection ends with the body, because the rest of the body is too large to drop or the body is chunked. The library
 * parses chunks laxly: any two bytes end a chunk, also the last one. So another reader may see a different end.
 */
export function endsConnection<S>(context: RequestContext<S>): boolean {
  const { declared, chunked } = context.framing
  return chunked || (declared > droppedBytesMax && context.intake?.ended() !== 'whole')
}

/** The labels of a request in metrics and logs: path templates, and no data of the client. */
export function labelsOf<S>(context: RequestContext<S>): Pick<Answered, 'api' | 'route' | 'countedAs'> {
  const { match } = context
  if (match === null) return { api: 'none', route: 'unmatched', countedAs: null }
  if (match.kind === 'plain') return { api: 'plain', route: match.endpoint.path, countedAs: null }
  return { api: match.api.scope, route: match.route.path, countedAs: match.route.countedAs }
}
