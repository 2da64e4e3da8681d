import { Refusal } from '../../domain/refusal.js'

const slash = 0x2f
const percent = 0x25
const noQuery: Readonly<Record<string, string>> = Object.freeze(Object.create(null))

/**
 * Splits a request target's path into decoded segments: `/a/b%2Fc` gives `['a', 'b/c']`. It splits first and then decodes
 * once, so that an escaped slash stays inside its segment; a trailing slash gives a last empty segment. Refuses with
 * `request-malformed` a bad escape, escaped bytes that are not UTF-8, and raw characters that are not printable ASCII. Dot
 * segments have no meaning: they are ordinary values, and the route's schema may refuse them. Refuses a target that is no
 * path, such as `http://host/path`, which only a proxy needs.
 */
export function segmentsOf(path: string): string[] {
  if (path.charCodeAt(0) !== slash) throw new Refusal('request-malformed', 'the request target must begin with a slash')
  const segments: string[] = []
  let start = 1
  let escaped = false
  for (let i = 1; i <= path.length; i++) {
    const code = i < path.length ? path.charCodeAt(i) : slash
    if (code === slash) {
      const raw = path.slice(start, i)
      segments.push(escaped ? decodedOnce(raw, 'path') : raw)
      start = i + 1
      escaped = false
    } else if (code === percent) escaped = true
    else if (!isTargetCharacter(code)) throw notPrintable('path')
  }
  return segments
}

/**
 * A query string as a null-prototype record, decoded once and strictly. Refuses a repeated name, because two readers of one
 * request could pick different values. Our choice: `+` is a plus sign, not a space, because user references may contain it;
 * a name without `=` has the empty value.
 */
export function queryOf(raw: string): Readonly<Record<string, string>> {
  if (raw === '') return noQuery
  // Sound: an object without a prototype and without fields is an empty record, and `__proto__` is a plain name in it.
  const query = Object.create(null) as Record<string, string>
  for (let i = 0; i < raw.length; i++) if (!isTargetCharacter(raw.charCodeAt(i))) throw notPrintable('query')
  for (const piece of raw.split('&')) {
    if (piece === '') continue
    const equals = piece.indexOf('=')
    const name = decodedOnce(equals < 0 ? piece : piece.slice(0, equals), 'query')
    if (name in query) throw new Refusal('request-malformed', 'a query parameter is given more than once')
    query[name] = equals < 0 ? '' : decodedOnce(piece.slice(equals + 1), 'query')
  }
  return query
}

/** The query of a page's address as a record of its readable parameters. A repeated name has its first value. */
export function readableQueryOf(raw: string): Readonly<Record<string, string>> {
  // Sound: as in queryOf.
  const query = Object.create(null) as Record<string, string>
  for (const piece of raw.split('&').reverse()) {
    try {
      Object.assign(query, queryOf(piece))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  }
  return query
}

/** Printable ASCII without `#` and `\`, which no request target holds unescaped. */
function isTargetCharacter(code: number): boolean {
  return code > 0x20 && code < 0x7f && code !== 0x23 && code !== 0x5c
}

function decodedOnce(raw: string, where: string): string {
  if (!raw.includes('%')) return raw
  try {
    // Throws for a bad escape and for bytes that are not UTF-8, including overlong forms and surrogates.
    return decodeURIComponent(raw)
  } catch {
    throw new Refusal(
      'request-malformed',
      `the ${where} holds a bad percent escape or escaped bytes that are not UTF-8`,
    )
  }
}

function notPrintable(where: string): Refusal {
  return new Refusal('request-malformed', `the ${where} holds a character that must be percent-escaped`)
}
