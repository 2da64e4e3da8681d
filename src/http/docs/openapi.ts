import { STATUS_CODES } from 'node:http'
import { reasonForStatus } from '../refusals.js'
import type { BodyRule, Route } from '../route.js'
import type { Api } from '../server-types.js'
import { makeShelf, type Ref, type Shelf } from './openapi-shelf.js'
import { nothingRecorded, type RecordedAnswers } from './recorded-answers.js'
import {
  bodySchemaOf,
  documentedPath,
  fileTypeOf,
  groupOf,
  headerParametersOf,
  type JsonSchema,
  jsonSchemaOf,
  operationIdsOf,
  parametersOf,
  type RowRefusal,
  refusalMeanings,
  refusalsOf,
} from './route-docs.js'
import { membersOf } from './schema-text.js'

/** What a document says of the service around an API's rows. */
export interface About {
  /** The running build. */
  readonly version: string
  /** Where the API answers, base path included: `https://login.example.org/core`. */
  readonly baseUrl: string
  /** Examples of requests and answers; without them a document has none of answers. */
  readonly recorded?: RecordedAnswers
  /** Pages of the service to link to: path below the service's address, and name. */
  readonly pages?: readonly (readonly [path: string, name: string])[]
}

/** An OpenAPI 3.1 document: JSON through and through. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

/**
 * The OpenAPI 3.1 document of an API, made from the rows that serve it: nothing in it is written twice. Requests are
 * described as clients send them (zod's input side), replies as they go out (the output side) inside the envelope, and
 * refusals as one response a status with the reasons it can carry. Equal schemas and responses are shared components.
 */
export function openApiDocument<S>(api: Api<S>, about: About): OpenApiDocument {
  const shelf = makeShelf()
  const ids = operationIdsOf(api.routes)
  const paths: Record<string, Record<string, Operation>> = {}
  for (const row of api.routes) {
    const place = {
      api,
      row,
      operationId: ids.get(row) ?? row.path,
      recorded: about.recorded ?? nothingRecorded,
      shelf,
    }
    const methods = paths[documentedPath(row)] ?? {}
    methods[row.method] = operationOf(place)
    paths[documentedPath(row)] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: about.version,
      description:
        'Every JSON answer has timestamp, success and message; every error but 401 has a reason too. Every answer ' +
        'carries X-Request-Id. NUL or a lone surrogate in any string that comes in, keys of objects included, is 422. In a body, ' +
        'null stands for absent in an optional field, and unknown fields are ignored; one that is a known field in another ' +
        'spelling is named in the warnings of the answer.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl(about.baseUrl) }],
    tags: [...new Set(api.routes.map(groupOf))].map((name) => {
      const description = api.groups?.[name]
      return description === undefined ? { name } : { name, description }
    }),
    paths,
    components: {
      schemas: shelf.schemas,
      responses: shelf.responses,
      ...(Object.keys(shelf.examples).length > 0 && { examples: shelf.examples }),
      ...(api.routes.some(takesSession) && { parameters: sessionParameters }),
      headers: {
        RequestId: requestIdHeader,
        RetryAfter: retryAfterHeader,
        ...(api.routes.some(({ deprecated }) => deprecated !== undefined) && leavingHeaders),
      },
      securitySchemes: { apikey: { type: 'apiKey', in: 'header', name: 'apikey' } },
    },
  }
}

/** A loopback address holds on one machine alone; the path, relative to the document's own address, holds everywhere. */
function serverUrl(baseUrl: string): string {
  const { hostname, pathname } = new URL(baseUrl)
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname) ? pathname : baseUrl
}

const takesSession = <S>(row: Route<S>): boolean => row.needsSession || row.takesSession === true

const session = { name: 'X-Service-Session', in: 'header', schema: { type: 'string' } }
const sessionParameters = {
  Session: {
    ...session,
    required: true,
    description: 'From the answer of GET /users/{userRef}; sent back on each later call of the flow',
  },
  OptionalSession: {
    ...session,
    required: false,
    description: 'From an earlier answer of GET /users/{userRef}: goes on with that session',
  },
}
const requestIdHeader = { description: 'Names this request in the log', schema: { type: 'string' } }
const retryAfterHeader = { description: 'Seconds to wait', schema: { type: 'integer' } }

const leavingHeaders = {
  Deprecation: { description: 'Since when: a structured-field date (RFC 9745)', schema: { type: 'string' } },
  Sunset: { description: 'When it may stop answering: an HTTP date (RFC 8594)', schema: { type: 'string' } },
  Link: { description: 'What takes its place, rel="successor-version" (RFC 8288)', schema: { type: 'string' } },
}
const ref = (name: string): Ref => ({ $ref: `#/components/headers/${name}` })

/** The headers of every answer to a row. */
const headersOf = <S>(row: Route<S>) => ({
  'X-Request-Id': ref('RequestId'),
  ...(row.deprecated && Object.fromEntries(Object.keys(leavingHeaders).map((name) => [name, ref(name)]))),
})

const replyHeadersOf = <S>(row: Route<S>) => ({
  ...headersOf(row),
  ...Object.fromEntries(
    Object.entries(row.replyHeaders ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  ),
})

const warnings: JsonSchema = {
  type: 'array',
  items: { type: 'string' },
  description: 'Fields of the body that were ignored and resemble a known one; absent where there are none',
}

const envelope = (success: boolean, reasons: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties: {
    timestamp: { type: 'string', format: 'date-time' },
    success: { const: success },
    message: { type: 'string' },
    ...(success ? { warnings } : {}),
    ...(reasons.length > 0 ? { reason: { enum: [...reasons] } } : {}),
  },
  required: ['timestamp', 'success', 'message', ...(reasons.length > 0 ? ['reason'] : [])],
})

/** A row on its way into a document. */
interface Place<S> {
  readonly api: Api<S>
  readonly row: Route<S>
  readonly operationId: string
  readonly recorded: RecordedAnswers
  readonly shelf: Shelf
}

function operationOf<S>(place: Place<S>): Operation {
  const { row, operationId, shelf } = place
  const requestBody = requestBodyOf(place)
  return {
    operationId,
    summary: row.summary,
    ...descriptionOf(row),
    ...(row.deprecated === undefined ? {} : { deprecated: true }),
    tags: [groupOf(row)],
    'x-counted-as': row.countedAs,
    security: row.needsKey ? [{ apikey: [] }] : [],
    parameters: [
      ...[...parametersOf(row), ...headerParametersOf(row)].map(({ schema, ...parameter }) => ({
        ...parameter,
        schema: shelf.inlined(schema, operationId),
      })),
      ...(takesSession(row)
        ? [{ $ref: `#/components/parameters/${row.needsSession ? 'Session' : 'OptionalSession'}` }]
        : []),
    ],
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(place),
  }
}

function descriptionOf<S>({ description, outcomes }: Route<S>): { readonly description?: string } {
  if (outcomes === undefined) return description === undefined ? {} : { description }
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [outcomes.heads, outcomes.heads.map(() => '---'), ...outcomes.rows].map(line).join('\n')
  return { description: [...(description === undefined ? [] : [description]), outcomes.lead, table].join('\n\n') }
}

function requestBodyOf<S>({ row, operationId, recorded, shelf }: Place<S>): Record<string, unknown> | null {
  const rule: BodyRule = row.body
  const schema = bodySchemaOf(rule)
  if (schema === null) return null
  const size = 'maxBytes' in rule ? { description: `At most ${rule.maxBytes} bytes` } : {}
  const examples = [schema, ...membersOf(schema)].flatMap(({ title = '', examples: [own] = [] }) => {
    const value = recorded.bodies[title] ?? own
    return title === '' || value === undefined ? [] : [[title, shelf.example(title, `A body of ${title}`, value)]]
  })
  return {
    ...size,
    required: !(rule.kind === 'json' && rule.optional),
    content: {
      'application/json': {
        schema: shelf.schema(`${operationId}Body`, schema),
        ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}

function responsesOf<S>(place: Place<S>): Record<string, unknown> {
  const { api, row, operationId, recorded, shelf } = place
  const refused = new Map<number, RowRefusal[]>()
  for (const refusal of refusalsOf(row)) refused.set(refusal.status, [...(refused.get(refusal.status) ?? []), refusal])
  const responses: Record<string, unknown> = {}
  for (const [status, refusals] of refused) responses[status] = refusalResponse(place, status, refusals)
  for (const [status, reply] of Object.entries(row.replies)) {
    const headers = replyHeadersOf(row)
    const fileType = fileTypeOf(reply)
    if (fileType !== null) {
      const schema = { type: 'string', format: 'binary' }
      responses[status] = { description: 'A file', headers, content: { [fileType]: { schema } } }
      continue
    }
    const payload = shelf.schema(`${operationId}Reply${status}`, jsonSchemaOf(reply, 'output'))
    const whole = { allOf: [envelopeOf(shelf, Number(status)), payload] }
    const refusals = refused.get(Number(status))
    // A status that is a reply and a refusal both has either body.
    const schema = refusals === undefined ? whole : { anyOf: [whole, refusalSchema(shelf, Number(status), refusals)] }
    const description = STATUS_CODES[Number(status)] ?? 'Reply'
    const example = recordedReply({ recorded }, api, row, status)
    const content = { schema, ...(example === undefined ? {} : { example }) }
    responses[status] = { description, headers, content: { 'application/json': content } }
  }
  return responses
}

/** Undefined where none was recorded. */
export const recordedReply = <S>(
  { recorded }: Pick<About, 'recorded'>,
  { basePath }: Api<S>,
  { method, path }: Route<S>,
  status: string,
): unknown => recorded?.replies[`${method} ${basePath}${path}`]?.[status]

/** Around the payload of a reply; one of 400 or more has a reason, as a refusal has. */
function envelopeOf(shelf: Shelf, status: number): Ref {
  if (status < 400) return shelf.schema('Envelope', envelope(true))
  const reason = reasonForStatus(status)
  return errorSchema(shelf, status, reason === null ? [] : [reason])
}

const refusalSchema = (shelf: Shelf, status: number, refusals: readonly RowRefusal[]): Ref =>
  errorSchema(shelf, status, [...new Set(refusals.flatMap(({ reason }) => (reason === null ? [] : [reason])))].sort())

const errorSchema = (shelf: Shelf, status: number, reasons: readonly string[]): Ref =>
  shelf.schema(`Error${status}${reasons.map((reason) => `.${reason}`).join('')}`, envelope(false, reasons))

function refusalResponse<S>({ row, recorded, shelf }: Place<S>, status: number, refusals: readonly RowRefusal[]): Ref {
  const leaving = row.deprecated === undefined ? '' : 'Deprecated.'
  return shelf.response(`${leaving}Refused${status}.${refusals.map(({ kind }) => kind).join('.')}`, () => {
    const retry = status === 429 || status === 503 ? { 'Retry-After': ref('RetryAfter') } : {}
    const examples = refusals.flatMap(({ kind }) => {
      const value = recorded.refusals[kind]
      return value === undefined ? [] : [[kind, shelf.example(kind, refusalMeanings[kind], value)]]
    })
    return {
      description: refusals.map(({ kind, reason }) => `${reason ?? kind}: ${refusalMeanings[kind]}`).join('; '),
      headers: { ...headersOf(row), ...retry },
      content: {
        'application/json': {
          schema: refusalSchema(shelf, status, refusals),
          ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
        },
      },
    }
  })
}
