import { z } from 'zod'
import { coreRoutes } from '../api/core-table.js'
import { dashboardRoutes } from '../api/dashboard-table.js'
import { linkRoutes } from '../api/links-table.js'
import { refusalsOf } from '../http/docs/route-docs.js'
import type { Route } from '../http/route.js'

/** The route tables by the base path of their API. */
export const TABLES: Readonly<Record<WalkedApi, readonly Route<never>[]>> = {
  core: coreRoutes,
  auth: linkRoutes,
  dashboard: dashboardRoutes,
}
type WalkedApi = 'core' | 'auth' | 'dashboard'

interface WalkCall {
  /** Values of the path's parameters, not encoded. */
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly session?: string
  /** The key of the walk by default. */
  readonly apikey?: string
}

// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the route and was checked against its schema
type Json = any

export interface WalkAnswer {
  readonly status: number
  /** The refusal's `reason`; null for replies and for refusals without one. */
  readonly reason: string | null
  /** Null for a file. */
  readonly json: Json
}

/** Calls a route by its name in the table, `GET /users/{userRef}`; throws if the answer is not one that the route documents. */
export type Ask = (api: WalkedApi, route: string, call?: WalkCall) => Promise<WalkAnswer>

const ENVELOPE = { timestamp: z.iso.datetime(), success: z.boolean(), message: z.string() }
const Refused = z.object({ ...ENVELOPE, success: z.literal(false), reason: z.string().nullish() })
/** A call without an answer after this time is an error of the walk. */
const TIMEOUT_MS = 30_000

/** A client of the service at `url` that checks every answer against its route. */
export function walkClient(url: string, apikey: string): Ask {
  return async (api, route, { path = {}, query = {}, body, session, apikey: key = apikey } = {}) => {
    const row = rowNamed(api, route)
    const address = new URL(`${url}/${api}${pathOf(row, path)}`)
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
    // The APIs read `+` as a plus sign.
    address.search = address.search.replaceAll('+', '%20')
    const answer = await fetch(address, {
      method: row.method.toUpperCase(),
      headers: {
        ...(key === '' ? {} : { apikey: key }),
        ...(session === undefined ? {} : { 'x-service-session': session }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
    const json = isJson ? ((await answer.json()) as Json) : null
    const problem = problemOf(row, answer.status, json)
    if (problem !== null)
      throw new Error(`${row.method.toUpperCase()} ${address.pathname} ${answer.status}: ${problem}`)
    return { status: answer.status, reason: answer.status >= 400 ? (json?.reason ?? null) : null, json }
  }
}

function rowNamed(api: WalkedApi, route: string): Route<never> {
  const row = TABLES[api].find(({ method, path }) => `${method.toUpperCase()} ${path}` === route)
  if (row === undefined) throw new Error(`the table of ${api} has no ${route}`)
  return row
}

const pathOf = ({ path }: Route<never>, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))

/** The difference between an answer and its route's documentation; null if there is none. */
function problemOf(row: Route<never>, status: number, json: unknown): string | null {
  const schema = row.replies[status]
  if (schema === undefined) {
    const refused = Refused.safeParse(json)
    if (!refused.success) return `is no refusal: ${z.prettifyError(refused.error)}`
    const reason = refused.data.reason ?? null
    const isDocumented = refusalsOf(row).some((one) => one.status === status && (one.reason ?? null) === reason)
    return isDocumented ? null : `an undocumented refusal: ${refused.data.message}`
  }
  if (json === null) return null
  const envelope = z.object(ENVELOPE).safeParse(json)
  const payload = schema.safeParse(json)
  const error = envelope.error ?? payload.error
  return error === undefined ? null : z.prettifyError(error)
}
