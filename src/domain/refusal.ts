/**
 * The closed set of refusals. `src/http` maps each kind to a status and a wire reason; a kind without a mapping does not
 * compile. The domain contains no status codes.
 */
export type RefusalKind =
  | 'request-malformed'
  | 'key-missing'
  | 'key-scope'
  | 'cross-site'
  | 'path-unknown'
  | 'method-not-allowed'
  | 'body-too-large'
  | 'media-type-unsupported'
  | 'validation-failed'
  | 'session-missing'
  | 'member-required'
  | 'member-mismatch'
  | 'user-not-found'
  | 'pattern-not-found'
  | 'nothing-found'
  | 'policy-default'
  | 'key-own'
  | 'account-type'
  | 'member-exists'
  | 'accounts-quota'
  | 'shared-accounts-quota'
  | 'members-quota'
  | 'pattern-invalid'
  | 'words-not-typed'
  | 'bot-detected'
  | 'replay-detected'
  | 'profile-complete'
  | 'profile-locked'
  | 'too-soon'
  | 'typing-word-not-found'
  | 'link-unknown'
  | 'core-word'
  | 'typing-word-taken'
  | 'typing-words-bound'
  | 'security-code-weak'
  | 'rate-limited'
  | 'over-rate'
  | 'overloaded'
  | 'degraded'
  | 'internal'

/** Thrown to refuse a call. `message` is sent to the caller: it never contains a value of a pattern, a code or a key. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly retryAfterS?: number,
    /** The cause of the refusal, for the log. It is not sent. */
    cause?: unknown,
  ) {
    super(message, { cause })
  }
}

/** The same message for a missing, expired, foreign or unknown session (interface, Authentication 4). */
export const sessionMissing = () =>
  new Refusal('session-missing', 'X-Service-Session is missing or expired: bootstrap with GET /users/{userRef}')

/** Sent only to a caller with a live session of the account. */
export const sessionOfAnother = () =>
  new Refusal(
    'session-missing',
    'X-Service-Session belongs to another member_ref of this account: bootstrap with GET /users/{userRef} for this one',
  )

/** The same message for every unusable link, so that a caller cannot distinguish the causes. */
export const linkUnknown = () =>
  new Refusal('link-unknown', 'there is no such link: it was used, revoked, replaced by a newer one, or has expired')

export const tooManyCodes = (retryAfterS: number) =>
  new Refusal('rate-limited', 'too many security codes at once: try again shortly', retryAfterS)

export const profileLocked = () =>
  new Refusal('profile-locked', 'an administrator has locked this person: no pattern is enrolled until the unlock')

export const userNotFound = () => new Refusal('user-not-found', 'no user of this reference in this organization')

export const memberNotFound = () => new Refusal('user-not-found', 'no member of this reference on this account')
