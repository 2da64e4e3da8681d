import type { KeyScope, Scope } from '../domain/organization.js'
import type { Admission } from './admission.js'
import type { UwsModule } from './provider.js'
import type { CountedAs, Lane, Route } from './route.js'

/** One API: its rows under a base path, and the scope a key needs for them. */
export interface Api<S> {
  /** Such as `/core`: a leading slash, none at the end. */
  readonly basePath: string
  readonly scope: Scope
  readonly title: string
  /** What documents say of the rows under each first segment of a path. */
  readonly groups?: Readonly<Record<string, string>>
  readonly routes: readonly Route<S>[]
}

/** What a plain endpoint is given: decoded once and strictly, like a row's, but checked by no schema. */
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
  readonly headers?: Readonly<Record<string, string>>
}

/** An endpoint outside the APIs: no key, no envelope, served while degraded (`/livez`, `/metrics`, pages, documents). */
export interface PlainEndpoint {
  readonly method: 'get' | 'post'
  /** Whole path, parameters in braces. */
  readonly path: string
  /** Cap of the body; 16 KiB unless given. */
  readonly maxBytes?: number
  /** Where it waits its turn; absent: it takes none. */
  readonly lane?: Lane
  /** What is said where that lane is full; the envelope's 503 unless given. */
  readonly whenOverloaded?: (request: PlainRequest) => PlainAnswer
  /** Asked every few seconds by machines: its failures are logged once a minute. */
  readonly probe?: true
  readonly handle: (request: PlainRequest) => PlainAnswer | Promise<PlainAnswer>
}

/** A plain endpoint that looks at nothing of the request, so that a listener of its own can serve it too. */
export interface Probe extends PlainEndpoint {
  readonly method: 'get'
  readonly probe: true
  readonly handle: () => PlainAnswer | Promise<PlainAnswer>
}

/** One finished request, for metrics and usage. It holds no key, no session, no raw path. */
export interface Answered {
  readonly requestId: string
  /** The API's scope; `plain` for plain endpoints; `none` where no route was found. */
  readonly api: Scope | 'plain' | 'none'
  /** The row's own template (`/users/{userRef}`), below the base path; `unmatched` where no route was found. */
  readonly route: string
  readonly countedAs: CountedAs | null
  /** Lower case, as the client sent it. */
  readonly method: string
  readonly status: number
  readonly durationMs: number
  /** Null before the key is known. */
  readonly organizationId: string | null
  /** True where the client went away and nobody read the answer. */
  readonly aborted: boolean
}

/** The part of a logger that is used; `Logger` of src/process/log.ts fits. */
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
   * Who a key speaks for; null for an unknown or revoked one. May throw `degraded`, and `over-rate` where the key asks too
   * often. Caching is its own affair.
   */
  readonly authenticate: (
    apikey: string,
  ) => Promise<{ readonly organizationId: string; readonly keyId: string; readonly scopes: readonly KeyScope[] } | null>
  /** Why the service is degraded, for its operators' log; null while it is not. Asked once a request: keep it cheap. */
  readonly degraded: () => string | null
  /** Who goes first where there is more to do than can be done. Absent: everybody begins at once. */
  readonly admission?: Admission
  readonly services: S
  readonly log: RequestLog
  /** Answers a browser (`Accept: text/html`) in place of the JSON of a missing key or an unknown path. Absent: JSON. */
  readonly browserPage?: (status: 401 | 404) => Pick<PlainAnswer, 'contentType' | 'body' | 'headers'>
  readonly newRequestId: () => string
  /** What answers say of the time, epoch ms; this machine's clock unless given. */
  readonly now?: () => number
  readonly onAnswer: (answered: Answered) => void
  readonly host: string
  /** 0 for any free one. */
  readonly port: number
  /** False lets several processes listen on one port (SO_REUSEPORT). True unless given. */
  readonly exclusivePort?: boolean
  /** Milliseconds a body may take to arrive; 10,000 unless given. */
  readonly bodyDeadlineMs?: number
  /** Milliseconds a handler may take before the caller is told 503; 15,000 unless given. */
  readonly answerDeadlineMs?: number
}

export interface CloseLimits {
  /** How long connections that are open stay served, each told to close with its next answer; 500 unless given. */
  readonly lingerMs?: number
  /** How long requests in flight may take after that; 10,000 unless given. */
  readonly deadlineMs?: number
}

export interface Server {
  readonly port: number
  /** Requests begun and not yet answered or given up. */
  readonly inFlight: () => number
  /**
   * Drains: stops accepting connections, goes on serving open ones with `Connection: close`, waits for requests in
   * flight up to the deadline, then closes what is left. A second call gives the first one's promise.
   */
  readonly close: (limits?: CloseLimits) => Promise<void>
}
