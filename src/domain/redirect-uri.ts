const BYTES_MAX = 2048
/** Printable ASCII without space, `"`, `<`, `>`, `\`, `^`, `` ` ``, `{`, `|`, `}`: what RFC 3986 lets stand in an address. */
const ADDRESS = /^[!#-;=?-[\]_a-z~]+$/
const SCHEME = /^https?:\/\/[^/?#@%]+(?:[/?]|$)/i

/**
 * An address a browser may be sent to, as the URL standard writes it; null for every other: https (http on loopback),
 * a host, no user info, no fragment, at most 2,048 characters.
 */
export function redirectUri(text: string): string | null {
  if (text.length > BYTES_MAX || !ADDRESS.test(text) || !SCHEME.test(text) || text.includes('#')) return null
  const url = parsed(text)
  if (url === null || url.username !== '' || url.password !== '') return null
  return (url.protocol === 'https:' || isLoopback(url.hostname)) && url.href.length <= BYTES_MAX ? url.href : null
}

/** An origin for the organization's allow-list: such an address without path and query; null for every other text. */
export function redirectOrigin(text: string): string | null {
  const address = redirectUri(text)
  if (address === null) return null
  const { origin, href } = new URL(address)
  return href === `${origin}/` ? origin : null
}

/** Whether the organization sends browsers there: anywhere while it keeps no list. `address` as `redirectUri` gave it. */
export const mayRedirect = (address: string, origins: readonly string[]): boolean =>
  origins.length === 0 || origins.includes(new URL(address).origin)

/** Where the browser is sent at the end; a `status` of the address's own gives way. */
export function completedUri(address: string): string {
  const url = new URL(address)
  if (!url.searchParams.has('status'))
    return `${address}${url.search === '' ? withoutMark(address) : '&'}status=completed`
  url.searchParams.set('status', 'completed')
  return url.href
}

/** `https://a.example/?` has an empty query already. */
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
