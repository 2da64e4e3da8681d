import Bowser from 'bowser'

/** Names without versions, so that an update does not make a known device unknown. */
interface UserAgent {
  readonly browser: string | null
  readonly os: string | null
  /** `desktop`, `mobile`, `tablet`, `tv`, `bot`. */
  readonly kind: string | null
}

const UNKNOWN: UserAgent = { browser: null, os: null, kind: null }
/** A few user agents cover nearly all requests; parsing one takes 30 µs. */
const KEPT_MAX = 2000
const kept = new Map<string, UserAgent>()

/** Parses a `User-Agent` text; all fields are null if it is empty or unknown. */
export function readUserAgent(text: string): UserAgent {
  const known = kept.get(text)
  if (known !== undefined) return known
  const read = text === '' ? UNKNOWN : parsed(text)
  if (kept.size >= KEPT_MAX) kept.clear()
  kept.set(text, read)
  return read
}

/**
 * The kind of a device by its user agent and its client hint `mobile`, undefined without the hint. A phone that asks for the
 * pages of computers says so in its user agent only, so the hint counts more than `desktop`.
 */
export function deviceKind(userAgent: string, mobile: boolean | undefined): string | null {
  const { kind } = readUserAgent(userAgent)
  if (mobile === true && (kind === null || kind === 'desktop')) return 'mobile'
  return kind ?? (mobile === false ? 'desktop' : null)
}

function parsed(text: string): UserAgent {
  const { browser, os, platform } = Bowser.parse(text)
  return { browser: browser.name || null, os: os.name || null, kind: platform.type || null }
}
