/** The checks that need no server, with the bounds of the service. Each gives the reason for its code, or null. */

const KEYDOWNS_MIN = 15
const TAGS_MAX = 32
const TAG_NAME_MAX = 64
const TAG_VALUE_MAX = 256
/** Only these fields of a pattern are sent: a page cannot name a member or an address, or try a security code. */
const FIELDS = ['agent', 'version', 'sId', 'tId', 'tags', 'kevt', 'k', 'm', 'd']

type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks for code 207, more strictly than a parser of URLs, which repairs `http:host` and drops line breaks. */
export function urlProblem(url: unknown): string | null {
  const isText = typeof url === 'string' && /^https?:\/\/[^\s\\/@?#][^\s\\@?#]*$/i.test(url)
  if (isText && URL.canParse(url)) return null
  return 'the URL of the service must be http(s)://host, without user, query and fragment'
}

/** Checks for code 202. */
export const keyProblem = (apikey: unknown): string | null =>
  typeof apikey === 'string' && /^[\x21-\x7e]+$/.test(apikey)
    ? null
    : 'the API key is empty or has characters that no key has'

/** Checks for code 210. The rule of the service: letters, digits, spaces and `. _ @ + -`, at most 128, the first a letter or digit. */
export function userRefProblem(userRef: unknown): string | null {
  const isText = typeof userRef === 'string' && /^[A-Za-z0-9._@+ -]*$/.test(userRef)
  if (isText && /^[A-Za-z0-9][A-Za-z0-9._@+ -]{0,127}$/.test(userRef.trim())) return null
  return 'the user reference must start with a letter or digit and hold only letters, digits, spaces and . _ @ + - (128 at most)'
}

/** A copy of the recorder's fields of a pattern, given as an object or as JSON; null if it is neither. */
export function patternFields(pattern: unknown): Fields | null {
  try {
    const given = JSON.parse(typeof pattern === 'string' ? pattern : JSON.stringify(pattern))
    if (!isObject(given)) return null
    return Object.fromEntries(FIELDS.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]))
  } catch {
    return null
  }
}

/** Checks for code 203. The service checks the rest. */
export function patternProblem({ agent, version, kevt, k }: Fields): string | null {
  if (!isObject(agent) || typeof agent.type !== 'string' || typeof version !== 'string')
    return 'the pattern is no JSON object of a recorder'
  if (!Array.isArray(kevt) && !Array.isArray(k)) return 'the pattern has neither key events (kevt) nor key records (k)'
  const presses = Array.isArray(kevt)
    ? kevt.filter((event) => isObject(event) && event.type === 'keydown').length
    : (k as unknown[]).length
  if (presses >= KEYDOWNS_MIN) return null
  return `the pattern has too few keyboard events: ${presses} presses, and ${KEYDOWNS_MIN} are needed`
}

/** Checks for code 208. Null stands for absent, as in the service. */
export function tagProblem({ tags }: Fields): string | null {
  if (tags == null) return null
  if (!Array.isArray(tags)) return 'the tags of the pattern are no list'
  if (tags.length > TAGS_MAX) return `the pattern has ${tags.length} tags, and ${TAGS_MAX} at most are allowed`
  const isTag = (tag: unknown) =>
    isObject(tag) && isText(tag.k, TAG_NAME_MAX) && tag.k !== '' && isText(tag.v, TAG_VALUE_MAX)
  const wrong = tags.findIndex((tag) => !isTag(tag))
  return wrong < 0
    ? null
    : `tag ${wrong + 1} must have a key k of 1 to ${TAG_NAME_MAX} and a value v of at most ${TAG_VALUE_MAX} characters`
}

/** Removes the port, the brackets and the zone that proxies and sockets add to an address. */
export const bareAddress = (ip: string): string =>
  ip
    .trim()
    .replace(/^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/, '$1$2')
    .replace(/%.*/, '')

/** Whether a value is a text of at most `max` characters, without NUL and lone surrogates. */
const isText = (value: unknown, max: number): boolean =>
  typeof value === 'string' && value.length <= max && !value.includes('\0') && !/\p{Surrogate}/u.test(value)
