/** The codes of the agent (interface, Client-side codes). 0 means that the service has answered. */
export type Code = 0 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 210

export type RecommendedAction = 'auth' | 'challenge' | 'block'

/**
 * The `authentication` of a verify answer. `authenticated` and `recommendedAction` are those of the result, so that no field of it
 * says more than the result does.
 */
export interface Authentication {
  /** Id of the attempt, as in the dashboard API. */
  readonly id: string
  readonly authenticated: boolean
  readonly authMethod: string
  /** 0 to 1. */
  readonly confidence: number
  readonly recommendedAction: RecommendedAction
  /** Further fields, as the service sent them. */
  readonly [field: string]: unknown
}

export interface VerifyResult {
  /** 0 if the service has answered, which alone is no login. The README has a table of the codes. */
  readonly code: Code
  /**
   * `auth` only after a clean pass by typing, with code 0: sign the person in. Null if no pattern was judged: after an
   * enrollment, and with every code but 0 and 204.
   */
  readonly recommendedAction: RecommendedAction | null
  /** Null if the service scored nothing. */
  readonly authentication: Authentication | null
  /** After the pattern was enrolled: reference patterns held, and required. Null otherwise. */
  readonly enrollment: { readonly done: number; readonly target: number } | null
  /** One line of ASCII for a log, at most 300 characters. It has no pattern and no key. */
  readonly message: string
}

/** A result without a verdict. */
export const failed = (code: Code, message: string): VerifyResult => ({
  code,
  recommendedAction: null,
  authentication: null,
  enrollment: null,
  message: line(message),
})

/** Makes a text from another machine safe as a part of a line. */
export const line = (text: string): string => text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300)
