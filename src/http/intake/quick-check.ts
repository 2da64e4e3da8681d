import { z } from 'zod'
import { isText } from '../../base/text.js'

type GivenTexts = Readonly<Record<string, string | undefined>>

/** The output for one string; `declined` leaves the string to the schema. */
type TextCheck = (text: string) => unknown
const declined = Symbol('declined')

interface TextField {
  readonly name: string
  readonly check: TextCheck
  /** Whether the field may be absent; it is then absent in the output too. */
  readonly optional: boolean
}

/**
 * The schema's output for a record of strings, without a run of zod: 0.4 us instead of 3.8 us for the path, query and headers of a
 * verify. Accepts only records that `isText` and the schema accept, and returns null for all others, whose messages come from the
 * schema. Supports objects of strings without checks, such strings with a transform, and optional fields that are absent.
 */
export function quickCheck(schema: z.ZodType, given: GivenTexts): Record<string, unknown> | null {
  const fields = fieldsOf(schema)
  if (fields === null) return null
  for (const name in given) if (!isText(name) || !isText(given[name] ?? '')) return null
  const output: Record<string, unknown> = {}
  for (const { name, check, optional } of fields) {
    const text = given[name]
    if (text !== undefined) {
      const value = check(text)
      if (value === declined) return null
      output[name] = value
    } else if (!optional) return null
  }
  return output
}

const known = new WeakMap<z.ZodType, readonly TextField[] | null>()

function fieldsOf(schema: z.ZodType): readonly TextField[] | null {
  let fields = known.get(schema)
  if (fields === undefined) {
    fields = readFields(schema)
    known.set(schema, fields)
  }
  return fields
}

function readFields(schema: z.ZodType): readonly TextField[] | null {
  if (!(schema instanceof z.ZodObject) || schema.def.catchall !== undefined || hasChecks(schema)) return null
  return Object.entries<z.ZodType>(schema.shape).map(([name, type]) => {
    const optional = type instanceof z.ZodOptional && !hasChecks(type)
    const whenAbsent = optional ? type.safeParse(undefined) : null
    return {
      name,
      // Sound: an optional schema of zod wraps another one.
      check: textCheckOf(optional ? (type.def.innerType as z.ZodType) : type),
      optional: whenAbsent?.success === true && whenAbsent.data === undefined,
    }
  })
}

function textCheckOf(schema: z.ZodType): TextCheck {
  if (schema instanceof z.ZodString && !hasChecks(schema)) return (text) => text
  if (!(schema instanceof z.ZodPipe) || hasChecks(schema)) return () => declined
  // Sound: a pipe of zod has two schemas.
  const [first, last] = [schema.def.in as z.ZodType, schema.def.out as z.ZodType]
  if (!(last instanceof z.ZodTransform) || hasChecks(last)) return () => declined
  const [before, { transform }] = [textCheckOf(first), last.def]
  return (text) => {
    const value = before(text)
    if (value === declined) return declined
    const issues: z.core.$ZodRawIssue[] = []
    const context = { value, issues, addIssue: (issue: z.core.$ZodRawIssue) => issues.push(issue) }
    const output = transform(value, context)
    return issues.length > 0 ? declined : output
  }
}

const hasChecks = (schema: z.ZodType): boolean => (schema.def.checks?.length ?? 0) > 0
