/** One API of the service as typed calls. The types of paths, parameters, bodies and answers come from its OpenAPI document. */
import { type ErrorReason, KeystrideError } from './error.js'

export interface RetryOptions {
  /** Further tries of a GET or DELETE after 429 or 503. Default 2. */
  readonly tries?: number
  /** Longest wait before a try, even if `Retry-After` is longer. Default 5000. */
  readonly maxWaitMs?: number
}

interface ApiOptions {
  /** Base address of the API. */
  readonly url: string
  readonly apikey: string
  readonly timeoutMs: number
  readonly retry: Required<RetryOptions>
  readonly fetch: typeof fetch
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type Paths<P, M extends Method> = {
  [K in keyof P]: P[K] extends Record<M, { responses: unknown }> ? K : never
}[keyof P]
type Operation<P, K extends keyof P, M extends Method> = P[K] extends Record<M, infer O> ? O : never

type Parameters<O> = O extends { parameters: infer P }
  ? { readonly [K in keyof P as [Exclude<P[K], undefined>] extends [never] ? never : K]: P[K] }
  : unknown
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } }
  ? { readonly body: B }
  : O extends { requestBody?: { content: { 'application/json': infer B } } }
    ? { readonly body?: B }
    : unknown
/** Input of a call: `path`, `query`, `header` and `body` as the operation declares them, and a signal that aborts the call. */
export type Input<O> = Parameters<O> & Body<O> & { readonly signal?: AbortSignal | undefined }

type ContentOf<R> = R extends { content: { 'application/json': infer J } }
  ? J
  : R extends { content: { 'application/zip': unknown } }
    ? Blob
    : never
/** The answer of a successful call: JSON, or a Blob of an archive. */
export type Answer<O> = O extends { responses: infer R } ? ContentOf<R[keyof R & (200 | 201)]> : never

type Call<P, M extends Method> = <K extends Paths<P, M>>(
  path: K,
  ...input: Record<never, never> extends Input<Operation<P, K, M>>
    ? [input?: Input<Operation<P, K, M>>]
    : [input: Input<Operation<P, K, M>>]
) => Promise<Answer<Operation<P, K, M>>>

/**
 * The calls of an API. Each resolves with the answer of a success and rejects with a `KeystrideError`. A GET or DELETE is
 * repeated after 429 and 503; no other call is repeated, because the service may have executed it.
 */
export type Api<P> = { readonly [M in Method]: Call<P, M> }

/** The untyped form of an input. */
interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

export function createApi<P>(options: ApiOptions): Api<P> {
  const call =
    (method: Method) =>
    (path: string, input: AnyInput = {}): Promise<unknown> =>
      repeated(options, method, () => once(options, method, path, input), input.signal)
  const calls = { get: call('get'), post: call('post'), put: call('put'), patch: call('patch'), delete: call('delete') }
  // Sound: the paths of `P` are the service's, and `once` sends each input where the path's operation declares it.
  return calls as unknown as Api<P>
}

async function repeated<T>(
  { retry }: ApiOptions,
  method: Method,
  send: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let left = retry.tries; ; left--) {
    try {
      return await send()
    } catch (error) {
      const mayRepeat = method === 'get' || method === 'delete'
      const busy = error instanceof KeystrideError && (error.status === 429 || error.status === 503)
      if (left <= 0 || !mayRepeat || !busy) throw error
      const waitMs = (error.retryAfterSeconds ?? 1) * 1000
      // Waits up to a quarter longer, so that clients that were refused together do not return together.
      await pause(Math.min(waitMs, retry.maxWaitMs) * (1 + Math.random() / 4), signal)
    }
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })

async function once(options: ApiOptions, method: Method, path: string, input: AnyInput): Promise<unknown> {
  const { apikey, timeoutMs } = options
  const address = addressOf(options.url, path, input)
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = input.signal ? AbortSignal.any([input.signal, deadline]) : deadline
  const headers = new Headers({ apikey, accept: 'application/json, application/zip' })
  for (const [name, value] of Object.entries(input.header ?? {}))
    if (value !== undefined) headers.set(name, String(value))
  if (input.body !== undefined) headers.set('content-type', 'application/json')
  try {
    const answer = await options.fetch(address, {
      method: method.toUpperCase(),
      headers,
      body: input.body === undefined ? null : JSON.stringify(input.body),
      // A redirect would carry the key to another address.
      redirect: 'manual',
      signal,
    })
    return await contentOf(answer)
  } catch (cause) {
    if (cause instanceof KeystrideError) throw cause
    if (input.signal?.aborted) throw input.signal.reason
    const [reason, why] = deadline.aborted
      ? (['timeout', `the service did not answer within ${timeoutMs} ms`] as const)
      : (['no-answer', 'the service did not answer'] as const)
    throw new KeystrideError(`${why}: ${method.toUpperCase()} ${path}`, { status: 0, reason }, { cause })
  }
}

function addressOf(url: string, path: string, { path: values = {}, query = {} }: AnyInput): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, values[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one))
  // The service reads `+` as a plus sign.
  return `${url}${filled}${search.size > 0 ? `?${search.toString().replaceAll('+', '%20')}` : ''}`
}

function segmentOf(name: string, value: unknown): string {
  if (value === undefined || value === null) throw new TypeError(`path.${name} is missing`)
  const text = String(value)
  // `fetch` resolves `.` and `..` as relative folders, even escaped, and would call another route.
  if (text === '.' || text === '..')
    throw new KeystrideError(`path.${name} must not be "." or ".."`, { status: 422, reason: 'invalid-data' })
  return encodeURIComponent(text)
}

async function contentOf(answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? ''
  if (answer.ok && type.startsWith('application/zip')) return await answer.blob()
  const text = await answer.text()
  const body = type.startsWith('application/json') ? parsed(text) : undefined
  if (answer.ok && body?.success === true) return body
  const { status, headers } = answer
  const after = Number(headers.get('retry-after') ?? Number.NaN)
  const understood = body?.success === false
  throw new KeystrideError(
    understood ? String(body.message) : `the answer with status ${status} is not one of the service`,
    {
      status,
      reason: understood ? ((body.reason as ErrorReason | undefined) ?? null) : 'not-understood',
      requestId: headers.get('x-request-id'),
      answer: body,
      retryAfterSeconds: Number.isFinite(after) && after >= 0 ? after : null,
    },
  )
}

/** The JSON object of a text; undefined if the text is not one. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
