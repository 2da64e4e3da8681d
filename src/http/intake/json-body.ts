import type { z } from 'zod'
import { prepareFields } from '../../base/known-fields.js'
import { ILL_FORMED, illFormedPath } from '../../base/text.js'
import { check, type Problem, sentenceOf } from '../../base/validation.js'
import { Refusal } from '../../domain/refusal.js'
import { quickCheck } from './quick-check.js'

/** Deepest nesting of objects and arrays in a body, the outermost included. */
const depthMax = 8

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses a JSON body: strict UTF-8, strict JSON, at most `depthMax` deep, no key that can reach a prototype, no number beyond
 * a double's range, neither NUL nor a lone surrogate in a string. The route's schema checks everything else. Refuses with
 * `validation-failed`; the message names the place, never the value. The caller has capped the bytes, so the walk is bounded.
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new Refusal('validation-failed', 'body: not valid UTF-8')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message is dropped, because it quotes the body.
    throw new Refusal('validation-failed', 'body: not valid JSON')
  }
  checkValue(value, 1)
  // NUL and lone surrogates occur only as \u escapes, because a raw NUL is not JSON and a raw surrogate is not UTF-8.
  if (text.includes('\\u')) checkText(value, 'body')
  return value
}

function checkText(value: unknown, where: Where): void {
  const path = illFormedPath(value)
  if (path !== null) throw wrong([{ path, message: ILL_FORMED }], where)
}

type Where = 'body' | 'query' | 'path' | 'header'

/**
 * The schema's output for decoded parameters or headers. Strings are checked as in `parseJson`. Refuses with
 * `validation-failed`; the message names the parameters, never their values.
 */
export function checked(
  schema: z.ZodType,
  value: Readonly<Record<string, string | undefined>>,
  where: Exclude<Where, 'body'>,
): unknown {
  const output = quickCheck(schema, value)
  if (output !== null) return output
  checkText(value, where)
  const result = check(schema, value)
  if (result.ok) return result.data
  throw wrong(result.problems, where)
}

export interface CheckedBody<T = unknown> {
  readonly value: T
  /** One sentence for each unknown field whose name is close to a known one. */
  readonly warnings: readonly string[]
}

/**
 * The schema's output for a body that `parseJson` returned; the schema may change that value. Null counts as absent in an
 * optional field. Refuses with `validation-failed`; the message names the fields and the misspelt ones, never their values.
 */
export function checkedBody<S extends z.ZodType>(schema: S, value: unknown): CheckedBody<z.output<S>> {
  const warnings = prepareFields(schema, value)
  const result = check(schema, value)
  if (result.ok) return { value: result.data, warnings }
  const { kind, message } = wrong(result.problems, 'body')
  throw new Refusal(kind, [message, ...warnings].join('; '))
}

/** Names a field of the body by its path, and a parameter by its place and path: `query.limit`. */
function wrong(problems: readonly Problem[], where: Where): Refusal {
  const placed = where === 'body' ? problems : problems.map((one) => ({ ...one, path: [where, ...one.path] }))
  return new Refusal('validation-failed', sentenceOf(placed, where))
}

function checkValue(value: unknown, depth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Refusal('validation-failed', 'body: a number is out of range')
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > depthMax) throw new Refusal('validation-failed', `body: nested deeper than ${depthMax}`)
  if (Array.isArray(value)) {
    for (const item of value) checkValue(item, depth + 1)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
      throw new Refusal('validation-failed', `body: the key ${key} is not allowed`)
    }
    checkValue(item, depth + 1)
  }
}
