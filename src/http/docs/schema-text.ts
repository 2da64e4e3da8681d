import { type JsonSchema, propertiesOf } from './route-docs.js'

/** A readable description of one field; `name` is its dotted path from the root. */
interface FieldLine {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly note: string
}

/** Deeper fields are only in the OpenAPI document. */
const depthMax = 4

/** A line for every field of a schema, nested fields after their parents; for a union, the fields of each member in turn. */
export function fieldLines(schema: JsonSchema, prefix = '', depth = 1): FieldLine[] {
  const lines: FieldLine[] = []
  const take = (line: FieldLine) => {
    if (!lines.some(({ name, type }) => name === line.name && type === line.type)) lines.push(line)
  }
  for (const { name, required, schema: field } of propertiesOf(schema)) {
    const whole = prefix + name
    take({ name: whole, type: typeText(field), required, note: noteText(field) })
    if (depth < depthMax) for (const line of nestedLines(field, whole, depth)) take(line)
  }
  for (const member of membersOf(schema)) for (const line of fieldLines(member, prefix, depth)) take(line)
  if (prefix === '' && schema.type === 'array') for (const line of nestedLines(schema, '', depth)) take(line)
  return lines
}

function nestedLines(field: JsonSchema, name: string, depth: number): FieldLine[] {
  const { items } = field
  if (typeof items === 'object' && !Array.isArray(items)) return fieldLines(items, `${name}[].`, depth + 1)
  const inMembers = membersOf(field).flatMap((member) => nestedLines(member, name, depth))
  return [
    ...(field.properties === undefined ? [] : fieldLines({ ...field, anyOf: [] }, `${name}.`, depth + 1)),
    ...inMembers,
  ]
}

/** The type in words: `string`, `integer or null`, `array of string`, `"ask" or "list"`. */
export function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  const members = membersOf(schema)
  if (members.length > 0) return [...new Set(members.map(typeText))].join(' or ')
  if (schema.type === 'array') {
    const { items } = schema
    return typeof items === 'object' && !Array.isArray(items) ? `array of ${typeText(items)}` : 'array'
  }
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  if (schema.type === undefined) return 'any'
  return schema.format === undefined ? schema.type : `${schema.type}, ${schema.format}`
}

function noteText(schema: JsonSchema): string {
  const notes: string[] = []
  if (schema.description !== undefined) notes.push(schema.description)
  if (schema.minLength === 1) notes.push('not empty')
  else if (schema.minLength !== undefined) notes.push(`at least ${schema.minLength} characters`)
  if (schema.maxLength !== undefined) notes.push(`at most ${schema.maxLength} characters`)
  if (schema.minimum !== undefined) notes.push(`from ${schema.minimum}`)
  if (schema.maximum !== undefined) notes.push(`to ${schema.maximum}`)
  if (schema.maxItems !== undefined) notes.push(`at most ${schema.maxItems} items`)
  if (schema.default !== undefined) notes.push(`default ${JSON.stringify(schema.default)}`)
  if (schema.pattern !== undefined) notes.push(`matches ${schema.pattern}`)
  return notes.join('; ')
}

/** The alternatives of a schema (`anyOf`, `oneOf`) and its parts (`allOf`). */
export function membersOf(schema: JsonSchema): JsonSchema[] {
  return [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].filter(
    (member): member is JsonSchema => typeof member === 'object',
  )
}

/** An example value of a schema, to copy. It need not match a regular expression of the schema. */
export function sampleOf(schema: JsonSchema, name = '', depth = 1): unknown {
  const example = schema.examples?.[0]
  if (example !== undefined) return example
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum !== undefined) return schema.enum[0]
  const [member] = membersOf(schema)
  if (member !== undefined && schema.properties === undefined) return sampleOf(member, name, depth)
  if (schema.type === 'object' || schema.properties !== undefined) {
    if (depth > depthMax) return {}
    return Object.fromEntries(
      propertiesOf(schema).map((field) => [field.name, sampleOf(field.schema, field.name, depth + 1)]),
    )
  }
  if (schema.type === 'array') {
    const { items } = schema
    return typeof items === 'object' && !Array.isArray(items) && depth <= depthMax
      ? [sampleOf(items, name, depth + 1)]
      : []
  }
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'null') return null
  if (schema.format === 'date-time') return '2026-01-31T12:00:00.000Z'
  return /ref$/i.test(name) ? 'ann' : 'string'
}
