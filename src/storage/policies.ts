import type { Policy } from '../domain/policy.js'

export interface PolicyRecord {
  readonly id: string
  readonly policy: Policy
  /** The policy decides for accounts with one of these groups. The oldest of several policies has precedence. */
  readonly groups: readonly string[]
  /** The policy decides for accounts for which no policy of a group does. */
  readonly isDefault: boolean
  /** The policy judges each attempt in addition to the one that decides, and its verdicts are only counted. */
  readonly isShadow: boolean
  readonly createdAt: number
  /** Null if the policy was never changed. */
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
  /** Replaces the content of a policy. Null if it is absent or archived. */
  update(organizationId: string, id: string, content: PolicyContent, at: number): Promise<PolicyRecord | null>
  /** Archives a policy and ends its role as shadow. False if it is the default, archived or absent. */
  archive(organizationId: string, id: string, at: number): Promise<boolean>
  /** Makes the policy the only default. Null if absent or archived. */
  makeDefault(organizationId: string, id: string): Promise<PolicyRecord | null>
  /** Makes the policy the only shadow, or no shadow if `on` is false. Null if absent or archived. */
  setShadow(organizationId: string, id: string, on: boolean): Promise<PolicyRecord | null>
}
