import type { Policy } from '../domain/policy.js'

export interface PolicyRecord {
  readonly id: string
  readonly policy: Policy
  /** Judges accounts with one of these groups; of several policies the oldest. */
  readonly groups: readonly string[]
  /** Judges where no group does. */
  readonly isDefault: boolean
  /** Judges beside the one that decides; its verdicts are only counted. */
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

/** Policies of organizations. An archived one stays to be read, since records name it; nothing changes it. */
export interface PolicyStore {
  /** Live ones, oldest first; with `archived` all. */
  list(organizationId: string, archived: boolean): Promise<PolicyRecord[]>
  find(organizationId: string, id: string): Promise<PolicyRecord | null>
  create(organizationId: string, id: string, content: PolicyContent, at: number): Promise<PolicyRecord>
  /** Null for one that is not there or archived. */
  update(organizationId: string, id: string, content: PolicyContent, at: number): Promise<PolicyRecord | null>
  /** False where it is the default, archived or not there. A shadow ends with it. */
  archive(organizationId: string, id: string, at: number): Promise<boolean>
  /** The one default from now on. Null for one that is not there or archived. */
  makeDefault(organizationId: string, id: string): Promise<PolicyRecord | null>
  /** The one shadow from now on; `on` false ends it. Null for one that is not there or archived. */
  setShadow(organizationId: string, id: string, on: boolean): Promise<PolicyRecord | null>
}
