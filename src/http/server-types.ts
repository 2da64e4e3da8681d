import type { KeyScope, Scope } from '../domain/organization.js'
import type { Admission } from './admission.js'
import type { CountedAs, Lane, Route } from './route.js'
import type { UwsModule } from './uws.js'

/** One API: its routes under a base path, and the scope that a key needs for them. */
export interface Api<S> {
  /** Path such as `/core`, with a leading slash and none at the end. */
  readonly basePath: string
  readonly scope: Scope
  readonly title: string
  /** Description of the routes under each first segment of a path, for the documents. */
  readonly groups?: Readonly<Record<string, string>>
  readonly routes: readonly Route<S>[]
}

/** The input of a plain endpoint: decoded once and strictly, like a route's, but not checked by a schema. */
export interface PlainRequest {
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly header: (name: string) => string | undefined
  readonly body: Uint8Array
}

export interface PlainAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** An endpoint outside the APIs: no key, no envelope, served while degraded (`/livez`, `/metrics`, pages, documents). */
export interface PlainEndpoint {
  readonly method: 'get' | 'post'
  /** Whole path, parameters in braces. */
  readonly path: string
  /** Cap of the body; 16 KiB unless given. */
  readonly maxBytes?: number
  /** The lane in which requests wait for admission; absent if they need none. */
  readonly lane?: Lane
  /** The answer if that lane is full; the envelope's 503 unless given. */
  readonly whenOverloaded?: (request: PlainRequest) => PlainAnswer
  /** A page for people. A query or a slash that others append to its address is ignored. */
  readonly page?: true
  /** Machines poll the endpoint every few seconds, so its failures are logged once a minute. */
  readonly probe?: true
  readonly handle: (request: PlainRequest) => PlainAnswer | Promise<PlainAnswer>
}

/** A plain endpoint that does not read the request, so that a separate listener can serve it too. */
export interface Probe extends PlainEndpoint {
  readonly method: 'get'
  readonly probe: true
  readonly handle: () => PlainAnswer | Promise<PlainAnswer>
}

/** One request that begins. */
export interface BegunRequest {
  readonly requestId: string
  /** The client's method in lower case. */
  readonly method: string
  readonly headers: ReadonlyMap<string, string>
}

/** One finished request, for metrics and usage. It holds no key, no session, no raw path. */
export interface Answered {
  readonly requestId: string
  /** The API's scope; `plain` for plain endpoints; `none` if no route was found. */
  readonly api: Scope | 'plain' | 'none'
  /** The route's own template (`/users/{userRef}`), below the base path; `unmatched` if no route was found. */
  readonly route: string
  readonly countedAs: CountedAs | null
  /** The client's method in lower case. */
  readonly method: string
  readonly status: number
  readonly durationMs: number
  /** Null before the key is known. */
  readonly organizationId: string | null
  /** Whether the client left before the answer. */
  readonly aborted: boolean
}

/** The part of a logger that the server uses; `Logger` of src/process/log.ts satisfies it. */
interface RequestLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface ServerNeeds<S> {
  readonly uws: UwsModule
  readonly apis: readonly Api<S>[]
  readonly plain: readonly PlainEndpoint[]
  /**
   * The holder of a key; null for an unknown or revoked key. May throw `degraded`, and `over-rate` for a key over its rate
   * limit. The server does not cache the result.
   */
  readonly authenticate: (
    apikey: string,
  ) => Promise<{ readonly organizationId: string; readonly keyId: string; readonly scopes: readonly KeyScope[] } | null>
  /** The public reason why the service is degraded, such as `degraded: Redis out of reach`; null if it is not. Called per request. */
  readonly degraded: () => string | null
  /** If absent, every request begins at once. */
  readonly admission?: Admission
  readonly services: S
  readonly log: RequestLog
  /** The page for a browser (`Accept: text/html`) that replaces the JSON of a missing key, an unknown path or a malformed address. */
  readonly browserPage?: (status: 400 | 401 | 404) => Pick<PlainAnswer, 'contentType' | 'body' | 'headers'>
  readonly newRequestId: () => string
  /** The time in answers, epoch ms; this machine's clock unless given. */
  readonly now?: () => number
  readonly onAnswer: (answered: Answered) => void
  /** Runs `handle`, which handles the request, once and synchronously within the request's trace. */
  readonly traced?: (request: BegunRequest, handle: () => void) => void
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  /** Whether only this process may listen on the port; false sets SO_REUSEPORT. True unless given. */
  readonly exclusivePort?: boolean
  /** Longest time that a body may take to arrive; 10,000 unless given. */
  readonly bodyDeadlineMs?: number
  /** Longest time that a handler may take before the answer is 503; 15,000 unless given. */
  readonly answerDeadlineMs?: number
}

export interface CloseLimits {
  /** How long open connections are still served; each closes with its next answer. 500 unless given. */
  readonly lingerMs?: number
  /** How long requests in flight may take after that; 10,000 unless given. */
  readonly deadlineMs?: number
}

export interface Server {
  readonly port: number
  /** Number of requests that are neither answered nor aborted. */
  readonly inFlight: () => number
  /**
   * Drains: stops accepting connections, serves open ones with `Connection: close`, waits for requests in flight up to the
   * deadline, then closes all connections. A second call returns the first one's promise.
   */
  readonly close: (limits?: CloseLimits) => Promise<void>
}
