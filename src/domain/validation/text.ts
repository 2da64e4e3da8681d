/** What is refused of a string that comes in. PostgreSQL cannot store a NUL, and UTF-8 has no lone surrogate. */
export const ILL_FORMED = 'must not contain NUL or a lone surrogate'

const LONE_SURROGATE = /\p{Surrogate}/u

/** Whether a string is text: Unicode without NUL, every surrogate one of a pair. */
export const isText = (text: string): boolean => !text.includes('\0') && !LONE_SURROGATE.test(text)

/**
 * The path of the first string in a JSON value that is not text, keys of objects included; a key stands for the object that
 * has it. Null where all are. The caller has bounded the depth.
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

/** The first `unitsMax` UTF-16 units of a text, one less where they would end within a pair. */
export function clipped(text: string, unitsMax: number): string {
  const last = text.charCodeAt(unitsMax - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax)
}
