import type { KeyRate } from './key-rate.js'

export const LANGUAGE_MODES = ['auto', 'forced'] as const
/** `auto` follows `Accept-Language`, `forced` does not. */
export type LanguageMode = (typeof LANGUAGE_MODES)[number]

/** What the first start on the embedded default makes to try things with. */
export const DEMO_ORGANIZATION = 'Demo'

export interface Organization {
  readonly id: string
  readonly name: string
  readonly defaultLanguage: string
  readonly languageMode: LanguageMode
  /** Moves with every change of its typing words; 0 while there was none. */
  readonly wordsVersion: number
  /** Where browsers may be sent at the end of a profile link, origins; empty: anywhere. */
  readonly redirectOrigins: readonly string[]
  /** Of each of its keys; null: as the deployment has it. */
  readonly keyRate: KeyRate | null
  readonly createdAt: number
}

export const SCOPES = ['core', 'links', 'dashboard'] as const
export type Scope = (typeof SCOPES)[number]

/** What a key may open: an API whole, or the dashboard's reads or its writes alone. */
export const KEY_SCOPES = [...SCOPES, 'dashboard:read', 'dashboard:operate'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Whether a key opens a route of an API; `reads` says whether the route changes nothing. */
export const opens = (held: readonly KeyScope[], api: Scope, reads: boolean): boolean =>
  held.includes(api) || (api === 'dashboard' && held.includes(reads ? 'dashboard:read' : 'dashboard:operate'))

/** What an organization is licensed for; 0 is unlimited. */
export interface Quotas {
  /** `soft` creates all the same and flags the overage; `strict` refuses. */
  readonly mode: 'soft' | 'strict'
  readonly accounts: number
  readonly sharedAccounts: number
  readonly membersPerSharedAccount: number
}

export const NO_QUOTAS: Quotas = { mode: 'soft', accounts: 0, sharedAccounts: 0, membersPerSharedAccount: 0 }

/** What there is of an organization's customers. */
export interface Headcount {
  readonly nAccounts: number
  readonly nAccountsGeneric: number
  /** Members of all accounts, archived ones left out. */
  readonly nUsers: number
}

/** Whether there are more accounts than licensed, of either kind. */
export const overQuota = (quotas: Quotas, { nAccounts, nAccountsGeneric }: Headcount): boolean =>
  exceeds(nAccounts, quotas.accounts) || exceeds(nAccountsGeneric, quotas.sharedAccounts)

export const exceeds = (n: number, quota: number): boolean => quota > 0 && n > quota
