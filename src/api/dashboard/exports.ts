import { z } from 'zod'
import { EXPORT_KINDS, EXPORT_STATUSES } from '../../domain/export.js'
import { dashboardRoute, iso, List, NoParams, NoQuery, Row, Window, windowOf, withWindow } from './dashboard-route.js'

const Archive = z.object({
  id: z.string(),
  kind: z.enum(EXPORT_KINDS),
  date_from: z.iso.datetime(),
  date_to: z.iso.datetime(),
  status: z.enum(EXPORT_STATUSES),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  size: z.int().nullable().describe('bytes of the zip; null until ready'),
})

const Asked = withWindow({
  date_from: Window.date_from.unwrap(),
  date_to: Window.date_to.unwrap(),
  kind: z
    .enum(EXPORT_KINDS)
    .default('authentications')
    .describe('authentications, the request log, or the headcount ledger'),
}).meta({ examples: [{ date_from: '2026-11-01T00:00:00Z', date_to: '2026-12-01T00:00:00Z', kind: 'authentications' }] })

/** Queues an export and answers at once; a job writes the archive. */
export const exportLog = dashboardRoute({
  ...Row,
  lane: 'batch',
  method: 'post',
  path: '/management/export-log',
  summary: 'Export authentications, the request log or the ledger as CSV in a zip',
  description:
    'The call answers at once; /management/logs-archives shows when the archive is ready. An archive is kept for 7 days. Deleting an ' +
    'account removes the archives that hold its sign-ins, and restarts one in progress. Request a failed archive again. At most 10 may be queued.',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: Asked },
  replies: { 202: z.object({ id: z.string(), data: z.object({ id: z.string() }) }) },
  refuses: ['validation-failed', 'rate-limited'],
  async handle({ organizationId, body, services }) {
    const id = await services.exports.ask(organizationId, body.kind, windowOf(body, services.now()))
    return { status: 202, payload: { id, data: { id } }, message: 'Queued' }
  },
})

/** All archives, without paging: few exist, and each is deleted after a week. */
export const exportArchives = dashboardRoute({
  ...Row,
  method: 'post',
  path: '/management/logs-archives',
  onlyReads: true,
  summary: 'Archives of exports, newest first',
  params: NoParams,
  query: NoQuery,
  body: { kind: 'json', schema: z.object({}).meta({ examples: [{}] }), optional: true },
  replies: { 200: List(Archive) },
  refuses: [],
  async handle({ organizationId, services }) {
    const archives = await services.exports.list(organizationId)
    const data = archives.map(({ id, kind, window, status, createdAt, expiresAt, size }) => ({
      id,
      kind,
      date_from: iso(window.from),
      date_to: iso(window.to),
      status,
      created_at: iso(createdAt),
      expires_at: iso(expiresAt),
      size,
    }))
    return { status: 200, payload: { count: data.length, data } }
  },
})

/** An archive of the organization; another organization's is not found. */
export const downloadArchive = dashboardRoute({
  ...Row,
  lane: 'batch',
  method: 'post',
  path: '/management/download-archive',
  onlyReads: true,
  summary: 'Download an archive that is ready',
  replyHeaders: { 'Content-Disposition': 'Name of the file' },
  params: NoParams,
  query: NoQuery,
  body: {
    kind: 'json',
    schema: z
      .object({ id: z.uuid().toLowerCase() })
      .meta({ examples: [{ id: '019aa5e2-7c1b-7d3a-9f60-0b2c8f4e1a57' }] }),
  },
  replies: { 200: z.file().mime('application/zip') },
  refuses: ['validation-failed', 'nothing-found', 'rate-limited'],
  async handle({ organizationId, body, services }) {
    const { bytes, kind } = await services.exports.download(organizationId, body.id)
    const headers = { 'content-disposition': `attachment; filename="${kind}-${body.id}.zip"` }
    return { status: 200, payload: {}, headers, file: { contentType: 'application/zip', bytes } }
  },
})
