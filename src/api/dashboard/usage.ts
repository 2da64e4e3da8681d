import { z } from 'zod'
import { bucketStarts } from '../../domain/time-window.js'
import type { UsageEvent } from '../../storage/usage.js'
import {
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  Paging,
  Row,
  unpaged,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Event = z.object({
  kind: z.enum(['enroll', 'delete', 'type-change', 'checkpoint']),
  date: z.iso.datetime(),
  n_accounts: z.int(),
  n_accounts_generic: z.int(),
  n_users_nominative: z.int(),
  n_users_generic: z.int(),
  over_quota: z.boolean(),
  baseline: z.boolean().describe('true for the state at the start of the window, which is not an event'),
})
const NO_ACCOUNTS = { nAccounts: 0, nAccountsGeneric: 0, nUsersNominative: 0, nUsersGeneric: 0, overQuota: false }

const eventOf = (event: UsageEvent, baseline: boolean): z.infer<typeof Event> => ({
  kind: event.kind,
  date: iso(event.at),
  n_accounts: event.nAccounts,
  n_accounts_generic: event.nAccountsGeneric,
  n_users_nominative: event.nUsersNominative,
  n_users_generic: event.nUsersGeneric,
  over_quota: event.overQuota,
  baseline,
})

/** The headcount ledger; with date_from, the first entry is the state at that time. */
export const usageHistory = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/usage/history',
  summary: 'The headcount ledger, oldest event first',
  description:
    'With date_from, the first entry of the first page is a baseline of kind checkpoint: the state at the start of the ' +
    'window. The count does not include it.',
  params: NoParams,
  query: withWindow({ ...Paging, limit: Paging.limit.default(500) }),
  body: NoBody,
  replies: { 200: List(Event) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const window = windowOf(query, services.now())
    const { events, count } = await services.usage.history(organizationId, window, query)
    const data = events.map((event) => eventOf(event, false))
    if (query.date_from === undefined || query.skip > 0) return { status: 200, payload: { count, data } }
    const before = await services.usage.before(organizationId, window.from)
    const baseline = eventOf({ ...(before ?? NO_ACCOUNTS), kind: 'checkpoint', at: window.from }, true)
    return { status: 200, payload: { count, data: [baseline, ...data] } }
  },
})

const CLASSES = ['verify', 'enroll', 'bootstrap', 'other'] as const

/** Requests of every day of the window, including days without any. */
export const usageApi = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/usage/api',
  summary: 'Requests per UTC day and endpoint class, with the peak of active users',
  description: 'The counts cover all three APIs and whole days. Processes report every few seconds.',
  params: NoParams,
  query: withWindow({}),
  body: NoBody,
  replies: {
    200: List(
      z.object({
        date: z.iso.datetime(),
        n_requests: z.int(),
        by_endpoint_class: z.object({ verify: z.int(), enroll: z.int(), bootstrap: z.int(), other: z.int() }),
        n_active_users_max: z.int().describe('most people who signed in within one hour of the day'),
      }),
    ),
  },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const asked = windowOf(query, services.now())
    const starts = bucketStarts(asked, 'day')
    const days = await services.usage.api(organizationId, { from: starts[0] ?? asked.from, to: asked.to })
    const data = starts.map((at) => {
      const day = days.find((one) => one.at === at)
      const [verify = 0, enroll = 0, bootstrap = 0, other = 0] = CLASSES.map((name) => day?.byClass[name] ?? 0)
      return {
        date: iso(at),
        n_requests: verify + enroll + bootstrap + other,
        by_endpoint_class: { verify, enroll, bootstrap, other },
        n_active_users_max: day?.nActiveUsersMax ?? 0,
      }
    })
    return { status: 200, payload: unpaged(data) }
  },
})
