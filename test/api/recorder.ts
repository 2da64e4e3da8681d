import { expect } from 'vitest'
import type { RefusalKind } from '../../src/domain/refusal.js'
import { wireRefusals } from '../../src/http/refusals.js'
import { headersHoldToContract, holdsToContract, rowOf, type TestedApi } from '../harness/contract.js'

interface Call {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: unknown
  readonly session?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly apikey?: string
  /** False if the answer is not kept. */
  readonly shown?: boolean
}

// The shape of an answer depends on the route.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Json = any

/** Calls routes of a running service, validates each answer, and keeps the last one of each route and status. */
export function createRecorder(base: string, apikey: string) {
  const replies: Record<string, Record<string, Json>> = {}
  const refusals: Partial<Record<RefusalKind, Json>> = {}

  async function ask(api: TestedApi, route: string, call: Call): Promise<{ status: number; json: Json }> {
    const [method = '', template = ''] = route.split(' ')
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => call.path?.[name] ?? `no ${name}`)
    const answer = await fetch(`${base}/${api}${path}${call.query ?? ''}`, {
      method,
      headers: {
        apikey: call.apikey ?? apikey,
        ...(call.session === undefined ? {} : { 'x-service-session': call.session }),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
    if (isJson) {
      const json = await answer.json()
      holdsToContract(api, method, path, answer, json as Record<string, unknown>)
      return { status: answer.status, json }
    }
    const row = rowOf(api, method, path)
    if (row === undefined) throw new Error(`no row ${route}`)
    headersHoldToContract(api, row, answer.status, answer.headers)
    return { status: answer.status, json: null }
  }

  return {
    replies,
    refusals,
    /** Expects this status. Returns the JSON of the answer; null for a file. */
    async reply(api: TestedApi, route: string, status: number, call: Call = {}): Promise<Json> {
      const { status: answered, json } = await ask(api, route, call)
      expect(answered, `${route} ${JSON.stringify(json)}`).toBe(status)
      const [method = '', template = ''] = route.split(' ')
      const name = `${method.toLowerCase()} /${api}${template}`
      if (call.shown !== false && json !== null) replies[name] = { ...replies[name], [status]: json }
      return json
    },
    async refusal(kind: RefusalKind, api: TestedApi, route: string, call: Call = {}): Promise<void> {
      const { status, json } = await ask(api, route, call)
      const wanted = wireRefusals[kind]
      expect([status, json.reason ?? null], `${kind} ${JSON.stringify(json)}`).toEqual([wanted.status, wanted.reason])
      refusals[kind] = json
    },
  }
}

export type Recorder = ReturnType<typeof createRecorder>

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const MOMENT = /^\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)\.\d{3}Z$/
const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g

/** Fields whose values differ from run to run. */
const VARIABLE: Readonly<Record<string, unknown>> = {
  port: 587,
  apikey: 'ks_hQ3vB1sKpZ0yTnW8cXe5LrJ7dMfUa2gG4iOkRtYwVbE',
  duration_ms: 6.5,
  latency_ms: 0.6,
  uptime_s: 86400,
  clock_skew_ms: 0.4,
  bytes: 734003200,
  node: '24.21.0',
  http_server: 'uWebSockets.js 20.56.0',
  server_version: '17.7',
  securityCode: '749205',
  session_id: 'a18c6e2edf5d76dd',
  suggestedWords: ['know', 'your', 'people'],
}

/** A stable form of an answer: numbered ids, constant times and tokens, and the first few items of an array. */
export function stable(value: Json, ids = new Map<string, string>()): Json {
  if (Array.isArray(value)) {
    const kept = value.slice(0, typeof value[0] === 'object' ? 1 : 3)
    return kept.map((item) => stable(item, ids))
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, VARIABLE[name] ?? stable(item, ids)]))
  if (typeof value !== 'string') return value
  const moment = MOMENT.exec(value)
  if (moment !== null) return `2026-11-25T${moment[1]?.endsWith('00:00') ? '00:00:00' : '12:00:00'}.000Z`
  return value
    .replace(UUID, (id) => {
      const known = ids.get(id) ?? `019aa5e2-7c1b-7d3a-9f60-${String(ids.size + 1).padStart(12, '0')}`
      ids.set(id, known)
      return known
    })
    .replace(/20\d\d-\d\d-\d\dT[\d:.]+Z$/, '2026-11-26T08:00:00.000Z')
    .replace(/localhost:\d+/, 'localhost:8443')
    .replace(/^whsec_.*$/, `whsec_${Buffer.alloc(32).toString('base64')}`)
    .replace(TOKEN, 'hQ3vB1sKpZ0yTnW8cXe5LrJ7dMfUa2gG4iOkRtYwVbE')
}

/** Paths at which two answers differ in fields or types. Null and an empty array match any type. */
export function differences(one: Json, other: Json, path = ''): string[] {
  if (one === null || other === null) return []
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === 0 || other.length === 0 ? [] : differences(one[0], other[0], `${path}[]`)
  const [a, b] = [one, other].map((value) => (Array.isArray(value) ? 'array' : typeof value))
  if (a !== b) return [`${path}: ${a} and ${b}`]
  if (a !== 'object') return []
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    name in one && name in other
      ? differences(one[name], other[name], `${path}.${name}`)
      : [`${path}.${name}: only in one`],
  )
}
