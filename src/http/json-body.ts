import type { z } from 'zod'
import { Refusal } from '../domain/refusal.js'

/** Nesting of objects and arrays in a body, the outermost counted (decisions 1). */
export const depthMax = 8
/** A message names so many wrong fields at the most. */
const issuesMax = 3

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A JSON body's value: strict UTF-8, strict JSON, at most `depthMax` deep, no key that can reach a prototype, no number
 * beyond a double's range. Everything else is the row's schema's to judge. Refuses with `validation-failed`, and says
 * where, never what came. The caller has capped the bytes, so the walk is bounded.
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
    // The parser's own message quotes the body, so it goes nowhere.
    throw new Refusal('validation-failed', 'body: not valid JSON')
  }
  checkValue(value, 1)
  return value
}

/** What the schema makes of a value; refuses with `validation-failed` naming the fields under `where`, not values. */
export function checked(schema: z.ZodType, value: unknown, where: 'body' | 'query' | 'path'): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.slice(0, issuesMax)
  throw new Refusal('validation-failed', issues.map((issue) => sentence(issue, where)).join('; '))
}

function sentence(issue: z.core.$ZodIssue, where: string): string {
  const path = [where, ...issue.path.map((step) => String(step).slice(0, 64))].join('.')
  return `${path}: ${issue.message}`
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
