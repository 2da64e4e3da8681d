import type { KeyRate } from './key-rate.js'

export const LANGUAGE_MODES = ['auto', 'forced'] as const
/** `auto` uses `Accept-Language`, `forced` ignores it. */
export type LanguageMode = (typeof LANGUAGE_MODES)[number]

/** Name of the organization that the first start with embedded stores creates for trials. */
export const DEMO_ORGANIZATION = 'Demo'

export interface Organization {
  readonly id: string
  readonly name: string
  readonly defaultLanguage: string
  readonly languageMode: LanguageMode
  /** Increases with every change of its typing words; 0 before the first. */
  readonly wordsVersion: number
  /** Origins that browsers may be redirected to at the end of a profile link; empty permits any. */
  readonly redirectOrigins: readonly string[]
  /** Limit of each of the organization's keys; null means the deployment's limit. */
  readonly keyRate: KeyRate | null
  readonly createdAt: number
}

export const SCOPES = ['core', 'links', 'dashboard'] as const
export type Scope = (typeof SCOPES)[number]

/** Scopes of a key: a whole API, or only the dashboard's reads or writes. */
export const KEY_SCOPES = [...SCOPES, 'dashboard:read', 'dashboard:operate'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Whether a key's scopes allow a route of an API; `reads` if the route changes nothing. */
export const scopesAllow = (held: readonly KeyScope[], api: Scope, reads: boolean): boolean =>
  held.includes(api) || (api === 'dashboard' && held.includes(reads ? 'dashboard:read' : 'dashboard:operate'))

/** Whether a key with these scopes may give all the wanted ones to another key: it never gives more than it has. */
export const scopesInclude = (held: readonly KeyScope[], wanted: readonly KeyScope[]): boolean =>
  wanted.every((scope) => {
    if (held.includes(scope)) return true
    if (scope === 'dashboard') return held.includes('dashboard:read') && held.includes('dashboard:operate')
    return scope.startsWith('dashboard:') && held.includes('dashboard')
  })

/** An organization's licensed counts; 0 means unlimited. */
export interface Quotas {
  /** Above the quota, `soft` creates and flags the overage, `strict` refuses. */
  readonly mode: 'soft' | 'strict'
  readonly accounts: number
  readonly sharedAccounts: number
  readonly membersPerSharedAccount: number
}

export const NO_QUOTAS: Quotas = { mode: 'soft', accounts: 0, sharedAccounts: 0, membersPerSharedAccount: 0 }

/** Numbers of an organization's accounts and members. */
export interface Headcount {
  readonly nAccounts: number
  readonly nAccountsGeneric: number
  /** Members of all accounts, without archived ones. */
  readonly nUsers: number
}

/** Whether the accounts or the shared accounts exceed the licence. */
export const overQuota = (quotas: Quotas, { nAccounts, nAccountsGeneric }: Headcount): boolean =>
  exceeds(nAccounts, quotas.accounts) || exceeds(nAccountsGeneric, quotas.sharedAccounts)

export const exceeds = (n: number, quota: number): boolean => quota > 0 && n > quota
