import type { Policy } from '../domain/policy.js'

export interface PolicyRecord {
  readonly id: string
  readonly policy: Policy
  /** Decides for accounts with one of these groups; the oldest of several policies wins. */
  readonly groups: readonly string[]
  /** Decides for accounts without a group's policy. */
  readonly isDefault: boolean
  /** Its verdicts are only counted, in addition to the policy that decides. */
  readonly isShadow: boolean
  readonly createdAt: number
  /** Null: never changed. */
  readonly updatedAt: number | null
  readonly archivedAt: number | null
}

export interface PolicyContent {
  readonly policy: Policy
  readonly groups: readonly string[]
}

/** Policies of organizations. An archived policy is read-only, and kept because records name it. */
export interface PolicyStore {
  /** Live policies, oldest first; with `archived` all policies. */
  list(organizationId: string, archived: boolean): Promise<PolicyRecord[]>
  find(organizationId: string, id: string): Promise<PolicyRecord | null>
  create(organizationId: string, id: string, content: PolicyContent, at: number): Promise<PolicyRecord>
  /** Null if absent or archived. */
  update(organizationId: string, id: string, content: PolicyContent, at: number): Promise<PolicyRecord | null>
  /** False if it is the default, archived or absent. Ends its role as shadow. */
  archive(organizationId: string, id: string, at: number): Promise<boolean>
  /** Makes it the only default. Null if absent or archived. */
  makeDefault(organizationId: string, id: string): Promise<PolicyRecord | null>
  /** Makes it the only shadow; `on` false ends that. Null if absent or archived. */
  setShadow(organizationId: string, id: string, on: boolean): Promise<PolicyRecord | null>
}
