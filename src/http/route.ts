import type { z } from 'zod'
import type { RefusalKind } from '../domain/refusal.js'
import type { Deprecated } from './deprecation.js'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** Usage class of an endpoint (interface, Usage). */
export type CountedAs = 'verify' | 'enroll' | 'bootstrap' | 'other'

/** What gives way to what where more is asked than can be done, the most important first. */
export const LANES = ['verify', 'code', 'bootstrap', 'enroll', 'core', 'page', 'dashboard', 'batch'] as const
/** `code` is whatever hashes a security code; `page` what hosted pages ask without an API key; `batch` what takes long by its nature. */
export type Lane = (typeof LANES)[number]

/** What a browser adds to a request of itself. */
export type BrowserHeader = 'origin' | 'sec-fetch-site'

/** What a handler is given. It never sees the server's own request or response. */
interface Exchange<P, Q, B, S, H = object> {
  readonly requestId: string
  readonly organizationId: string
  /** Of the key that the caller showed; empty on a row that needs none. */
  readonly apiKeyId: string
  /** The `X-Service-Session` header as it came; null where absent, and on a row that takes none. */
  readonly session: string | null
  readonly header: (name: BrowserHeader) => string | undefined
  /** Those that the row names. */
  readonly headers: H
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly services: S
}

/** `timestamp`, `success` and `message` are added by the server; `message` is `Done` unless the handler gives one. */
export interface Reply {
  readonly status: number
  readonly payload: Record<string, unknown>
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of misspelt fields; null and empty: there is nothing to warn of. Left out of an answer of 400 or more. */
  readonly warnings?: readonly string[] | null
  /** In place of the JSON envelope and payload: the bytes of a file, such as an export archive. */
  readonly file?: { readonly contentType: string; readonly bytes: Uint8Array }
}

/** How a body arrives: absent, JSON checked by a schema, or bytes that another floor checks (typing patterns). */
export type BodyRule =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly schema: z.ZodType; readonly optional?: boolean }
  | { readonly kind: 'bytes'; readonly maxBytes: number; readonly documents: z.ZodType }
  /** JSON checked by a schema, in which one field stays the bytes it came in (a Uint8Array), up to `maxBytes` of body. */
  | {
      readonly kind: 'json-around-bytes'
      readonly field: string
      readonly maxBytes: number
      readonly schema: z.ZodType
      readonly documents: z.ZodType
    }

/** One row of a route table: it serves, validates, counts, documents and is tested. */
export interface Route<S> {
  readonly method: Method
  /** Below the API's base path, parameters in braces: `/users/{userRef}`. */
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly countedAs: CountedAs
  /** Null: served however much there is to do. */
  readonly lane: Lane | null
  /** Where the body decides instead, once it is there. */
  readonly laneOfBody?: (body: Uint8Array) => Lane
  /** False: answered without an API key, and while degraded (`GET /status`). */
  readonly needsKey: boolean
  readonly needsSession: boolean
  /** Reads X-Service-Session where there is one. */
  readonly takesSession?: true
  /** Request headers that the row reads besides those of key and session. */
  readonly headers?: z.ZodObject
  /** Headers of each of its replies, and what they say. Refusals do not have them. */
  readonly replyHeaders?: Readonly<Record<string, string>>
  /** Changes nothing, though its method is POST: a key for reads alone opens it. */
  readonly onlyReads?: true
  /** Absent: here to stay. */
  readonly deprecated?: Deprecated
  readonly params: z.ZodType
  readonly query: z.ZodType
  readonly body: BodyRule
  /** Payload (without the envelope) of each status that is not a refusal. */
  readonly replies: Readonly<Record<number, z.ZodType>>
  readonly refuses: readonly RefusalKind[]
  readonly handle: (exchange: Exchange<never, never, never, S, never>) => Promise<Reply>
}

type BodyOf<B extends BodyRule> = B extends { schema: infer Z extends z.ZodType }
  ? z.output<Z>
  : B extends { kind: 'bytes' }
    ? Uint8Array
    : undefined

/** The usage class is the lane as well, unless it is none in particular: then the lane has to be said. */
type Counted =
  | { readonly countedAs: Exclude<CountedAs, 'other'>; readonly lane?: Lane }
  | { readonly countedAs: 'other'; readonly lane: Lane | null }

type Row<P extends z.ZodType, Q extends z.ZodType, B extends BodyRule, S, H extends z.ZodObject> = Omit<
  Route<S>,
  'params' | 'query' | 'headers' | 'body' | 'handle' | 'deprecated' | 'countedAs' | 'lane'
> &
  Counted & {
    readonly params: P
    readonly query: Q
    readonly headers?: H
    readonly body: B
    readonly deprecated?: Deprecated<BodyOf<B>>
    readonly handle: (exchange: Exchange<z.output<P>, z.output<Q>, BodyOf<B>, S, z.output<H>>) => Promise<Reply>
  }

/** The row maker of an API: types a row's handler from the row's own schemas. */
export function routesFor<S>() {
  return <P extends z.ZodType, Q extends z.ZodType, const B extends BodyRule, H extends z.ZodObject = z.ZodObject>(
    row: Row<P, Q, B, S, H>,
  ): Route<S> =>
    // Sound: the server hands a handler nothing but the output of the same row's schemas.
    ({ lane: row.countedAs, ...row }) as unknown as Route<S>
}
