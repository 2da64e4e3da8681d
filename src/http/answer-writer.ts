import { STATUS_CODES } from 'node:http'
import type { RequestContext } from './request-context.js'

/** `200 OK` by status. */
const statusLines: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, words]) => [status, `${status} ${words ?? ''}`]),
)

/**
 * Writes an answer. True: it was a HEAD whose connection the caller must close. uWebSockets.js 20.30 never counts
 * `endWithoutBody` as an answer and leaves the connection unusable, so HEAD announces the length and sends no body.
 */
export function writeAnswer<S>(
  { res, method, requestId }: RequestContext<S>,
  status: number,
  contentType: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  close: boolean,
): boolean {
  const headBytes = method === 'head' ? Buffer.byteLength(body) : 0
  res.cork(() => {
    res.writeStatus(statusLines[status] ?? `${status} Unknown`)
    res.writeHeader('content-type', contentType)
    res.writeHeader('x-request-id', requestId)
    res.writeHeader('x-content-type-options', 'nosniff')
    if (headers['cache-control'] === undefined) res.writeHeader('cache-control', 'no-store')
    for (const name in headers) res.writeHeader(name, headers[name] ?? '')
    if (headBytes > 0) res.writeHeader('connection', 'close').tryEnd('', headBytes)
    else res.end(body, close)
  })
  return headBytes > 0
}

/** Throws for a control character in a header value, which would split the answer. The bug is in the service, and ends as a 500. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code < 0x20 || code === 0x7f) throw new Error(`control character in the answer header ${name}`)
    }
  }
}
