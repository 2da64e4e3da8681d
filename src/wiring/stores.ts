import type { Clock } from '../flows/process/clock.js'
import type { Check } from '../flows/process/health.js'
import type { AccountStore } from '../storage/account.js'
import type { AlertStore } from '../storage/alerts.js'
import type { ApiKeyStore } from '../storage/api-key.js'
import type { AttemptLockStore } from '../storage/attempt-lock.js'
import type { AttemptLog } from '../storage/attempt-log.js'
import type { AuthenticationStore } from '../storage/authentication.js'
import type { CodeHash } from '../storage/code-hash.js'
import type { ComparisonSetStore } from '../storage/comparison-set.js'
import type { Directory } from '../storage/directory.js'
import type { ErasureStore } from '../storage/erasures.js'
import type { ExportStore } from '../storage/exports.js'
import type { Geography } from '../storage/geography.js'
import type { InvalidPatternStore } from '../storage/invalid-patterns.js'
import type { JobQueueStore } from '../storage/job-queue.js'
import type { KeyRing } from '../storage/key-ring.js'
import type { KeyWrap } from '../storage/key-wrap.js'
import type { NotificationStore } from '../storage/notifications.js'
import type { OneTimePasswordStore } from '../storage/one-time-password.js'
import type { OrganizationStore } from '../storage/organization.js'
import type { Outbox } from '../storage/outbox.js'
import type { PendingActionStore } from '../storage/pending-action.js'
import type { PlacementStore } from '../storage/placement.js'
import type { PolicyStore } from '../storage/policies.js'
import type { PreferredLanguageStore } from '../storage/preferred-language.js'
import type { ProfileStore } from '../storage/profile.js'
import type { ProfileLinkStore } from '../storage/profile-link.js'
import type { RateAccounts } from '../storage/rate-account.js'
import type { RefusedPatternStore } from '../storage/refused-patterns.js'
import type { RetentionStore } from '../storage/retention.js'
import type { SecurityCodeStore } from '../storage/security-code.js'
import type { SessionStore } from '../storage/session.js'
import type { SsoAccountStore } from '../storage/sso-account.js'
import type { SsoArtifactStore } from '../storage/sso-artifact.js'
import type { SsoKeyStore } from '../storage/sso-key.js'
import type { StatisticsStore } from '../storage/statistics.js'
import type { StrangerTryStore } from '../storage/stranger-tries.js'
import type { SystemStore } from '../storage/system.js'
import type { TypingWordStore } from '../storage/typing-words.js'
import type { UsageStore } from '../storage/usage.js'
import type { UserLogStore } from '../storage/user-log.js'
import type { Vault } from '../storage/vault.js'
import type { WrappedKeyStore } from '../storage/wrapped-key.js'

/** The stores of organizations and people, in one database or over several. */
export interface DataStores {
  readonly organizations: OrganizationStore
  readonly apiKeys: ApiKeyStore
  readonly accounts: AccountStore
  readonly profiles: ProfileStore
  readonly profileLinks: ProfileLinkStore
  readonly pendingActions: PendingActionStore
  readonly comparisonSets: ComparisonSetStore
  readonly authentications: AuthenticationStore
  readonly attemptLog: AttemptLog
  readonly statistics: StatisticsStore
  readonly policies: PolicyStore
  readonly usage: UsageStore
  readonly directory: Directory
  readonly alerts: AlertStore
  readonly notifications: NotificationStore
  readonly outbox: Outbox
  readonly attemptLocks: AttemptLockStore
  readonly invalidPatterns: InvalidPatternStore
  readonly refusedPatterns: RefusedPatternStore
  readonly securityCodes: SecurityCodeStore
  readonly typingWords: TypingWordStore
  readonly preferredLanguages: PreferredLanguageStore
  readonly sessions: SessionStore
  readonly ssoArtifacts: SsoArtifactStore
  readonly oneTimePasswords: OneTimePasswordStore
  readonly ssoKeys: SsoKeyStore
  readonly ssoAccounts: SsoAccountStore
  readonly strangerTries: StrangerTryStore
  readonly jobQueue: JobQueueStore
  readonly system: SystemStore
  readonly exports: ExportStore
  readonly retention: RetentionStore
  readonly erasures: ErasureStore
  readonly userLog: UserLogStore
  readonly wrappedKeys: WrappedKeyStore
}

/** One database of the service. */
export interface OneDatabase {
  readonly name: string
  readonly stores: Stores
  readonly placements: PlacementStore
  /** Connection string of the server in use. */
  readonly server: () => string
  /** Names of the checks of this database and its Redis alone; none if it is the only one. */
  readonly checks: readonly string[]
  /** Why it could not be opened at the start; null if it was. */
  readonly away: string | null
  /** Migrations that opening applied. */
  readonly migrated: readonly string[]
  /** Statements that an administrator must run before `pg_dump` can back up the database; null if none. */
  readonly backupRoleSql: () => Promise<string | null>
}

/** Every store of the service, and the clock and checks that belong to them. */
export interface Stores extends DataStores {
  readonly codeHash: CodeHash
  /** Null without Redis. */
  readonly rateAccounts: RateAccounts | null
  /** Ends all sessions, in PostgreSQL and in Redis. */
  readonly endEverySession: () => Promise<void>
  /** Ends every profile link. */
  readonly endEveryLink: () => Promise<void>
  /** Deletes the sessions and rates of a deleted organization from Redis. */
  readonly endSessionsOf: (organizationId: string) => Promise<void>
  readonly geography: Geography
  readonly vault: Vault
  readonly keyRing: KeyRing
  readonly keyWrap: KeyWrap
  /** Ports of the database servers and Redis nodes. */
  readonly ports: ReadonlySet<number>
  /** The clock for all stored times and comparisons with them. */
  readonly clock: Clock
  /** Checks for the health of the stores. */
  readonly checks: readonly Check[]
  /** PostgreSQL is the embedded one. */
  readonly embedded: boolean
  /** Every database by itself, for jobs and administration; with one database, these stores. */
  readonly databases: readonly OneDatabase[]
  /** Index of the organization's database; null while it is unknown or cannot be used. */
  readonly databaseOf: (organizationId: string) => number | null
  close(): Promise<void>
}
