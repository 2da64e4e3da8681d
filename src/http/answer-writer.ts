import { STATUS_CODES } from 'node:http'
import type { RequestContext } from './request-context.js'
import type { PlainAnswer } from './server-types.js'

/** Status lines such as `200 OK`, by status. */
const statusLines: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([status, words]) => [status, `${status} ${words ?? ''}`]),
)

/** Writes an answer. An answer to HEAD has the length of the body but no body. */
export function writeAnswer<S>(
  { res, method, requestId }: RequestContext<S>,
  { status, contentType, body }: PlainAnswer,
  headers: Readonly<Record<string, string>> | undefined,
  close: boolean,
): void {
  res.cork(() => {
    res.writeStatus(statusLines[status] ?? `${status} Unknown`)
    res.writeHeader('content-type', contentType)
    res.writeHeader('x-request-id', requestId)
    res.writeHeader('x-content-type-options', 'nosniff')
    if (headers?.['cache-control'] === undefined) res.writeHeader('cache-control', 'no-store')
    for (const name in headers) res.writeHeader(name, headers[name] ?? '')
    if (method === 'head') res.endWithoutBody(Buffer.byteLength(body), close)
    else res.end(body, close)
  })
}

/** Throws for a control character in a header value, which would split the answer. Such a bug of the service is answered with 500. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const name in headers) {
    const value = headers[name] ?? ''
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code < 0x20 || code === 0x7f) throw new Error(`control character in the answer header ${name}`)
    }
  }
}
