import { Refusal } from '../../domain/refusal.js'

/** Headers that are refused if repeated, because two readers could pick different ones. */
const single = new Set(['apikey', 'x-service-session', 'content-length', 'content-type', 'host', 'transfer-encoding'])

/** How the head announces the body. */
export interface BodyFraming {
  /** Bytes of `Content-Length`; 0 if absent. */
  readonly declared: number
  readonly chunked: boolean
}

interface HeaderCopy {
  readonly headers: Map<string, string>
  /** Copies one header; passed to a request's `forEach`. */
  readonly take: (name: string, value: string) => void
  /** The refusal for a repeated header that must be single, or for a control character; null if all are valid. */
  readonly fault: () => Refusal | null
}

/** Copies headers out of the server's memory. A repeated header that need not be single keeps its first value. */
export function copyHeaders(): HeaderCopy {
  const headers = new Map<string, string>()
  let fault: Refusal | null = null
  return {
    headers,
    take(name, value) {
      if (hasControl(value)) fault = malformed('a header holds a control character')
      if (!headers.has(name)) headers.set(name, value)
      else if (single.has(name)) fault = malformed(`the header ${name} is given more than once`)
    },
    fault: () => fault,
  }
}

/** Whether a value has a control character other than a tab, which is allowed. uWebSockets.js accepts DEL. */
function hasControl(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return true
  }
  return false
}

/**
 * Reads the framing strictly: uWebSockets.js accepts `Content-Length: 3abc` as a number, and any Transfer-Encoding that
 * contains `chunked` as chunked. Refuses with `request-malformed`; the connection must then be closed, because it is
 * uncertain where its next request begins.
 */
export function framingOf(headers: ReadonlyMap<string, string>): BodyFraming {
  const transferEncoding = headers.get('transfer-encoding')
  const contentLength = headers.get('content-length')
  if (transferEncoding !== undefined) {
    if (transferEncoding !== 'chunked') throw malformed('Transfer-Encoding other than chunked is not accepted')
    if (contentLength !== undefined) throw malformed('Content-Length and Transfer-Encoding exclude each other')
    return { declared: 0, chunked: true }
  }
  if (contentLength === undefined) return { declared: 0, chunked: false }
  if (contentLength.length === 0 || contentLength.length > 15) throw malformed('Content-Length is not a number')
  for (let i = 0; i < contentLength.length; i++) {
    const code = contentLength.charCodeAt(i)
    if (code < 0x30 || code > 0x39) throw malformed('Content-Length is not a number')
  }
  return { declared: Number(contentLength), chunked: false }
}

/** Refuses with `media-type-unsupported` a compressed body, and a type other than JSON. A missing type counts as JSON. */
export function checkMediaType(headers: ReadonlyMap<string, string>): void {
  if (headers.has('content-encoding')) {
    throw new Refusal('media-type-unsupported', 'a body with Content-Encoding is not accepted: send it uncompressed')
  }
  const type = headers.get('content-type')
  if (type === undefined || type === 'application/json') return
  const semicolon = type.indexOf(';')
  const bare = (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase()
  if (bare !== 'application/json') throw new Refusal('media-type-unsupported', 'Content-Type must be application/json')
}

function malformed(message: string): Refusal {
  return new Refusal('request-malformed', message)
}
