import { z } from 'zod'
import { EVENT_KINDS, sentenceOf } from '../../domain/alert.js'
import { Refusal } from '../../domain/refusal.js'
import type { Notification } from '../../storage/notifications.js'
import {
  type DashboardServices,
  Data,
  dashboardRoute,
  Flag,
  iso,
  isoOrNull,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
} from './dashboard-route.js'

const Entry = z.object({
  id: z.string(),
  kind: z.enum(EVENT_KINDS),
  created_at: z.iso.datetime().describe('time of the event'),
  text: z.string().describe('one sentence about the event'),
  user_ref: z.string().nullable().describe('null if the event concerns the organization as a whole'),
  member_ref: z.string().nullable(),
  authentication_id: z.string().nullable().describe('see GET /authentications/{id}'),
  read: z.boolean(),
  read_at: z.iso.datetime().nullable(),
})

const entryOf = (one: Notification): z.infer<typeof Entry> => ({
  id: one.id,
  kind: one.kind,
  created_at: iso(one.at),
  text: sentenceOf(one),
  user_ref: one.userRef,
  member_ref: one.memberRef,
  authentication_id: one.authenticationId,
  read: one.readAt !== null,
  read_at: isoOrNull(one.readAt),
})

const Unread = z.int().describe('unread notifications of the organization')

export const listNotifications = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/notifications',
  summary: 'Notifications, newest first, with the number of unread ones',
  description:
    'Each event creates one notification within seconds. It is kept for 90 days; deleting an account deletes those that name it. Each ' +
    'failure that locks typing or code, or extends the lock, creates one. An attempt creates at most one more, of its most significant kind: bot, replay, ' +
    'impossible-travel, else blocked, which includes a wrong code. A replay creates one under REPLAY=flag too. `enrollment-completed` counts as read.',
  params: NoParams,
  query: z.object({ ...Paging, kind: z.enum(EVENT_KINDS).optional(), read: Flag.optional() }),
  body: NoBody,
  replies: { 200: List(Entry).extend({ unread: Unread }) },
  refuses: [],
  async handle({ organizationId, query, services }) {
    const filter = { kind: query.kind ?? null, read: query.read === undefined ? null : query.read === 'true' }
    const { notifications, count, unread } = await services.notifications.page(organizationId, filter, query)
    return { status: 200, payload: { count, unread, data: notifications.map(entryOf) } }
  },
})

const EITHER = 'must be {"all": true} or {"id"} with the id of one notification'
const Id = z.uuid().toLowerCase()
const Which = z.union([z.object({ id: Id }), z.object({ all: z.literal(true) })], EITHER)

const Marked = Data(z.object({ unread: Unread }))
type Which = z.output<typeof Which>

async function mark({ notifications }: DashboardServices, organizationId: string, which: Which) {
  if ('all' in which) await notifications.markAllRead(organizationId)
  else if (!(await notifications.markRead(organizationId, which.id)))
    throw new Refusal('nothing-found', 'no such notification')
  return { status: 200, payload: { data: { unread: await notifications.unread(organizationId) } } }
}

export const markRead = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/notifications/read',
  summary: 'Mark one or all notifications as read',
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: Which.meta({ examples: [{ all: true }, { id: '0198c0de-0000-7000-8000-000000000000' }] }),
  },
  replies: { 200: Marked },
  refuses: ['validation-failed', 'nothing-found'],
  handle: ({ organizationId, body, services }) => mark(services, organizationId, body),
})

/** As `markRead`, by another method, because the interface names both. The route writes although its method is GET. */
export const markReadByQuery = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/notifications/read',
  summary: 'Mark one or all notifications as read',
  description: 'Changes what POST changes, so the key needs `dashboard` or `dashboard:operate`.',
  onlyReads: false,
  params: NoParams,
  query: z
    .object({ all: z.literal('true').optional(), id: Id.optional() })
    .refine(
      ({ all, id }) => (all === undefined) !== (id === undefined),
      'must be all=true or id with the id of one notification',
    ),
  body: NoBody,
  replies: { 200: Marked },
  refuses: ['nothing-found'],
  handle: ({ organizationId, query: { id }, services }) =>
    mark(services, organizationId, id === undefined ? { all: true } : { id }),
})
