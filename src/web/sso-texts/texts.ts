import type { SsoSituation } from '../../domain/sso-code.js'
import type { Saying } from '../browser/page-data.js'

/** The headings of a page of a sign-in. */
export type SsoHeading =
  | 'name'
  | 'type'
  | 'enroll'
  | 'later'
  | 'security-code'
  | 'password'
  | 'trouble'
  | 'refused'
  | 'passed'

/** The texts of the bridge in one language. */
export interface SsoTexts {
  readonly steps: Readonly<Record<SsoHeading, Saying>>
  readonly notes: Readonly<Record<SsoSituation, string>>
  readonly name: string
  readonly code: string
  readonly password: string
  /** `{address}`. */
  readonly sentTo: string
  readonly send: string
  readonly sendAgain: string
  /** `{minutes}`. */
  readonly wait: string
  /** `{minutes}`. */
  readonly locked: string
  /** `{when}`, such as `in 20 hours`. */
  readonly later: string
  readonly reset: string
  readonly retry: string
  readonly cancel: string
  readonly ended: Saying
  /** Too many people begin a sign-in at once. */
  readonly busy: Saying
  readonly failed: Saying
  readonly signOut: Saying & { readonly yes: string }
  readonly signedOut: Saying
  readonly mail: {
    /** `{host}`. */
    readonly subject: string
    /** `{password}`, `{minutes}`, `{host}`. */
    readonly text: string
  }
}
