import { z } from 'zod'
import { Refusal } from '../../domain/refusal.js'
import type { LoggedRequest } from '../../storage/usage.js'
import {
  type DashboardServices,
  Data,
  dashboardRoute,
  iso,
  List,
  NoBody,
  NoParams,
  NoQuery,
  Paging,
  Row,
  windowOf,
  withWindow,
} from './dashboard-route.js'

const Entry = z.object({
  id: z.string().describe("the request's X-Request-Id"),
  created_at: z.iso.datetime(),
  api: z.string(),
  method: z.string(),
  route: z.string().describe('the template of the path; the values in the path are not stored'),
  status: z.int(),
  duration_ms: z.number(),
})

function entryOf({ id, api, method, route, status, durationMs }: LoggedRequest): z.infer<typeof Entry> {
  // The id is a UUIDv7: its first 48 bits are the time in ms.
  const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return { id, created_at: iso(at), api, method: method.toUpperCase(), route, status, duration_ms: durationMs }
}

const Filter = withWindow({ ...Paging, outcome: z.enum(['ok', 'failed']).optional() })

async function entries(services: DashboardServices, organizationId: string, given: z.output<typeof Filter>) {
  const failed = given.outcome === undefined ? null : given.outcome === 'failed'
  const window = windowOf(given, services.now())
  const { requests, count } = await services.usage.requests(organizationId, window, given, failed)
  return { status: 200, payload: { count, data: requests.map(entryOf) } }
}

async function entry(services: DashboardServices, organizationId: string, id: string) {
  const found = await services.usage.request(organizationId, id)
  if (found === null) throw new Refusal('nothing-found', 'no such log entry')
  return { status: 200, payload: { data: entryOf(found) } }
}

const KEPT =
  'An entry is kept for 30 days, without any data that the client sent. Successful bootstraps, enrollments and verifies have no entry: ' +
  '/usage/api counts them.'
const Id = z.object({ id: z.uuid().toLowerCase() })

export const listLogs = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/logs',
  summary: 'Requests of the organization, newest first',
  description: KEPT,
  params: NoParams,
  query: Filter,
  body: NoBody,
  replies: { 200: List(Entry) },
  refuses: [],
  handle: ({ organizationId, query, services }) => entries(services, organizationId, query),
})

/** As `listLogs`, with the parameters in the body. */
export const searchLogs = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/logs',
  onlyReads: true,
  summary: 'Requests of the organization, newest first',
  description: KEPT,
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: Filter.meta({ examples: [{ outcome: 'failed', limit: 20 }] }) },
  replies: { 200: List(Entry) },
  refuses: ['validation-failed'],
  handle: ({ organizationId, body, services }) => entries(services, organizationId, body),
})

export const oneLog = dashboardRoute({
  ...Row,
  method: 'get',
  path: '/logs/{id}',
  summary: 'One request of the log',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(Entry) },
  refuses: ['nothing-found'],
  handle: ({ organizationId, params, services }) => entry(services, organizationId, params.id),
})

/** As `oneLog`, by another method, because the interface names both. */
export const readLog = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/logs/{id}',
  onlyReads: true,
  summary: 'One request of the log',
  params: Id,
  query: NoQuery,
  body: NoBody,
  replies: { 200: Data(Entry) },
  refuses: ['nothing-found'],
  handle: ({ organizationId, params, services }) => entry(services, organizationId, params.id),
})
