import { expect } from 'vitest'
import { z } from 'zod'
import { coreRoutes } from '../src/api/core/table.js'
import { dashboardRoutes } from '../src/api/dashboard/table.js'
import { linkRoutes } from '../src/api/links/table.js'
import type { Route } from '../src/http/route.js'
import { refusalsOf } from '../src/http/row-facts.js'

const ENVELOPE = ['timestamp', 'success', 'message', 'reason']

export type TestedApi = 'core' | 'auth' | 'dashboard'
const TABLES: Record<TestedApi, readonly Route<never>[]> = {
  core: coreRoutes,
  auth: linkRoutes,
  dashboard: dashboardRoutes,
}

/** The row of an API's table that serves this method and path (without its query); undefined where none does. */
const rowOf = (api: TestedApi, method: string, path: string) => {
  const given = (path.split('?')[0] ?? '').split('/')
  // A literal wins over a parameter, as in the router.
  const rows = [...TABLES[api]].sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  return rows.find((row) => {
    const template = row.path.split('/')
    const fits = template.every((segment, i) => segment.startsWith('{') || segment === given[i])
    return row.method === method.toLowerCase() && template.length === given.length && fits
  })
}

/**
 * An answer must be what its row documents: a reply of its schema without further fields, or a refusal it names; and
 * announce the row's end where the row is deprecated.
 */
export function holdsToContract(
  api: TestedApi,
  method: string,
  path: string,
  { status, headers }: { status: number; headers: Headers },
  json: Record<string, unknown>,
): void {
  const row = rowOf(api, method, path)
  const where = `${method} ${path} ${status} ${JSON.stringify(json)}`
  expect(json.timestamp, where).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  expect([json.success, typeof json.message], where).toEqual([status < 400, 'string'])
  if (row === undefined) return
  const leaving = ['deprecation', 'sunset', 'link'].map((name) => headers.has(name))
  expect(leaving, where).toEqual(Array(3).fill(row.deprecated !== undefined))
  const schema = row.replies[status]
  if (schema === undefined) {
    const documented = refusalsOf(row).map((refusal) => [refusal.status, refusal.reason ?? undefined])
    expect(documented, where).toContainEqual([status, json.reason])
    return
  }
  const payload = Object.fromEntries(Object.entries(json).filter(([name]) => !ENVELOPE.includes(name)))
  if (!(schema instanceof z.ZodObject)) throw new Error(`${row.path}: a reply that is no object`)
  // `reason` belongs to the envelope of an error and to the payload of a verify.
  const whole = 'reason' in schema.shape ? { ...payload, reason: json.reason } : payload
  expect(z.strictObject(schema.shape).safeParse(whole).error?.issues ?? [], where).toEqual([])
}
