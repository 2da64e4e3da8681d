/** The state of a sign-in at the bridge. */
import type { SsoSituation } from '../domain/sso-code.js'
import type { MailProof } from './accounts.js'
import type { Again, SignInState, Words } from './core.js'
import type { DirectoryPerson } from './directory/directory.js'

/** Why a one-time password is asked for. */
export type PasswordPurpose = 'enroll' | 'step-up' | 'reset' | 'browser'

/** The action that the page asks the person for, or the end of the sign-in. */
export type Step =
  /** `note`: the directory does not know the name that the person entered. */
  | { readonly kind: 'name'; readonly note: SsoSituation | null }
  /** `codeLength`: digits of the security code that the person may enter instead; null if no code is accepted. */
  | {
      readonly kind: 'type'
      readonly words: Words
      readonly again: Again
      readonly challenged: boolean
      readonly codeLength: number | null
    }
  | {
      readonly kind: 'enroll'
      readonly words: Words
      readonly done: number
      readonly target: number
      readonly again: Again
    }
  /** The profile takes its next pattern at `until`, ISO 8601. */
  | { readonly kind: 'later'; readonly until: string }
  | { readonly kind: 'security-code'; readonly length: number; readonly again: Again }
  /** A one-time password is sent if the person asks for it, or was sent. */
  | {
      readonly kind: 'password'
      readonly purpose: PasswordPurpose
      readonly sent: boolean
      readonly note: SsoSituation | null
      /** Time at which the next one may be sent, epoch ms; null if it may be sent now. */
      readonly waitUntil: number | null
    }
  /** Nothing was decided, and the person may try again. */
  | { readonly kind: 'trouble'; readonly situation: SsoSituation }
  /** The sign-in ends without a login. `resettable`: the person may prove the identity by mail and enroll again. */
  | {
      readonly kind: 'refused'
      readonly situation: SsoSituation
      /** End of the lock, ISO 8601; null if there is no lock, or only an administrator ends it. */
      readonly until: string | null
      readonly resettable: boolean
    }
  /** The login is complete. `by` typing, or a one-time password after uncertain typing. */
  | { readonly kind: 'passed'; readonly by: 'typing' | 'password' }

/** The state of a sign-in between two requests, as one JSON value. */
export interface Progress {
  /** The name that the hint has or the person entered; null before either. */
  readonly name: string | null
  /** Whether the person enters the name, and so may correct it. */
  readonly entersName: boolean
  /** `sub` of the account at the upstream provider that names the person; null if none does. */
  readonly subject: string | null
  readonly person: DirectoryPerson | null
  readonly mailProof: MailProof
  /** A one-time password was right, so the person may enroll. */
  readonly proved: boolean
  /** A one-time password was right, so the browser is the person's own. */
  readonly owner: boolean
  readonly state: SignInState | null
  readonly step: Step
  /** Time at which the sign-in passed, epoch ms; null before. */
  readonly passedAt: number | null
}

/** A sign-in of the person whom a hint names, if any. */
export const begun = (name: string | null, subject: string | null): Progress => ({
  name,
  entersName: name === null,
  subject,
  person: null,
  mailProof: 'nothing',
  proved: false,
  owner: false,
  state: null,
  step: { kind: 'name', note: null },
  passedAt: null,
})
