import type { z } from 'zod'
import { clipped } from './text.js'

/** A check that failed. */
export interface Problem {
  /** The steps from the outermost value to the field. */
  readonly path: readonly PropertyKey[]
  /** Describes the accepted value, never the given one: `must be a whole number`. */
  readonly message: string
}

type Checked<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly problems: Problem[] }

/** Validates a value. A message of the schema has priority over ours; zod's messages are never used. */
export function check<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
  const result = schema.safeParse(value, { error: messageOf })
  if (result.success) return { ok: true, data: result.data }
  return { ok: false, problems: result.error.issues.map(problemOf) }
}

/** The path of a field, such as `kevt[3].seqn`; empty for the outermost value. A name is cut after 64 characters. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((all, step) => {
    if (typeof step === 'number') return `${all}[${step}]`
    const name = clipped(String(step), 64)
    return all === '' ? name : `${all}.${name}`
  }, '')
}

/** Up to three problems, such as `kevt[3].seqn: is required`; `whole` names the outermost value. */
export const sentenceOf = (problems: readonly Problem[], whole: string): string =>
  problems
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => `${fieldPath(path) || whole}: ${message}`)
    .join('; ')

const PROBLEMS_MAX = 3

/** A refused key is client input, so the path names its object instead. */
const problemOf = ({ code, path, message }: z.core.$ZodIssue): Problem => ({
  path: code === 'invalid_key' ? path.slice(0, -1) : path,
  message,
})

function messageOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? 'of another type'}`
    case 'too_small':
      return least(issue)
    case 'too_big':
      return most(issue)
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'in the documented form'}`
    case 'invalid_key':
      return `a key ${issue.issues[0]?.message ?? 'is not accepted'}`
    case 'unrecognized_keys':
      return 'must have no other keys than those documented'
    default:
      return 'is not accepted'
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  date: 'a date such as 2026-11-01',
}

const UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' }

function least({ origin, minimum, inclusive }: Pick<z.core.$ZodIssueTooSmall, 'origin' | 'minimum' | 'inclusive'>) {
  const unit = UNITS[origin]
  if (unit === undefined) return inclusive === false ? `must be more than ${minimum}` : `must be ${minimum} or more`
  return minimum === 1 ? 'must not be empty' : `must have at least ${minimum} ${unit}`
}

function most({ origin, maximum, inclusive }: Pick<z.core.$ZodIssueTooBig, 'origin' | 'maximum' | 'inclusive'>) {
  const unit = UNITS[origin]
  if (unit === undefined) return inclusive === false ? `must be less than ${maximum}` : `must be ${maximum} or less`
  return `must have at most ${maximum} ${unit}`
}
