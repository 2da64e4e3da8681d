/**
 * Every way the service says no, as a closed set. The http floor maps each kind to a status and a wire reason; a kind
 * without a mapping does not compile. The domain knows no status codes.
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
  | 'account-type'
  | 'member-exists'
  | 'accounts-quota'
  | 'shared-accounts-quota'
  | 'members-quota'
  | 'pattern-invalid'
  | 'bot-detected'
  | 'replay-detected'
  | 'profile-complete'
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

/** A no that travels by throw. `message` goes to the caller: it never carries a value of a pattern, a code or a key. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  constructor(
    readonly kind: RefusalKind,
    message: string,
    readonly retryAfterS?: number,
  ) {
    super(message)
  }
}

/** The one sentence for a missing, expired, foreign or unknown session (interface, Authentication 4). */
export const sessionMissing = () =>
  new Refusal('session-missing', 'X-Service-Session is missing or expired: bootstrap with GET /users/{userRef}')

/** Said only to a caller who holds a live session of the account. */
export const sessionOfAnother = () =>
  new Refusal(
    'session-missing',
    'X-Service-Session belongs to another member_ref of this account: bootstrap with GET /users/{userRef} for this one',
  )

/** The one sentence for every link that is not to be used: nobody learns which of these it is. */
export const linkUnknown = () =>
  new Refusal('link-unknown', 'there is no such link: it was used, revoked, replaced by a newer one, or has expired')

export const userNotFound = () => new Refusal('user-not-found', 'no user of this reference in this organization')

export const memberNotFound = () => new Refusal('user-not-found', 'no member of this reference on this account')
