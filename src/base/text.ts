/** Message for a refused string. PostgreSQL cannot store NUL, and UTF-8 cannot encode a lone surrogate. */
export const ILL_FORMED = 'must not contain NUL or a lone surrogate'

const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether a string is text: no NUL, no lone surrogate. */
export const isText = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text)

/**
 * The path of the first string in a JSON value that is not text; for a key, the path of its object. Null if all strings and
 * keys are text. The caller must bound the depth.
 */
export function illFormedPath(value: unknown, path: PropertyKey[] = []): PropertyKey[] | null {
  if (typeof value === 'string') return isText(value) ? null : path
  if (typeof value !== 'object' || value === null) return null
  const isArray = Array.isArray(value)
  for (const [key, item] of Object.entries(value)) {
    const found = isText(key) ? illFormedPath(item, [...path, isArray ? Number(key) : key]) : path
    if (found !== null) return found
  }
  return null
}

/** The first `unitsMax` UTF-16 units of a text, one less if the cut would split a surrogate pair. */
export function clipped(text: string, unitsMax: number): string {
  const last = text.charCodeAt(unitsMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax)
}
