import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { z } from 'zod'
import { coreGroups, coreRoutes } from '../../src/api/core-table.js'
import { dashboardGroups, dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkGroups, linkRoutes } from '../../src/api/links-table.js'
import { type OpenApiDocument, openApiDocument } from '../../src/http/docs/openapi.js'
import { documentedPath, refusalsOf } from '../../src/http/docs/route-docs.js'
import type { Route } from '../../src/http/route.js'
import { recordedAnswers } from '../../src/wiring/endpoints.js'

const ENVELOPE = ['timestamp', 'success', 'message', 'reason', 'warnings']

export type TestedApi = 'core' | 'auth' | 'dashboard'
const SCOPES = { core: 'core', auth: 'links', dashboard: 'dashboard' } as const
const GROUPS = { core: coreGroups, auth: linkGroups, dashboard: dashboardGroups }
const TABLES: Record<TestedApi, readonly Route<never>[]> = {
  core: coreRoutes,
  auth: linkRoutes,
  dashboard: dashboardRoutes,
}

/** The OpenAPI document of an API, as its base path serves it. */
export const documentOf = (api: TestedApi, baseUrl = `https://login.example.org/${api}`): OpenApiDocument =>
  openApiDocument(
    {
      basePath: `/${api}`,
      scope: SCOPES[api],
      title: `Keystride ${api} API`,
      groups: GROUPS[api],
      routes: TABLES[api],
    },
    { version: '0.0.0', baseUrl, recorded: recordedAnswers() },
  )

/** The formats of replies: RFC 3339, in UTC with milliseconds or as the caller sent it, and UUID. */
const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  binary: true,
} as const
const documents = new Map<TestedApi, { readonly ajv: Ajv2020; readonly document: OpenApiDocument }>()
const validators = new Map<string, ValidateFunction>()

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, unknown>>
}

/** The documented response of a route and a status, and its JSON pointer in the document; null if undocumented. */
function responseOf(api: TestedApi, row: Route<never>, status: number) {
  const held = documents.get(api) ?? {
    ajv: new Ajv2020({ strict: false, formats: FORMATS }),
    document: documentOf(api),
  }
  if (!documents.has(api)) held.ajv.addSchema(held.document, api)
  documents.set(api, held)
  const path = documentedPath(row)
  const response = held.document.paths[path]?.[row.method]?.responses[status] as { $ref?: string } | undefined // Sound: OpenAPI requires it.
  if (response === undefined) return null
  const step = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
  const shared = response.$ref?.split('/').pop()
  const documented = shared === undefined ? response : held.document.components.responses?.[shared]
  return {
    ajv: held.ajv,
    place: response.$ref?.slice(1) ?? `/paths/${step(path)}/${row.method}/responses/${status}`,
    documented: documented as DocumentedResponse, // Sound: OpenAPI requires it.
    step,
  }
}

/** The compiled schema of a route's answers with a status; null if undocumented. */
export function validatorOf(api: TestedApi, row: Route<never>, status: number): ValidateFunction | null {
  const name = `${api} ${row.method} ${row.path} ${status}`
  const known = validators.get(name)
  if (known !== undefined) return known
  const found = responseOf(api, row, status)
  if (found === null) return null
  const made = found.ajv.compile({
    $ref: `${api}#${found.place}/content/${found.step('application/json')}/schema`,
  })
  validators.set(name, made)
  return made
}

/** Headers of HTTP itself and headers that all answers have. */
const TRANSPORT = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
  'x-content-type-options',
])

/** Checks that an answer has exactly the headers that its route documents. */
export function headersHoldToContract(api: TestedApi, row: Route<never>, status: number, headers: Headers): void {
  const documented = Object.keys(responseOf(api, row, status)?.documented.headers ?? {}).map((name) =>
    name.toLowerCase(),
  )
  const answered = [...headers.keys()].filter((name) => !TRANSPORT.has(name))
  expect(answered.sort(), `${row.method} ${row.path} ${status}`).toEqual(documented.sort())
}

/** The route that serves a method and a path; the query of the path is ignored. Undefined if none. */
export const rowOf = (api: TestedApi, method: string, path: string) => {
  const given = (path.split('?')[0] ?? '').split('/')
  // A literal segment takes precedence over a parameter, as in the router.
  const rows = [...TABLES[api]].sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  return rows.find((row) => {
    const template = row.path.split('/')
    const fits = template.every((segment, i) => segment.startsWith('{') || segment === given[i])
    return row.method === method.toLowerCase() && template.length === given.length && fits
  })
}

/**
 * Checks an answer against its route: it is a reply of the documented schema without further fields, or a documented
 * refusal. Body and headers must also match the OpenAPI document.
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
  headersHoldToContract(api, row, status, headers)
  const validate = validatorOf(api, row, status)
  expect([validate?.(json), validate?.errors ?? []], where).toEqual([true, []])
  const schema = row.replies[status]
  if (schema === undefined) {
    const documented = refusalsOf(row).map((refusal) => [refusal.status, refusal.reason ?? undefined])
    expect(documented, where).toContainEqual([status, json.reason])
    return
  }
  const payload = Object.fromEntries(Object.entries(json).filter(([name]) => !ENVELOPE.includes(name)))
  if (!(schema instanceof z.ZodObject)) throw new Error(`${row.path}: the reply is not an object`)
  // `reason` belongs to the envelope of an error and to the payload of a verify.
  const whole = 'reason' in schema.shape ? { ...payload, reason: json.reason } : payload
  expect(z.strictObject(schema.shape).safeParse(whole).error?.issues ?? [], where).toEqual([])
}
