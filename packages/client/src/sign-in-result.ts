/** The input and the results of a sign-in. A login is complete with the kind `authenticated` only. */

export interface SignInInput {
  readonly userRef: string
  /** The member of a shared account; after `choose-member`. */
  readonly memberRef?: string | undefined
  /** Address of the end user, as your server sees it: `203.0.113.7:51008` counts as `203.0.113.7`. Null if it is not known. */
  readonly ip: string | null
  /** The recorder's pattern from the browser, as an object or as the JSON of a form. Omit it to begin. */
  readonly pattern?: unknown
  readonly securityCode?: string | undefined
  /** The state of the result before. It belongs in the server's own session, not in the page. */
  readonly state?: SignInState | undefined
  /** Language of the words, such as `fr`. */
  readonly language?: string | undefined
  /** Whether an unknown person may be created and enrolled, and an incomplete profile completed. Default true. */
  readonly mayEnroll?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** One JSON value that continues a sign-in. */
export interface SignInState {
  /** `userRef` as the caller gave it. */
  readonly asked: string
  /** Normalized by the service. */
  readonly userRef: string
  /** Null on an account of one person. */
  readonly memberRef: string | null
  readonly sessionId: string
  readonly enrolling: boolean
  readonly codeLength: number
}

/** Words for the typing widget. */
export interface Words {
  readonly suggestedWords: readonly string[]
  readonly suggestedWordsLanguage: string
}

/** Why a step is asked again; null the first time. */
export type Again =
  | null
  /** The pattern or the code is not valid; nothing was scored. */
  | 'invalid-data'
  | 'detection-bot'
  | 'fraud-detected'
  /** The session is over: the pattern was not scored. */
  | 'session-expired'
  /** That kind of attempt was not open: nothing was scored. */
  | 'session-used-up'
  | 'typing-locked'
  | 'code-locked'
  | 'code-not-set'
  | 'code-used'
  | 'fallback-off'
  | 'typing-first'

/** The next steps that are open to the person. */
export type Next =
  | { readonly mode: 'type'; readonly words: Words; readonly remaining: number; readonly codeOpen: boolean }
  | { readonly mode: 'code'; readonly codeLength: number; readonly remaining: number }
  /** The attempts of this sign-in are used up, and the person is not locked: begin a new one, without `state`. */
  | { readonly mode: 'start-over' }
  | Locked
interface Locked {
  readonly mode: 'locked'
  /** Null if waiting does not help and an administrator has to act. */
  readonly retryAfterSeconds: number | null
  /** ISO 8601, by this machine's clock; null if waiting does not help. */
  readonly until: string | null
}

/** The scores of an attempt. */
export interface Scores {
  readonly authenticationId: string
  readonly confidence: number
  readonly confidenceBiometrics: number
  readonly confidenceContext: number
}

export type SignIn =
  /** The person types the words to sign in, or with `codeOpen` may give the code. */
  | {
      readonly kind: 'type'
      readonly words: Words
      readonly codeOpen: boolean
      readonly again: Again
      readonly state: SignInState
    }
  /** The person types the words as pattern `done + 1` of `target`. No login. */
  | {
      readonly kind: 'enroll'
      readonly words: Words
      readonly done: number
      readonly target: number
      readonly again: Again
      readonly state: SignInState
    }
  /**
   * The profile is not complete, and takes its next pattern at `until` (ISO 8601, by this machine's clock): then begin a new
   * sign-in, without `state`. The pattern was stored, or came too early or after too many that could not be used.
   */
  | { readonly kind: 'later'; readonly retryAfterSeconds: number; readonly until: string }
  /** Typing is not open, the security code is. */
  | { readonly kind: 'code-needed'; readonly codeLength: number; readonly again: Again; readonly state: SignInState }
  /** A shared account: continue with `memberRef`. `members` is empty if the person has to name it. */
  | { readonly kind: 'choose-member'; readonly members: readonly string[]; readonly state: SignInState }
  /** There is no complete profile, and `mayEnroll` is false. */
  | { readonly kind: 'not-enrolled' }
  /** The person was recognized by typing: complete the login. */
  | { readonly kind: 'authenticated'; readonly userRef: string; readonly memberRef: string; readonly scores: Scores }
  /**
   * No clean pass: ask for another factor before a login. With `by: 'security_code'` the code matched and no typing was checked;
   * `mustChangeCode` says that the code was temporary. With `by: 'typing'` the typing was not certain; `next` is open in this sign-in.
   */
  | {
      readonly kind: 'challenged'
      readonly by: 'security_code'
      readonly mustChangeCode: boolean
      readonly scores: Scores
    }
  | {
      readonly kind: 'challenged'
      readonly by: 'typing'
      readonly scores: Scores
      readonly next: Next
      readonly state: SignInState
    }
  /** No login. `reason` is empty if typing or code did not match. */
  | {
      readonly kind: 'blocked'
      readonly reason: '' | 'detection-bot' | 'fraud-detected'
      readonly scores: Scores
      readonly next: Next
      readonly state: SignInState
    }
  /** The attempts of this sign-in are used up, and none was made. The person is not locked: begin a new one, without `state`. */
  | { readonly kind: 'start-over'; readonly again: Again }
  /** No attempt is open, and none was made. */
  | ({ readonly kind: 'locked'; readonly again: Again; readonly state: SignInState } & Omit<Locked, 'mode'>)
