import { heldKey } from './key.js'
import { fill, t } from './texts.js'

/** The service's APIs, in the folder above the console's. A proxy may add a path before it. */
const ROOT = new URL('../', import.meta.url)
const FOLDERS = { dashboard: 'dashboard', core: 'core', links: 'auth' } as const

/** Values of a query; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

interface Options {
  readonly api?: keyof typeof FOLDERS
  readonly query?: Query
  readonly body?: object
  readonly signal?: AbortSignal
  /** A sign-in session of the core API. */
  readonly session?: string
  /** The key to try; the held key unless given. */
  readonly key?: string
}

/** An answer that is not a success, or the absence of one. */
export class ApiError extends Error {
  constructor(
    /** 0 if there was no answer. */
    readonly status: number,
    message: string,
    /** `X-Request-Id` of the answer, which is also in the service's log. */
    readonly requestId: string | null,
    /** Seconds after which the call may be repeated; null if a repetition does not help. */
    readonly retryAfterS: number | null,
  ) {
    super(message)
  }
}

let refused: () => void = () => {}
/** `listener` is called when an answer is 401 for the held key, because the key was revoked or has expired. */
export const whenKeyRefused = (listener: () => void): void => {
  refused = listener
}

/** A GET of the dashboard API. Rejects with an `ApiError`, or with the reason of the signal. */
export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, { query, ...(signal && { signal }) })

/** One call of an API. Rejects with an `ApiError`, or with the reason of the signal. */
export async function call<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const response = await answered(method, path, options)
  return (await response.json().catch(() => ({}))) as T
}

/** Makes a call that is answered with a file. Returns the bytes and the name of the file. Rejects as `call` does. */
export async function download(path: string, body: object): Promise<{ readonly blob: Blob; readonly name: string }> {
  const response = await answered('POST', path, { body })
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'download'
  return { blob: await response.blob(), name }
}

/** The answer to a call if it is a success. */
async function answered(method: string, path: string, options: Options): Promise<Response> {
  const { api = 'dashboard', query = {}, body, signal, session, key } = options
  const url = new URL(FOLDERS[api] + path, ROOT)
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
  // `URLSearchParams` writes a space as a plus sign, which the APIs read as a plus sign.
  url.search = url.search.replace(/\+/g, '%20')
  const response = await fetch(url, {
    method,
    headers: {
      apikey: key ?? heldKey() ?? '',
      accept: 'application/json',
      ...(session !== undefined && { 'x-service-session': session }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    signal: signal ?? null,
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, t.errors.unreachable, null, 5)
  })
  if (response.ok) return response
  const { message } = (await response.json().catch(() => ({}))) as { message?: string }
  const error = errorOf(response, message ?? response.statusText)
  if (error.status === 401 && key === undefined) refused()
  throw error
}

function errorOf({ status, headers }: Response, message: string): ApiError {
  const wait = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfterS = Number.isFinite(wait) && (status === 429 || status === 503) ? Math.max(1, wait) : null
  return new ApiError(status, fill(t.errors.answered, { message }), headers.get('x-request-id'), retryAfterS)
}

/** The path of these segments, which are encoded. */
export const pathOf = (...segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
