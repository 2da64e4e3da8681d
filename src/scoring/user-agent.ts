import Bowser from 'bowser'

/** Names without versions: an update must not make a known device a strange one. */
interface UserAgent {
  readonly browser: string | null
  readonly os: string | null
  /** `desktop`, `mobile`, `tablet`, `tv`, `bot`. */
  readonly kind: string | null
}

const UNKNOWN: UserAgent = { browser: null, os: null, kind: null }
/** Few user agents make up nearly all; reading one takes 30 µs. */
const KEPT_MAX = 2000
const kept = new Map<string, UserAgent>()

/** What a `User-Agent` text says; all null for an empty or unknown one. */
export function readUserAgent(text: string): UserAgent {
  const known = kept.get(text)
  if (known !== undefined) return known
  const read = text === '' ? UNKNOWN : parsed(text)
  if (kept.size >= KEPT_MAX) kept.clear()
  kept.set(text, read)
  return read
}

function parsed(text: string): UserAgent {
  const { browser, os, platform } = Bowser.parse(text)
  return { browser: browser.name || null, os: os.name || null, kind: platform.type || null }
}
