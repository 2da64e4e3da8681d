import type { z } from 'zod'
import type { RefusalKind } from '../domain/refusal.js'
import type { Deprecated } from './deprecation.js'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** Usage class of an endpoint (interface, Usage). */
export type CountedAs = 'verify' | 'enroll' | 'bootstrap' | 'other'

/** Priorities under overload, the most important first. */
export const LANES = ['verify', 'code', 'bootstrap', 'enroll', 'core', 'page', 'dashboard', 'batch'] as const
/** `code`: calls that hash a security code; `page`: calls of hosted pages, without an API key; `batch`: calls that are slow by nature. */
export type Lane = (typeof LANES)[number]

/** Headers that only a browser sets. */
export type BrowserHeader = 'origin' | 'sec-fetch-site'

/** The input of a handler, which never sees the server's own request or response. */
interface Exchange<P, Q, B, S, H = object> {
  readonly requestId: string
  readonly organizationId: string
  /** Id of the caller's API key; empty on a route that needs none. */
  readonly apiKeyId: string
  /** The `X-Service-Session` header, not checked; null if absent, and on a route that takes none. */
  readonly session: string | null
  readonly header: (name: BrowserHeader) => string | undefined
  /** The headers that the route names, checked. */
  readonly headers: H
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly services: S
  /** Ends a slice of long work, and resolves when the next slice may begin. Rejects if the client has left. */
  readonly turn: Turn
}

/** Called between two slices of long work, a few ms each: other requests and other organizations take their turn. */
export type Turn = () => Promise<void>

/** The server adds `timestamp`, `success` and `message`; `message` is `Done` unless the handler sets it. */
export interface Reply {
  readonly status: number
  readonly payload: Record<string, unknown>
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Warnings about misspelt fields, if any. An answer of 400 or more has none. */
  readonly warnings?: readonly string[] | null
  /** The bytes of a file, such as an export archive. They replace the JSON envelope and payload. */
  readonly file?: { readonly contentType: string; readonly bytes: Uint8Array }
}

/** The form of a body: absent, JSON checked by a schema, or bytes that another layer checks (typing patterns). */
export type BodyRule =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly schema: z.ZodType; readonly optional?: boolean }
  | { readonly kind: 'bytes'; readonly maxBytes: number; readonly documents: z.ZodType }
  /** JSON checked by a schema, except for one field that stays raw bytes (a Uint8Array); body up to `maxBytes`. */
  | {
      readonly kind: 'json-around-bytes'
      readonly field: string
      readonly maxBytes: number
      readonly schema: z.ZodType
      readonly documents: z.ZodType
    }

/** A table of the actions that a client takes on an answer, read from top to bottom. Text between backticks is code. */
export interface Outcomes {
  readonly lead: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** One row of a route table. Serving, validation, counting, documents and tests read it. */
export interface Route<S> {
  readonly method: Method
  /** Path template below the API's base path, parameters in braces: `/users/{userRef}`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly outcomes?: Outcomes
  readonly countedAs: CountedAs
  /** Null if the route is served regardless of load. */
  readonly lane: Lane | null
  /** The lane by the received body; has precedence over `lane`. */
  readonly laneOfBody?: (body: Uint8Array) => Lane
  /** False if the route is served without an API key, and while degraded (`GET /status`). */
  readonly needsKey: boolean
  readonly needsSession: boolean
  /** X-Service-Session is optional. */
  readonly takesSession?: true
  /** Request headers that the route reads, in addition to key and session. */
  readonly headers?: z.ZodObject
  /** Headers of each reply, and their meaning. Refusals do not have them. */
  readonly replyHeaders?: Readonly<Record<string, string>>
  /** Whether the route changes nothing, so that a key with read scope opens it. By default true for GET only. */
  readonly onlyReads?: boolean
  /** The route is served while a store is unreachable, if the key can be looked up. */
  readonly whileDegraded?: true
  /** Absent if the route is not deprecated. */
  readonly deprecated?: Deprecated
  readonly params: z.ZodType
  readonly query: z.ZodType
  readonly body: BodyRule
  /** Payload, without the envelope, of each status that is not a refusal. */
  readonly replies: Readonly<Record<number, z.ZodType>>
  readonly refuses: readonly RefusalKind[]
  readonly handle: (exchange: Exchange<never, never, never, S, never>) => Promise<Reply>
}

type BodyOf<B extends BodyRule> = B extends { schema: infer Z extends z.ZodType }
  ? z.output<Z>
  : B extends { kind: 'bytes' }
    ? Uint8Array
    : undefined

/** The usage class is also the lane; a route of class `other` names its lane. */
type CountedRow =
  | { readonly countedAs: Exclude<CountedAs, 'other'>; readonly lane?: Lane }
  | { readonly countedAs: 'other'; readonly lane: Lane | null }

type Row<P extends z.ZodType, Q extends z.ZodType, B extends BodyRule, S, H extends z.ZodObject> = Omit<
  Route<S>,
  'params' | 'query' | 'headers' | 'body' | 'handle' | 'deprecated' | 'countedAs' | 'lane'
> &
  CountedRow & {
    readonly params: P
    readonly query: Q
    readonly headers?: H
    readonly body: B
    readonly deprecated?: Deprecated<BodyOf<B>>
    readonly handle: (exchange: Exchange<z.output<P>, z.output<Q>, BodyOf<B>, S, z.output<H>>) => Promise<Reply>
  }

/** Returns the constructor of an API's routes, which types a handler by the route's own schemas. */
export function routesFor<S>() {
  return <P extends z.ZodType, Q extends z.ZodType, const B extends BodyRule, H extends z.ZodObject = z.ZodObject>(
    row: Row<P, Q, B, S, H>,
  ): Route<S> =>
    // Sound: the server passes a handler only the output of the same route's schemas.
    ({ lane: row.countedAs, ...row }) as unknown as Route<S>
}
