/** The organization as the dashboard API gives it. */
export interface Organization {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly default_language: string
  readonly language_mode: 'auto' | 'forced'
  readonly redirect_origins: readonly string[]
  readonly key_rate: { readonly per_second: number; readonly burst: number } | null
  readonly quotas: {
    readonly mode: 'soft' | 'strict'
    readonly accounts: number
    readonly shared_accounts: number
    readonly members_per_shared_account: number
  }
  readonly use: { readonly n_accounts: number; readonly n_accounts_generic: number; readonly n_users: number }
  readonly over_quota: boolean
  readonly trial: boolean
  /** Accounts of made-up people; 0 unless the service is for trials. */
  readonly n_made_up: number
}
