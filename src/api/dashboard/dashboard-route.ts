import { z } from 'zod'
import type { ProfileTargets } from '../../domain/biometric-status.js'
import type { ContextIndicator } from '../../domain/context/signal.js'
import { BUCKETS, bucketStart, momentOf, WINDOW_DEFAULT_MS, WINDOW_MAX_MS } from '../../domain/time-window.js'
import { UserRef } from '../../domain/user-ref.js'
import type { MadeUpPeopleFlows } from '../../flows/account/made-up-people.js'
import type { AlertFlows } from '../../flows/alert/alerts.js'
import type { ExportFlows } from '../../flows/insight/exports.js'
import type { InspectFlows } from '../../flows/insight/inspect.js'
import type { Series } from '../../flows/insight/series.js'
import type { KeyFlows } from '../../flows/organization/keys.js'
import type { PolicyFlows } from '../../flows/organization/policies.js'
import type { SystemState } from '../../flows/process/system.js'
import type { UserActionFlows } from '../../flows/profile/user-actions.js'
import { routesFor } from '../../http/route.js'
import type { AccountStore } from '../../storage/account.js'
import type { AttemptLog } from '../../storage/attempt-log.js'
import type { Directory } from '../../storage/directory.js'
import type { NotificationStore } from '../../storage/notifications.js'
import type { OrganizationStore } from '../../storage/organization.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { StatisticsStore } from '../../storage/statistics.js'
import type { UsageStore } from '../../storage/usage.js'

interface Build {
  readonly version: string
  /** Version of Node.js. */
  readonly node: string
  /** The HTTP server and its version. */
  readonly http_server: string
  /** Name of the model file without its extension, and SHA-256 of its bytes. */
  readonly model: { readonly name: string; readonly sha256: string }
  readonly roles: readonly string[]
}

/** Services of the dashboard API's handlers. */
export interface DashboardServices {
  readonly directory: Directory
  readonly rosters: Pick<AccountStore, 'roster'>
  readonly references: Pick<ProfileStore, 'references'>
  readonly attemptLog: AttemptLog
  readonly statistics: StatisticsStore
  readonly policies: PolicyFlows
  readonly organizations: Pick<OrganizationStore, 'find' | 'license'>
  readonly keys: KeyFlows
  readonly alerts: AlertFlows
  readonly notifications: NotificationStore
  readonly usage: UsageStore
  readonly series: Series
  readonly inspect: InspectFlows
  readonly exports: ExportFlows
  readonly userActions: UserActionFlows
  /** The state of the deployment; see `createSystem`. */
  readonly system: () => Promise<SystemState>
  /** The build of this process, and the roles that it has. */
  readonly build: () => Build
  /** The service is for trials: clients may offer made-up people. */
  readonly trial: boolean
  readonly madeUpPeople: MadeUpPeopleFlows
  readonly targets: ProfileTargets
  /** Context indicators enabled in this deployment. */
  readonly contextIndicators: readonly ContextIndicator[]
  readonly now: () => number
}

/** Creates a row of the dashboard API's route table. */
export const dashboardRoute = routesFor<DashboardServices>()

/** Properties shared by nearly all routes of the dashboard. */
export const Row = {
  countedAs: 'other',
  lane: 'dashboard',
  needsKey: true,
  needsSession: false,
} as const
export const NoParams = z.object({})
export const NoQuery = z.object({})
export const NoBody = { kind: 'none' } as const
export const UserParams = z.object({ userRef: UserRef })

const LIMIT_MAX = 500
/** Our choice: deeper paging needs an export. */
const SKIP_MAX = 1_000_000
/** Coerces the text of a query; a body already has a number. */
const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

export const Paging = {
  skip: wholeNumber(0, SKIP_MAX).default(0),
  limit: wholeNumber(1, LIMIT_MAX).default(50),
}
export const PagingQuery = z.object(Paging)

/** The schema of every incoming time; `momentOf` parses it. */
export const Moment = z
  .string()
  .max(64)
  .refine((text) => !Number.isNaN(momentOf(text)), {
    error:
      'must be an ISO 8601 date or date-time from 2000-01-01 to 2100-01-01, such as 2026-11-01 or 2026-11-01T00:00Z',
  })
  .meta({ examples: ['2026-11-01T00:00Z'] })
const MOMENT =
  'ISO 8601 date or date-time from 2000-01-01 to 2100-01-01; UTC if it has no offset; a date means its midnight'

/** Bounds of a window, both optional. The default end is now; the default start is the hour 30 days before the end. */
export const Window = {
  date_from: Moment.optional().describe(`${MOMENT}. Default: the start of the hour 30 days before date_to`),
  date_to: Moment.optional().describe(`${MOMENT}. Exclusive. Default: now. At most 400 days after date_from`),
}

/** A query or body schema with a validated window, which `windowOf` reads. */
export function withWindow<S extends z.ZodRawShape>(shape: S) {
  return z.object({ ...Window, ...shape }).superRefine((given, context) => {
    // Sound: the shape contains Window.
    const { date_from, date_to } = given as { date_from?: string; date_to?: string }
    const problem = windowProblem(date_from, date_to)
    if (problem !== null) context.addIssue({ code: 'custom', path: ['date_from'], message: problem })
  })
}

export function windowProblem(from: string | undefined, to: string | undefined): string | null {
  if (from === undefined || to === undefined) return null
  const length = momentOf(to) - momentOf(from)
  if (length < 0) return 'must not be after date_to'
  return length > WINDOW_MAX_MS ? 'must be at most 400 days before date_to' : null
}

export function windowOf(given: { date_from?: string | undefined; date_to?: string | undefined }, now: number) {
  const from = given.date_from === undefined ? null : momentOf(given.date_from)
  const to = given.date_to === undefined ? Math.max(now, (from ?? 0) + 1) : momentOf(given.date_to)
  // The default starts on a full hour: only full hours are counted in advance.
  const usual = bucketStart(to - WINDOW_DEFAULT_MS, 'hour')
  // Validation bounds a window only if both ends are given.
  return { from: Math.max(from ?? usual, to - WINDOW_MAX_MS), to }
}

/** Bucket length of a series. */
export const BucketField = z.enum(BUCKETS).default('day').describe('bucket length; UTC, weeks begin on Monday')
export const Flag = z.enum(['true', 'false'])

export const Data = <T extends z.ZodType>(data: T) => z.object({ data })
export const List = <T extends z.ZodType>(item: T) =>
  z.object({ count: z.int().describe('number of all matches, not of this page'), data: z.array(item) })

/** The payload of a list without paging. */
export const unpaged = <T>(data: readonly T[]) => ({ count: data.length, data })

/** Epoch ms as ISO 8601. */
export const iso = (at: number): string => new Date(at).toISOString()
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))
