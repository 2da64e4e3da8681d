import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { PlainEndpoint } from './server-types.js'

/** Smaller files are not compressed, because they fit in one packet. */
const GZIP_FROM_BYTES = 1_400

/**
 * Serves a file that does not change while the process runs, compressed for clients that accept gzip. Browsers revalidate it at
 * every visit. Its address has no hash of the content, because processes of the next version would not know it during a rolling update.
 */
export function fileEndpoint(path: string, contentType: string, body: string): PlainEndpoint {
  // The tag is weak, because both encodings have it.
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const headers = {
    'cache-control': 'no-cache',
    'cross-origin-resource-policy': 'same-origin',
    etag,
    vary: 'accept-encoding',
  }
  const small = Buffer.byteLength(body) < GZIP_FROM_BYTES ? null : gzipSync(body, { level: 9 })
  return {
    method: 'get',
    path,
    handle({ header }) {
      if (header('if-none-match') === etag) return { status: 304, contentType, body: '', headers }
      const gzip = small !== null && /\bgzip\b/.test(header('accept-encoding') ?? '')
      return gzip
        ? { status: 200, contentType, body: small, headers: { ...headers, 'content-encoding': 'gzip' } }
        : { status: 200, contentType, body, headers }
    },
  }
}
