const BYTES_MAX = 2048
/** The characters that RFC 3986 allows: printable ASCII without space, `"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}`. */
const ADDRESS = /^[!#-;=?-[\]_a-z~]+$/
const SCHEME = /^https?:\/\/[^/?#@%]+(?:[/?]|$)/i

/**
 * A redirect address as the URL standard serializes it; null unless it is https (http on loopback) and has a host, no user
 * info, no fragment and at most 2,048 characters.
 */
export function redirectUri(text: string): string | null {
  if (text.length > BYTES_MAX || !ADDRESS.test(text) || !SCHEME.test(text) || text.includes('#')) return null
  const url = parsed(text)
  if (url === null || url.username !== '' || url.password !== '') return null
  return (url.protocol === 'https:' || isLoopback(url.hostname)) && url.href.length <= BYTES_MAX ? url.href : null
}

/** An origin for the organization's allow-list: a redirect address without path and query; null for any other text. */
export function redirectOrigin(text: string): string | null {
  const address = redirectUri(text)
  if (address === null) return null
  const { origin, href } = new URL(address)
  return href === `${origin}/` ? origin : null
}

/** Whether the organization's allow-list permits an address of `redirectUri`; an empty list permits any. */
export const mayRedirect = (address: string, origins: readonly string[]): boolean =>
  origins.length === 0 || origins.includes(new URL(address).origin)

/** The redirect address at the end of a link: `status` is added or replaced. */
export function completedUri(address: string): string {
  const url = new URL(address)
  if (!url.searchParams.has('status'))
    return `${address}${url.search === '' ? withoutMark(address) : '&'}status=completed`
  // Piece by piece, because `searchParams` would write the other parameters anew, with a space as `+`.
  const pieces = url.search.slice(1).split('&')
  const isStatus = (piece: string) => new URLSearchParams(`&${piece}`).has('status')
  const first = pieces.findIndex(isStatus)
  url.search = pieces
    .map((piece, i) => (i === first ? 'status=completed' : piece))
    .filter((piece, i) => i === first || !isStatus(piece))
    .join('&')
  return url.href
}

/** `https://a.example/?` already has a `?` with an empty query. */
const withoutMark = (address: string) => (address.endsWith('?') ? '' : '?')

function parsed(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
