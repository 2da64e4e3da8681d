/** Users as the dashboard API gives them. */

export type ProfileStatus = 'not-ready' | 'in-progress' | 'ok' | 'full' | 'reset' | 'expired'

export interface User {
  readonly user_ref: string
  readonly type: 'nominative' | 'generic'
  readonly user_display_name: string | null
  readonly groups: readonly string[]
  readonly tag: Readonly<Record<string, string>>
  readonly n_members: number
  readonly n_patterns_ref: number
  /** Null on a shared account. */
  readonly biometric_status: ProfileStatus | null
  readonly locked: boolean
  /** Null if the user is not locked, or if only a reset, a new code or an unlock ends the lock. */
  readonly locked_until: string | null
  readonly created_at: string
  readonly last_authentication_at: string | null
}

/** A user's sign-ins in a window. */
export interface UserStatistics {
  readonly user_ref: string
  readonly n: number
  readonly authenticated: number
  readonly challenged: number
  readonly blocked: number
  readonly confidence: number | null
  readonly last_attempt_at: string | null
}

export interface LockedMember {
  readonly user_ref: string
  readonly member_ref: string
  readonly user_display_name: string | null
  /** Null if only a reset, a new code or an unlock ends the lock. */
  readonly blocked_until: string | null
}

export interface Member {
  readonly member_ref: string
  readonly user_display_name: string | null
  readonly biometric_status: ProfileStatus
  readonly n_patterns_ref: number
  readonly n_patterns_ref_visible: number
  readonly n_patterns_ref_sensitive: number
  readonly target_ref_patterns: number
  readonly security_code_set: boolean
  readonly security_code_temporary: boolean
  readonly pending_action: string | null
  readonly preferred_language: string | null
  readonly created_at: string
  readonly last_authentication_at: string | null
  readonly pattern_references: readonly { readonly kind: 'enrolled' | 'adaptive' }[]
}

export interface FullUser extends User {
  readonly members: readonly Member[]
}

/** A sign-in or an action of an operator. */
export interface LogEntry {
  readonly id: string
  readonly created_at: string
  readonly kind: 'authentication' | 'action'
  readonly member_ref: string
  /** Method of a sign-in, or name of an action. */
  readonly what: string
  readonly outcome: string
  readonly reason: string
}

/** An action of an operator. */
export interface ActionEntry {
  readonly id: string
  readonly created_at: string
  readonly action: string
  readonly member_ref: string
  readonly api_key_id: string
  readonly request_id: string
  readonly done: boolean
}
