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

/** Facts about the service that are not in an API's routes. */
export interface About {
  /** Version of the running build. */
  readonly version: string
  /** Address of the API with its base path: `https://login.example.org/core`. */
  readonly baseUrl: string
  /** Recorded examples of requests and answers; the document has no example answers without them. */
  readonly recorded?: RecordedAnswers
  /** Pages of the service to link to: path relative to the service's address, and name. */
  readonly pages?: readonly (readonly [path: string, name: string])[]
}

/** An OpenAPI 3.1 document; every value in it is JSON. */
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
 * The OpenAPI 3.1 document of an API, generated from its routes. Requests have zod's input schema. Replies have the output
 * schema in the envelope. Refusals are one response per status with its possible reasons. Equal schemas and responses are
 * shared components.
 */
export function openApiDocument<S>(api: Api<S>, about: About): OpenApiDocument {
  const shelf = makeShelf()
  const ids = operationIdsOf(api.routes)
  const paths: Record<string, Record<string, Operation>> = {}
  for (const row of api.routes) {
    const context = {
      api,
      row,
      operationId: ids.get(row) ?? row.path,
      recorded: about.recorded ?? nothingRecorded,
      shelf,
    }
    const methods = paths[documentedPath(row)] ?? {}
    methods[row.method] = operationOf(context)
    paths[documentedPath(row)] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version: about.version,
      description:
        'Every JSON answer has timestamp, success and message; every error except 401 also has a reason. Every answer has ' +
        'X-Request-Id. In a query, + is a plus sign and %20 is a space. NUL or a lone surrogate in any string of a request, including object keys, is 422. In a body, null in ' +
        'an optional field means absent, and unknown fields are ignored; misspelt known fields are listed in the warnings ' +
        'of the answer. A message names a field of a body by its path alone and a parameter with its place. A date without an offset is UTC and ' +
        'from 2000 to 2100; the region of a language is dropped. HEAD is served wherever GET is. A key without the scope of the API gets 403.',
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
        ...(api.routes.some(({ deprecated }) => deprecated !== undefined) && deprecationHeaders),
      },
      securitySchemes: { apikey: { type: 'apiKey', in: 'header', name: 'apikey' } },
    },
  }
}

/** The path alone for a loopback address, which is valid on one machine only. Clients resolve it against the document's address. */
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
    description: 'From the answer of GET /users/{userRef}; send it with each later call of the flow',
  },
  OptionalSession: {
    ...session,
    required: false,
    description: 'From an earlier answer of GET /users/{userRef}: continues that session',
  },
}
const requestIdHeader = { description: 'The id of this request in the log', schema: { type: 'string' } }
const retryAfterHeader = { description: 'Seconds to wait', schema: { type: 'integer' } }

const deprecationHeaders = {
  Deprecation: {
    description: 'Start of the deprecation: a structured-field date (RFC 9745)',
    schema: { type: 'string' },
  },
  Sunset: { description: 'Earliest end of service: an HTTP date (RFC 8594)', schema: { type: 'string' } },
  Link: { description: 'The successor, rel="successor-version" (RFC 8288)', schema: { type: 'string' } },
}
const ref = (name: string): Ref => ({ $ref: `#/components/headers/${name}` })

/** The headers of every answer of a route. */
const headersOf = <S>(row: Route<S>) => ({
  'X-Request-Id': ref('RequestId'),
  ...(row.deprecated && Object.fromEntries(Object.keys(deprecationHeaders).map((name) => [name, ref(name)]))),
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
  description: 'Ignored fields of the body that resemble a known one; absent if there are none',
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

/** A route, and the inputs of its operation. */
interface OperationContext<S> {
  readonly api: Api<S>
  readonly row: Route<S>
  readonly operationId: string
  readonly recorded: RecordedAnswers
  readonly shelf: Shelf
}

function operationOf<S>(context: OperationContext<S>): Operation {
  const { row, operationId, shelf } = context
  const requestBody = requestBodyOf(context)
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
    responses: responsesOf(context),
  }
}

function descriptionOf<S>({ description, outcomes }: Route<S>): { readonly description?: string } {
  if (outcomes === undefined) return description === undefined ? {} : { description }
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const table = [outcomes.heads, outcomes.heads.map(() => '---'), ...outcomes.rows].map(line).join('\n')
  return { description: [...(description === undefined ? [] : [description]), outcomes.lead, table].join('\n\n') }
}

function requestBodyOf<S>({ row, operationId, recorded, shelf }: OperationContext<S>): Record<string, unknown> | null {
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

function responsesOf<S>(context: OperationContext<S>): Record<string, unknown> {
  const { api, row, operationId, recorded, shelf } = context
  const refused = new Map<number, RowRefusal[]>()
  for (const refusal of refusalsOf(row)) refused.set(refusal.status, [...(refused.get(refusal.status) ?? []), refusal])
  const responses: Record<string, unknown> = {}
  for (const [status, refusals] of refused) responses[status] = refusalResponse(context, status, refusals)
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
    // A status of both a reply and a refusal allows either body.
    const schema = refusals === undefined ? whole : { anyOf: [whole, refusalSchema(shelf, Number(status), refusals)] }
    const description = STATUS_CODES[Number(status)] ?? 'Reply'
    const example = recordedReply({ recorded }, api, row, status)
    const content = { schema, ...(example === undefined ? {} : { example }) }
    responses[status] = { description, headers, content: { 'application/json': content } }
  }
  return responses
}

/** The recorded payload of a reply; undefined if none was recorded. */
export const recordedReply = <S>(
  { recorded }: Pick<About, 'recorded'>,
  { basePath }: Api<S>,
  { method, path }: Route<S>,
  status: string,
): unknown => recorded?.replies[`${method} ${basePath}${path}`]?.[status]

/** The envelope of a reply; with a status of 400 or more it has a reason, like a refusal. */
function envelopeOf(shelf: Shelf, status: number): Ref {
  if (status < 400) return shelf.schema('Envelope', envelope(true))
  const reason = reasonForStatus(status)
  return errorSchema(shelf, status, reason === null ? [] : [reason])
}

const refusalSchema = (shelf: Shelf, status: number, refusals: readonly RowRefusal[]): Ref =>
  errorSchema(shelf, status, [...new Set(refusals.flatMap(({ reason }) => (reason === null ? [] : [reason])))].sort())

const errorSchema = (shelf: Shelf, status: number, reasons: readonly string[]): Ref =>
  shelf.schema(`Error${status}${reasons.map((reason) => `.${reason}`).join('')}`, envelope(false, reasons))

function refusalResponse<S>(
  { row, recorded, shelf }: OperationContext<S>,
  status: number,
  refusals: readonly RowRefusal[],
): Ref {
  const prefix = row.deprecated === undefined ? '' : 'Deprecated.'
  return shelf.response(`${prefix}Refused${status}.${refusals.map(({ kind }) => kind).join('.')}`, () => {
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
