import { STATUS_CODES } from 'node:http'
import type { BodyRule, Route } from '../route.js'
import type { Api } from '../server-types.js'
import {
  bodySchemaOf,
  fileTypeOf,
  groupOf,
  type JsonSchema,
  jsonSchemaOf,
  operationIdsOf,
  parametersOf,
  type RowRefusal,
  refusalMeanings,
  refusalsOf,
} from './route-docs.js'

/** What a document says of the service around an API's rows. */
export interface About {
  /** The running build. */
  readonly version: string
  /** Where the API answers, base path included: `https://login.example.org/core`. */
  readonly baseUrl: string
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
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
  readonly [field: string]: unknown
}

type Ref = { readonly $ref: string }

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
    const methods = paths[row.path] ?? {}
    methods[row.method] = operationOf(row, ids.get(row) ?? row.path, shelf)
    paths[row.path] = methods
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
    servers: [{ url: about.baseUrl }],
    tags: [...new Set(api.routes.map(groupOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: shelf.schemas,
      responses: shelf.responses,
      ...(api.routes.some(({ needsSession }) => needsSession) && { parameters: { Session: sessionParameter } }),
      headers: {
        RequestId: requestIdHeader,
        RetryAfter: retryAfterHeader,
        ...(api.routes.some(({ deprecated }) => deprecated !== undefined) && leavingHeaders),
      },
      securitySchemes: { apikey: { type: 'apiKey', in: 'header', name: 'apikey' } },
    },
  }
}

const sessionParameter = {
  name: 'X-Service-Session',
  in: 'header',
  required: true,
  description: 'From the answer of GET /users/{userRef}; sent back on each later call of the flow',
  schema: { type: 'string' },
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

const warnings = {
  type: 'array',
  items: { type: 'string' },
  description: 'Fields of the body that were ignored and resemble a known one; absent where there are none',
}

const envelope = (success: boolean, reasons: readonly string[] = []) => ({
  type: 'object',
  properties: {
    timestamp: { type: 'string', format: 'date-time' },
    success: { const: success },
    message: { type: 'string' },
    ...(success ? { warnings } : {}),
    ...(reasons.length > 0 ? { reason: { enum: reasons } } : {}),
  },
  required: ['timestamp', 'success', 'message', ...(reasons.length > 0 ? ['reason'] : [])],
})

function operationOf<S>(row: Route<S>, operationId: string, shelf: Shelf): Operation {
  const description = row.description === undefined ? {} : { description: row.description }
  const requestBody = requestBodyOf(row.body, operationId, shelf)
  return {
    operationId,
    summary: row.summary,
    ...description,
    ...(row.deprecated === undefined ? {} : { deprecated: true }),
    tags: [groupOf(row)],
    'x-counted-as': row.countedAs,
    security: row.needsKey ? [{ apikey: [] }] : [],
    parameters: [
      ...parametersOf(row).map(({ schema, ...parameter }) => ({
        ...parameter,
        schema: shelf.inlined(schema, operationId),
      })),
      ...(row.needsSession ? [{ $ref: '#/components/parameters/Session' }] : []),
    ],
    ...(requestBody === null ? {} : { requestBody }),
    responses: responsesOf(row, operationId, shelf),
  }
}

function requestBodyOf(rule: BodyRule, operationId: string, shelf: Shelf): Record<string, unknown> | null {
  const schema = bodySchemaOf(rule)
  if (schema === null) return null
  const size = 'maxBytes' in rule ? { description: `At most ${rule.maxBytes} bytes` } : {}
  return {
    ...size,
    required: !(rule.kind === 'json' && rule.optional),
    content: { 'application/json': { schema: shelf.schema(`${operationId}Body`, schema) } },
  }
}

function responsesOf<S>(row: Route<S>, operationId: string, shelf: Shelf): Record<string, unknown> {
  const refused = new Map<number, RowRefusal[]>()
  for (const refusal of refusalsOf(row)) refused.set(refusal.status, [...(refused.get(refusal.status) ?? []), refusal])
  const responses: Record<string, unknown> = {}
  for (const [status, refusals] of refused) responses[status] = shelf.refusal(row, status, refusals)
  for (const [status, reply] of Object.entries(row.replies)) {
    const headers = headersOf(row)
    const fileType = fileTypeOf(reply)
    if (fileType !== null) {
      const schema = { type: 'string', format: 'binary' }
      responses[status] = { description: 'A file', headers, content: { [fileType]: { schema } } }
      continue
    }
    const name = `${operationId}Reply${status}`
    const whole = { allOf: [shelf.envelope(Number(status) < 400), shelf.schema(name, jsonSchemaOf(reply, 'output'))] }
    const refusals = refused.get(Number(status))
    // A status that is a reply and a refusal both, such as the 404 of GET /users/{userRef}, has either body.
    const schema = refusals === undefined ? whole : { anyOf: [whole, shelf.refusalSchema(Number(status), refusals)] }
    const description = STATUS_CODES[Number(status)] ?? 'Reply'
    responses[status] = { description, headers, content: { 'application/json': { schema } } }
  }
  return responses
}

/** The components of one document: what is equal is kept once, under the name it first came with. */
interface Shelf {
  readonly schemas: Record<string, unknown>
  readonly responses: Record<string, unknown>
  schema(name: string, schema: JsonSchema): Ref
  /** A schema to stand in place, its own definitions moved to the components. */
  inlined(schema: JsonSchema, prefix: string): unknown
  envelope(success: boolean): Ref
  refusal<S>(row: Route<S>, status: number, refusals: readonly RowRefusal[]): Ref
  refusalSchema(status: number, refusals: readonly RowRefusal[]): Ref
}

function makeShelf(): Shelf {
  const schemas: Record<string, unknown> = {}
  const responses: Record<string, unknown> = {}
  const nameByText = new Map<string, string>()

  function keep(name: string, schema: unknown): Ref {
    const text = JSON.stringify(schema)
    const known = nameByText.get(text) ?? name
    nameByText.set(text, known)
    schemas[known] = schema
    return { $ref: `#/components/schemas/${known}` }
  }

  /** Moves `$defs` to the components, and points the references of the schema there. */
  function hoisted(schema: JsonSchema, prefix: string): unknown {
    const { $defs = {}, ...rest } = schema
    const place = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(place)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => {
          if (key !== '$ref' || typeof item !== 'string') return [key, place(item)]
          if (item === '#') return [key, `#/components/schemas/${prefix}`]
          return [key, item.replace('#/$defs/', `#/components/schemas/${prefix}.`)]
        }),
      )
    }
    for (const [name, definition] of Object.entries($defs)) schemas[`${prefix}.${name}`] = place(definition)
    return place(rest)
  }

  function refusalSchema(status: number, refusals: readonly RowRefusal[]): Ref {
    const reasons = [...new Set(refusals.flatMap(({ reason }) => (reason === null ? [] : [reason])))].sort()
    return keep(`Error${status}${reasons.map((reason) => `.${reason}`).join('')}`, envelope(false, reasons))
  }

  return {
    schemas,
    responses,
    schema: (name, schema) => keep(name, hoisted(schema, name)),
    inlined: hoisted,
    envelope: (success) => keep(success ? 'Envelope' : 'ErrorEnvelope', envelope(success)),
    refusalSchema,
    refusal(row, status, refusals) {
      const leaving = row.deprecated === undefined ? '' : 'Deprecated.'
      const name = `${leaving}Refused${status}.${refusals.map(({ kind }) => kind).join('.')}`
      const retry = status === 429 || status === 503 ? { 'Retry-After': ref('RetryAfter') } : {}
      responses[name] ??= {
        description: refusals.map(({ kind, reason }) => `${reason ?? kind}: ${refusalMeanings[kind]}`).join('; '),
        headers: { ...headersOf(row), ...retry },
        content: { 'application/json': { schema: refusalSchema(status, refusals) } },
      }
      return { $ref: `#/components/responses/${name}` }
    },
  }
}
