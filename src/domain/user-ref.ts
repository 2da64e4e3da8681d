import { z } from 'zod'

const ALLOWED_INPUT = /^[A-Za-z0-9._@+ -]*$/
const NORMALIZED = /^[a-z0-9][a-z0-9._@+-]{0,127}$/

/**
 * The only normalisation of `userRef` and `member_ref`: ASCII allow-list, trim, lower-case, each space becomes `-`. The
 * allow-list is first, so that only U+0020 counts as a space. It refuses tab, line feed, U+00A0, the byte order mark, and
 * letters outside ASCII whose lower case is ASCII (the Kelvin sign). The input is percent-decoded. Null if the result does not
 * match `[a-z0-9][a-z0-9._@+-]{0,127}`.
 */
export function normalizeUserRef(text: string): string | null {
  if (!ALLOWED_INPUT.test(text)) return null
  const normalized = text.trim().toLowerCase().replaceAll(' ', '-')
  return NORMALIZED.test(normalized) ? normalized : null
}

/** The rule for references, as the end of a sentence about one. */
export const USER_REF_RULE =
  'must start with a letter or digit and hold only letters, digits, spaces and . _ @ + - (128 at most)'

/** A user or member reference on the wire: accepts any spelling and returns the normalized one. */
export const UserRef = z.string().transform((text, context) => {
  const normalized = normalizeUserRef(text)
  if (normalized !== null) return normalized
  context.addIssue({ code: 'custom', message: USER_REF_RULE })
  return z.NEVER
})

/** User references of made-up people begin with this; a service for trials deletes such people with their counts. */
export const MADE_UP_PREFIX = 'made-up-'
