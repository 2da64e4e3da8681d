import { z } from 'zod'
import type { RefusalKind } from '../../domain/refusal.js'
import { type WireRefusal, wireRefusals } from '../refusals.js'
import type { BodyRule, Route } from '../route.js'

/** A JSON Schema as documents carry it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** What each refusal means to a caller, for the documents made from the rows. */
export const refusalMeanings: Readonly<Record<RefusalKind, string>> = {
  'request-malformed': 'bad percent escape, repeated parameter or header, unclear body framing',
  'session-missing': 'X-Service-Session is missing or expired: bootstrap with GET /users/{userRef}',
  'member-required': 'a generic account needs member_ref',
  'member-mismatch': 'member_ref differs from the user of a nominative account',
  'key-missing': 'missing or unknown API key',
  'key-scope': 'the key is not for this API',
  'cross-site': 'a page of another origin asked for this',
  'core-word': 'a word that the product ships can be disabled, not edited or deleted',
  'path-unknown': 'no such path',
  'user-not-found': 'user or account not found',
  'pattern-not-found': 'no such reference pattern',
  'nothing-found': 'no result matches the request',
  'policy-default': 'the default policy cannot be archived: make another one the default first',
  'typing-word-not-found': 'no such typing word',
  'link-unknown': 'no such link: never made, used, revoked, replaced or expired',
  'method-not-allowed': 'the path takes other methods',
  'profile-complete': 'the biometric profile is complete',
  'account-type': 'a change of the account type that was not asked for, or that would lose a member',
  'member-exists': 'the account has a member of this reference',
  'accounts-quota': 'strict quotas: all licensed accounts are in use',
  'shared-accounts-quota': 'strict quotas: all licensed shared accounts are in use',
  'members-quota': 'strict quotas: all licensed members of a shared account are in use',
  'typing-word-taken': 'the language has this word already, shipped or own',
  'typing-words-bound': 'too many own words in a language, or too few enabled ones left; the message says which',
  'body-too-large': 'the body is over its cap',
  'media-type-unsupported': 'a content type other than application/json, or a content encoding',
  'validation-failed':
    'a parameter or a body field fails its check, or contains NUL or a lone surrogate; the message names it',
  'pattern-invalid': 'the typing pattern is too short, too long, ill-formed or of an unsupported recorder version',
  'security-code-weak': 'the security code is easy to guess, or was used before; the message names the rule',
  'bot-detected': 'the typing pattern was made by a machine',
  'replay-detected': 'the typing pattern was sent before',
  'rate-limited': 'too many requests; Retry-After says when to come back',
  'over-rate': 'the key makes more requests a second than it may; Retry-After says when to come back',
  internal: 'a fault of the service; the message carries the request id to give to support',
  degraded: 'the service is degraded; Retry-After says when to come back',
  overloaded: 'more is asked of the service than it can do; Retry-After says when to come back',
}

/** A refusal a row can give, with its look on the wire. */
export interface RowRefusal extends WireRefusal {
  readonly kind: RefusalKind
}

/** Every refusal of a row: its own, and those the server gives for it. In order of status. */
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

/** What documents say of a body: as clients send it. Null where there is none. */
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

/** Path and query parameters of a row, as a client gives them. */
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

/** Request headers of a row besides those of key and session. */
export function headerParametersOf<S>({ headers }: Route<S>): Parameter[] {
  if (headers === undefined) return []
  return propertiesOf(jsonSchemaOf(headers, 'input')).map((property) => ({ ...property, in: 'header' }))
}

/** A row's path in documents: what ends with a slash is served without it too, and documented so. */
export const documentedPath = <S>({ path }: Route<S>): string => path.replace(/(?<=.)\/$/, '')

interface Property {
  readonly name: string
  readonly required: boolean
  readonly schema: JsonSchema
}

/** The fields of an object schema; none for another kind. */
export function propertiesOf(schema: JsonSchema): Property[] {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    required: required.has(name),
    schema: typeof property === 'boolean' ? {} : property,
  }))
}

/**
 * zod's own JSON Schema (draft 2020-12) of a schema, made fit for reading: what JSON cannot say (transforms, checks by
 * function) is left open; a pattern that only repeats a named format and the bounds of safe integers are left out; and
 * objects stay open, because unknown fields are ignored on the way in and may be added on the way out.
 */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      // zod leaves them out where a schema transforms what comes: ours show what is sent.
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

/** `getUsersByUserRef` for `GET /users/{userRef}`. Unique within the rows given, by a number where it must be. */
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

/** The first literal segment of a row's path: what documents group it under. */
export function groupOf<S>(row: Route<S>): string {
  return row.path.split('/').find((segment) => segment !== '' && !segment.startsWith('{')) ?? 'root'
}
