import { z } from 'zod'
import { Refusal } from '../../src/domain/refusal.js'
import { loadProvider } from '../../src/http/provider.js'
import { routesFor } from '../../src/http/route.js'
import { serve } from '../../src/http/server.js'
import type { Answered, PlainEndpoint, Server, ServerNeeds } from '../../src/http/server-types.js'
import { readConfig } from '../../src/process/config.js'
import type { RawAnswer } from '../harness/raw.js'

/** A gate: handlers of `/held` wait until the test opens it. */
export function makeGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

export interface Services {
  readonly gate: ReturnType<typeof makeGate>
}

const route = routesFor<Services>()
export const nothing = z.object({})
/** Fields that most rows share. */
export const ROW = {
  summary: 'Do it',
  countedAs: 'other',
  lane: 'core',
  needsKey: true,
  needsSession: false,
  params: nothing,
  query: nothing,
  body: { kind: 'none' },
  refuses: [],
} as const

/** A small route table with every kind of route. */
export const tableRoutes = [
  route({
    ...ROW,
    method: 'get',
    path: '/status',
    lane: null,
    needsKey: false,
    replies: { 200: z.object({ status: z.enum(['OK', 'NOK']) }) },
    handle: async () => ({ status: 200, payload: { status: 'OK' } }),
  }),
  route({
    ...ROW,
    method: 'get',
    path: '/users/{userRef}',
    countedAs: 'bootstrap',
    lane: 'bootstrap',
    params: z.object({ userRef: z.string().max(128) }),
    query: z.object({ member_ref: z.string().optional(), limit: z.coerce.number().int().max(100).optional() }),
    replies: {
      200: z.object({ userRef: z.string(), member: z.string().nullable() }),
      404: z.object({ userRef: z.string() }),
    },
    refuses: ['rate-limited', 'member-required'],
    handle: async ({ params, query }) =>
      params.userRef === 'nobody'
        ? { status: 404, payload: { userRef: params.userRef }, message: 'no such user' }
        : {
            status: 200,
            payload: { userRef: params.userRef, member: query.member_ref ?? null },
            headers: { 'X-Service-Session': 'minted' },
          },
  }),
  route({
    ...ROW,
    method: 'post',
    path: '/users/{userRef}/typing-patterns',
    countedAs: 'enroll',
    lane: 'enroll',
    needsSession: true,
    params: z.object({ userRef: z.string() }),
    body: {
      kind: 'bytes',
      maxBytes: 512 * 1024,
      documents: z.object({ version: z.string(), events: z.array(z.int()) }),
    },
    replies: { 200: z.object({ bytes: z.int(), session: z.string().nullable() }) },
    refuses: ['session-missing', 'pattern-invalid', 'bot-detected'],
    handle: async ({ body, session }) => ({ status: 200, payload: { bytes: body.byteLength, session } }),
  }),
  route({
    ...ROW,
    method: 'put',
    path: '/words',
    body: {
      kind: 'json',
      schema: z.object({ word: z.string().min(2).max(40), more: z.unknown().optional() }),
    },
    replies: { 200: z.object({ keys: z.array(z.string()) }) },
    refuses: ['validation-failed'],
    handle: async ({ body }) => ({ status: 200, payload: { keys: Object.keys(body) } }),
  }),
  route({
    ...ROW,
    method: 'post',
    path: '/words/optional',
    body: { kind: 'json', optional: true, schema: z.object({ validity: z.int().optional() }) },
    replies: { 201: z.object({ validity: z.int().nullable() }) },
    handle: async ({ body }) => ({ status: 201, payload: { validity: body.validity ?? null } }),
  }),
  route({
    ...ROW,
    method: 'delete',
    path: '/words/{word}',
    params: z.object({ word: z.string() }),
    replies: { 200: nothing },
    refuses: ['internal'],
    handle: async ({ params }) => {
      if (params.word === 'split') return { status: 200, payload: {}, headers: { 'x-a': 'b\r\nx-c: d' } }
      throw params.word === 'limit' ? new Refusal('rate-limited', 'slow down', 7.2) : new Error('secret of the stack')
    },
  }),
  route({
    ...ROW,
    method: 'get',
    path: '/held',
    replies: { 200: nothing },
    handle: async ({ services }) => {
      await services.gate.opened
      return { status: 200, payload: {} }
    },
  }),
  route({
    ...ROW,
    method: 'post',
    path: '/old/{userRef}',
    deprecated: {
      since: new Date('2020-01-02T03:04:05Z'),
      sunset: new Date('2040-01-02T03:04:05Z'),
      successor: (body) => (body?.kind === 'small' ? '/users/{userRef}/small' : '/users/{userRef}'),
    },
    params: z.object({ userRef: z.string().max(16) }),
    body: {
      kind: 'json-around-bytes',
      field: 'large',
      maxBytes: 64 * 1024,
      schema: z.object({ kind: z.enum(['small', 'slow', 'broken']), large: z.instanceof(Uint8Array).optional() }),
      documents: z.object({ kind: z.enum(['small', 'slow', 'broken']), large: z.string() }),
    },
    replies: { 200: z.object({ bytes: z.int() }) },
    refuses: ['rate-limited'],
    handle: async ({ body: { kind, large } }) => {
      if (kind === 'slow') throw new Refusal('rate-limited', 'slow down')
      if (kind === 'broken') throw new Error('broken')
      return { status: 200, payload: { bytes: large?.byteLength ?? 0 } }
    },
  }),
  route({
    ...ROW,
    method: 'get',
    path: '/archive',
    replies: { 200: z.file() },
    handle: async () => ({
      status: 200,
      payload: {},
      file: { contentType: 'application/zip', bytes: new Uint8Array([80, 75, 3, 4]) },
    }),
  }),
]

export const tableApi = { basePath: '/core', scope: 'core', title: 'Core', routes: tableRoutes } as const

const plain: readonly PlainEndpoint[] = [
  { method: 'get', path: '/livez', handle: () => ({ status: 200, contentType: 'text/plain', body: 'ok' }) },
  {
    method: 'get',
    path: '/p/{page}',
    handle: ({ params }) => ({ status: 200, contentType: 'text/plain', body: params.page ?? '' }),
  },
]

export const goodKey = 'key-of-org-1'
export const linksKey = 'key-for-links-only'
/** The server of `HTTP_SERVER`. A run tests one server, and `.ci/run` makes a run with each. */
export const provider = loadProvider(readConfig(process.env).httpServer)

export interface Running {
  readonly server: Server
  readonly answers: Answered[]
  /** Every logged line, as JSON text. */
  readonly lines: string[]
  readonly gate: Services['gate']
  degraded: string | null
}

/** Starts the table on a free port. */
export async function start(changes: Partial<ServerNeeds<Services>> = {}): Promise<Running> {
  const answers: Answered[] = []
  const lines: string[] = []
  const gate = makeGate()
  const line = (fields: object, message: string) => lines.push(JSON.stringify({ ...fields, message }))
  const state = { degraded: null as string | null }
  let id = 0
  const server = await serve<Services>({
    uws: provider.uws,
    apis: [tableApi],
    plain,
    authenticate: async (apikey) => {
      if (apikey === goodKey) return { organizationId: 'org-1', keyId: 'key-1', scopes: ['core'] }
      return apikey === linksKey ? { organizationId: 'org-1', keyId: 'key-2', scopes: ['links'] } : null
    },
    degraded: () => state.degraded,
    services: { gate },
    log: { debug: line, info: line, error: line },
    newRequestId: () => `request-${++id}`,
    onAnswer: (answered) => answers.push(answered),
    host: '127.0.0.1',
    port: 0,
    ...changes,
  })
  return Object.assign(state, { server, answers, lines, gate })
}

/** The reason of a refusal; `invalid-data` for a head that the server's parser refuses, with an answer of its own. */
export const reasonOf = (answer: RawAnswer | null): string | undefined =>
  answer?.text.startsWith('{') ? JSON.parse(answer.text).reason : 'invalid-data'

/** Closes at once. */
export const stop = (running: Running) => running.server.close({ lingerMs: 0, deadlineMs: 0 })
