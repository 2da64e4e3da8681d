/** Sign-ins as the dashboard API gives them. */

export type Outcome = 'auth' | 'challenge' | 'block'
type Reason = '' | 'detection-bot' | 'fraud-detected'

export interface Authentication {
  readonly id: string
  readonly created_at: string
  readonly user_ref: string
  readonly member_ref: string
  readonly account_type: 'nominative' | 'generic'
  readonly session_id: string
  readonly auth_method: 'biometric' | 'security_code'
  readonly recommended_action: Outcome
  readonly reason: Reason
  readonly confidence: number
  readonly confidence_biometrics: number
  /** Null if no context signal was known. */
  readonly confidence_context: number | null
  readonly application: string | null
  readonly ip: string | null
  readonly policy_id: string
  readonly n_patterns_ref: number
  readonly n_patterns_ref_used: number
  /** Whether the words of the session were typed; null if it is unknown. */
  readonly typed_words: 'issued' | 'other' | 'masked' | null
}

type SignalValue = string | number | boolean | null

export interface Signal {
  readonly signal: string
  readonly value: SignalValue
  /** The value that `value` was compared with. */
  readonly reference: SignalValue
  readonly weight: number
  readonly computedOutcome: number | null
}

export interface Indicator {
  readonly indicator: string
  readonly weight: number
  /** 0 to 1; null if unknown. */
  readonly score: number | null
  readonly signals: readonly Signal[]
}

export interface FullAuthentication extends Authentication {
  readonly indicators: readonly Indicator[]
  readonly tags: readonly { readonly k: string; readonly v: string }[]
}

/** A time of a press, compared with the same time in the references. */
export interface ComparedTime {
  readonly observed_ms: number
  readonly expected_ms: number
  /** Log likelihood ratio: above 0 for the person. */
  readonly spoke_for: number
  /** Number of times of this key or key pair in the references. If it is 0, the next fields are null. */
  readonly n: number
  readonly lowest_ms: number | null
  readonly highest_ms: number | null
}

export interface Press {
  readonly at: number
  /** The key before this one, and this key; null if keys are masked. */
  readonly first: string | null
  readonly second: string | null
  readonly spoke_for: number
  readonly hold: ComparedTime | null
  readonly press_press: ComparedTime | null
}

export interface Presses {
  readonly policy: {
    readonly id: string
    readonly name: string
    readonly decision_threshold: number
    readonly challenge_from: number
    readonly changed_since: boolean
  }
  readonly masked: boolean
  readonly n_references: number
  readonly n_adaptive: number
  readonly presses: readonly Press[]
  /** Signs of the whole pattern, in words. */
  readonly whole: readonly { readonly sign: string; readonly words: string }[]
}

/** The verdict of a policy on an attempt. */
export interface PolicyVerdict {
  readonly policy_id: string
  readonly name: string
  readonly is_default: boolean
  readonly is_shadow: boolean
  readonly of_attempt: boolean
  readonly recommended_action: Outcome
  readonly confidence: number
  readonly decision_threshold: number
  readonly challenge_from: number
  readonly changed: boolean
}

/** The part of a trace that describes the earlier pattern of a copy. */
export interface Trace {
  readonly copy_of: {
    readonly created_at: string
    readonly chance: number | null
    /** For each press, the probability that it was taken from an earlier typing. */
    readonly presses: readonly number[] | null
  } | null
}
