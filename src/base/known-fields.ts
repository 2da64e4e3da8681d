import { z } from 'zod'
import { fieldPath } from './validation.js'

/** The fields of a schema at one place of a JSON value. */
interface Fields {
  /** Fields of an object, by name. */
  readonly named: ReadonlyMap<string, Field>
  /** Field name by spelling: lower case, without `_` and `-`. */
  readonly spelled: ReadonlyMap<string, string>
  /** Fields of each item of an array, or of each value of a record. */
  readonly each: Fields | null
}

interface Field {
  readonly fields: Fields | null
  readonly optional: boolean
  readonly nullable: boolean
}

/**
 * Prepares a parsed JSON value for a schema, in place: removes null from optional fields that are not nullable, so that
 * null means absent. Returns a warning for each unknown field that is another spelling of a known one (`memberRef` for
 * `member_ref`); in an array it checks the first item only. The caller must bound the depth.
 */
export function prepareFields(schema: z.ZodType, value: unknown): string[] {
  const warnings: string[] = []
  prepare(value, fieldsOf(schema), [], warnings)
  return warnings
}

/** The warning for one unknown field at a path; null if it is not another spelling of a known field. */
export function misspelt(schema: z.ZodType, path: readonly PropertyKey[], name: string): string | null {
  let fields = fieldsOf(schema)
  for (const step of path)
    fields = (typeof step === 'number' ? fields?.each : fields?.named.get(String(step))?.fields) ?? null
  return fields === null ? null : warningOf(fields, path, name)
}

function prepare(value: unknown, fields: Fields | null, path: readonly PropertyKey[], warnings: string[] | null): void {
  if (fields === null || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) prepare(item, fields.each, [...path, i], i === 0 ? warnings : null)
    return
  }
  const object = value as Record<string, unknown> // Sound: it is neither null nor an array.
  for (const name of Object.keys(object)) {
    const field = fields.named.get(name)
    const inside = field === undefined ? fields.each : field.fields
    if (field === undefined) {
      const warning = warnings === null ? null : warningOf(fields, path, name)
      if (warning !== null) warnings?.push(warning)
    } else if (object[name] === null && field.optional && !field.nullable) delete object[name]
    if (inside !== null) prepare(object[name], inside, [...path, name], warnings)
  }
}

function warningOf({ named, spelled }: Fields, path: readonly PropertyKey[], name: string): string | null {
  const meant = named.has(name) ? undefined : spelled.get(spelling(name))
  return meant === undefined
    ? null
    : `${fieldPath([...path, name])} is not a field and was ignored; did you mean ${meant}?`
}

const spelling = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()

const known = new WeakMap<z.ZodType, { readonly fields: Fields | null }>()

function fieldsOf(schema: z.ZodType): Fields | null {
  let found = known.get(schema)
  if (found === undefined) {
    found = { fields: readFields(schema) }
    known.set(schema, found)
  }
  return found.fields
}

/** The inner schemas of a zod wrapper, by zod's names for the parts of a definition. */
interface Definition {
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly element?: z.ZodType
  readonly valueType?: z.ZodType
}
// Sound: every schema has a definition; a missing part is undefined.
const definitionOf = (schema: z.ZodType) => schema.def as Definition

function readFields(schema: z.ZodType): Fields | null {
  if (schema instanceof z.ZodObject)
    return fieldsNamed(Object.entries<z.ZodType>(schema.shape).map(([name, type]) => [name, fieldOf(type)]))
  if (schema instanceof z.ZodUnion) return merged(schema.options.map((option) => fieldsOf(option as z.ZodType)))
  const { innerType, in: input, element, valueType } = definitionOf(schema)
  const item = element ?? valueType
  if (item !== undefined) {
    const each = fieldsOf(item)
    return each === null ? null : { named: new Map(), spelled: new Map(), each }
  }
  const within = innerType ?? input
  return within === undefined ? null : fieldsOf(within)
}

const fieldOf = (schema: z.ZodType): Field => ({
  fields: fieldsOf(schema),
  optional: schema.safeParse(undefined).success,
  nullable: takesNull(schema),
})

/** Whether a schema accepts null. A trial parse does not show it, because coercion turns null into a number. */
function takesNull(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodNull) return true
  if (schema instanceof z.ZodUnion) return schema.options.some((option) => takesNull(option as z.ZodType))
  const { innerType, in: input } = definitionOf(schema)
  const within = innerType ?? input
  return within !== undefined && takesNull(within)
}

function fieldsNamed(fields: readonly (readonly [string, Field])[]): Fields {
  return {
    named: new Map(fields),
    spelled: new Map(fields.map(([name]) => [spelling(name), name])),
    each: null,
  }
}

/** The fields of several forms; a field that is absent in one form is optional. */
function merged(forms: readonly (Fields | null)[]): Fields | null {
  const objects = forms.filter((form) => form !== null)
  if (objects.length === 0) return null
  const names = new Set(objects.flatMap(({ named }) => [...named.keys()]))
  return fieldsNamed(
    [...names].map((name) => {
      const found = objects.flatMap(({ named }) => named.get(name) ?? [])
      return [
        name,
        {
          fields: merged(found.map(({ fields }) => fields)),
          optional: found.length < objects.length || found.some(({ optional }) => optional),
          nullable: found.some(({ nullable }) => nullable),
        },
      ]
    }),
  )
}
