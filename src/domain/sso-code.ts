/** Situations of a sign-in at the bridge with their numbers in the interface ("Client-side codes of integration components"). */
export const SSO_CODES = {
  'core-unreachable': 100,
  'not-in-directory': 101,
  'not-verified': 101,
  'other-account': 101,
  'invalid-email': 102,
  'wrong-password': 103,
  'invalid-pattern': 104,
  'mail-failed': 106,
  robot: 107,
  'not-enrolled': 108,
  blocked: 109,
  strangers: 109,
  challenged: 110,
  'verify-failed': 111,
  'password-expired': 113,
} as const
export type SsoSituation = keyof typeof SSO_CODES

/** The sentence of a situation, in the error description of a response and in the log. */
export const SSO_SENTENCES: Readonly<Record<SsoSituation, string>> = {
  'core-unreachable': 'the core API cannot be reached',
  'not-in-directory': 'the directory has no such person, or cannot be reached',
  'not-verified': 'the identity provider has not verified the claim that names this person',
  'other-account': 'another account of the identity provider has this reference, or this account has another one',
  'invalid-email': 'the directory has no valid e-mail address of this person',
  'wrong-password': 'wrong one-time password',
  'invalid-pattern': 'the typing pattern is not valid',
  'mail-failed': 'the one-time password could not be sent',
  robot: 'a robot made the typing pattern',
  'not-enrolled': 'this person has no typing profile and may not enroll here',
  blocked: 'the typing did not match, or the person is locked',
  strangers: 'no try is left for browsers that have not signed in as this person',
  challenged: 'the typing was not certain: a one-time password is needed',
  'verify-failed': 'the core API refused the call',
  'password-expired': 'the one-time password has expired',
}
