import { z } from 'zod'
import type { RefusalKind } from '../../domain/refusal.js'
import { type WireRefusal, wireRefusals } from '../refusals.js'
import type { BodyRule, Route } from '../route.js'

/** A JSON Schema in a document. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** The meaning of each refusal for a caller, shown in the documents. */
export const refusalMeanings: Readonly<Record<RefusalKind, string>> = {
  'request-malformed': 'bad percent escape, repeated parameter or header, or ambiguous body framing',
  'session-missing': 'X-Service-Session is missing or expired: bootstrap with GET /users/{userRef}',
  'member-required': 'a generic account needs member_ref',
  'member-mismatch':
    'member_ref differs from the user of a nominative account, or body and query name different members',
  'key-missing': 'missing or unknown API key',
  'key-scope': 'the scopes of the key do not allow this call',
  'cross-site': 'the request came from a page of another origin',
  'core-word': 'a word shipped with the product can be disabled, but not edited or deleted',
  'path-unknown': 'no such path',
  'user-not-found': 'user or account not found',
  'pattern-not-found': 'no such reference pattern',
  'nothing-found': 'no result matches the request',
  'policy-default': 'the default policy cannot be archived: make another policy the default first',
  'key-own': 'a key does not revoke itself: use another key',
  'typing-word-not-found': 'no such typing word',
  'link-unknown': 'no such link: it never existed, or was used, revoked, replaced or expired',
  'method-not-allowed': 'the path does not support this method',
  'profile-complete': 'the biometric profile is complete',
  'profile-locked': 'an administrator has locked the person: no pattern is enrolled until the unlock',
  'account-type': 'a change of the account type that was not requested, or that would lose a member',
  'member-exists': 'the account already has a member of this reference',
  'accounts-quota': 'strict quotas: all licensed accounts are in use',
  'shared-accounts-quota': 'strict quotas: all licensed shared accounts are in use',
  'members-quota': 'strict quotas: all licensed members of a shared account are in use',
  'typing-word-taken': 'the language already has this word, shipped or own',
  'typing-words-bound': 'too many own words in the language, or too few enabled words left; the message says which',
  'body-too-large': 'the body is larger than its limit',
  'media-type-unsupported': 'a content type other than application/json, or a content encoding',
  'validation-failed':
    'a parameter or a body field fails its check, or contains NUL or a lone surrogate; the message names it',
  'pattern-invalid': 'the typing pattern is too short, too long, ill-formed or of an unsupported recorder version',
  'words-not-typed': 'the words of the session are required, and the typing pattern has another text',
  'security-code-weak': 'the security code is easy to guess or was used before; the message names the rule',
  'bot-detected': 'the typing pattern was made by a machine',
  'replay-detected': 'the typing pattern was sent before',
  'too-soon':
    'the policy asks for time between the patterns of an enrollment; Retry-After gives the seconds to the next, which is typed anew',
  'rate-limited': 'too many requests; Retry-After gives the seconds to wait',
  'over-rate': 'the key exceeds its requests per second; Retry-After gives the seconds to wait',
  internal: 'a fault of the service; the message has the request id, for support',
  degraded: 'the service is degraded; Retry-After gives the seconds to wait',
  overloaded: 'the service is overloaded; Retry-After gives the seconds to wait',
}

/** A refusal of a route, with its status and reason. */
export interface RowRefusal extends WireRefusal {
  readonly kind: RefusalKind
}

/** All refusals of a route, its own and the server's, sorted by status, then kind. */
export function refusalsOf<S>(row: Route<S>): RowRefusal[] {
  const kinds = new Set<RefusalKind>(row.refuses)
  kinds.add('request-malformed').add('validation-failed').add('internal')
  if (row.needsKey) kinds.add('key-missing').add('key-scope').add('over-rate').add('degraded')
  if (row.lane !== null) kinds.add('overloaded')
  if (row.needsSession) kinds.add('session-missing')
  if (row.body.kind !== 'none') kinds.add('body-too-large').add('media-type-unsupported')
  return [...kinds]
    .map((kind) => ({ kind, ...wireRefusals[kind] }))
    .sort((a, b) => a.status - b.status || a.kind.localeCompare(b.kind))
}

/** The schema of a body as clients send it; null if the route has no body. */
export function bodySchemaOf(rule: BodyRule): JsonSchema | null {
  if (rule.kind === 'none') return null
  return jsonSchemaOf(rule.kind === 'json' ? rule.schema : rule.documents, 'input')
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
}

/** Path and query parameters of a route, as clients send them. */
export function parametersOf<S>(row: Route<S>): Parameter[] {
  const inPath = propertiesOf(jsonSchemaOf(row.params, 'input'))
  const named = [...row.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path' as const,
    required: true,
    schema: inPath.find((property) => property.name === name)?.schema ?? { type: 'string' as const },
  }))
  const queried = propertiesOf(jsonSchemaOf(row.query, 'input')).map((property) => ({
    ...property,
    in: 'query' as const,
  }))
  return [...named, ...queried]
}

/** Request headers of a route other than the key and the session. */
export function headerParametersOf<S>({ headers }: Route<S>): Parameter[] {
  if (headers === undefined) return []
  return propertiesOf(jsonSchemaOf(headers, 'input')).map((property) => ({ ...property, in: 'header' }))
}

/** A route's path in documents: without a trailing slash, because the path without it is served too. */
export const documentedPath = <S>({ path }: Route<S>): string => path.replace(/(?<=.)\/$/, '')

interface Property {
  readonly name: string
  readonly required: boolean
  readonly schema: JsonSchema
}

/** The fields of an object schema; empty for other schemas. */
export function propertiesOf(schema: JsonSchema): Property[] {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    required: required.has(name),
    schema: typeof property === 'boolean' ? {} : property,
  }))
}

/**
 * zod's JSON Schema (draft 2020-12) of a schema, simplified for readers. Transforms and checks by function are left out, and
 * so are the bounds of safe integers and patterns that repeat a named format. Objects allow further fields: unknown fields
 * of requests are ignored, and replies may get new ones.
 */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      // zod omits the examples of a schema that transforms its input; ours are inputs.
      const examples = io === 'input' ? z.globalRegistry.get(zodSchema)?.examples : undefined
      if (Array.isArray(examples)) jsonSchema.examples = examples
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return made
}

/** The media type of a reply that is a file (`z.file()`); null for JSON. */
export function fileTypeOf(reply: z.ZodType): string | null {
  const schema = jsonSchemaOf(reply, 'output')
  if (schema.contentEncoding !== 'binary') return null
  return schema.contentMediaType ?? 'application/octet-stream'
}

/** Operation ids such as `getUsersByUserRef` for `GET /users/{userRef}`; a number makes a duplicate unique. */
export function operationIdsOf<S>(rows: readonly Route<S>[]): Map<Route<S>, string> {
  const ids = new Map<Route<S>, string>()
  const taken = new Set<string>()
  for (const row of rows) {
    const words = row.path.split('/').flatMap((segment) => {
      const param = segment.startsWith('{')
      return [...(param ? ['by'] : []), ...segment.split(/[^A-Za-z0-9]+/)].filter((word) => word !== '')
    })
    const base = row.method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
    let id = base
    for (let n = 2; taken.has(id); n++) id = `${base}${n}`
    taken.add(id)
    ids.set(row, id)
  }
  return ids
}

/** The group of a route in documents: the first literal segment of its path. */
export function groupOf<S>(row: Route<S>): string {
  return row.path.split('/').find((segment) => segment !== '' && !segment.startsWith('{')) ?? 'root'
}
