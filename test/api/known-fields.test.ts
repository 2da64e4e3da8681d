import { expect, it } from 'vitest'
import { fieldPath } from '../../src/base/validation.js'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { checkedBody } from '../../src/http/intake/json-body.js'
import type { Route } from '../../src/http/route.js'
import { person } from '../../src/typist/made-up-person.js'
import { text } from '../harness/enrolled.js'
import { withValue } from './hostile-texts.js'
import { bodiesOf, fieldsIn, ROWS } from './rows.js'

const who = person(1)
const pattern = () => who.types(text(1), 1)

interface Outcome {
  readonly value?: unknown
  readonly warnings?: readonly string[]
  readonly message?: string
}

/** The outcome of a body for a route: its value and warnings, or the message of the refusal. */
function outcomeOf(row: Route<never>, given: unknown): Outcome {
  const body = JSON.parse(JSON.stringify(given))
  if (row.body.kind === 'bytes' && !('securityCode' in body)) {
    const read = readTypingPattern(new TextEncoder().encode(JSON.stringify(body)))
    return read.ok ? { value: read.pattern, warnings: read.warnings } : { message: read.message }
  }
  const schema = 'schema' in row.body ? row.body.schema : row.body.kind === 'bytes' ? row.body.documents : null
  if (schema === null) throw new Error('a row with a body')
  if ('pattern' in body) body.pattern = new Uint8Array()
  try {
    return checkedBody(schema, body)
  } catch (error) {
    return { message: (error as Error).message }
  }
}

/** The same name in another spelling. */
function respelt(name: string): string {
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  if (camel !== name) return camel
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return snake === name ? name.toUpperCase() : snake
}

it('a body gets a warning for each misspelt field and no other, and null is like an absent optional field', () => {
  let nFields = 0
  for (const [name, , row] of ROWS)
    for (const [schema, body] of bodiesOf(row, pattern)) {
      expect(JSON.stringify(outcomeOf(row, body)), name).not.toContain('did you mean')
      for (const { path, optional, nullable } of fieldsIn(schema)) {
        const last = path.at(-1)
        // The schema treats a pattern inside a body as bytes.
        if (typeof last !== 'string' || (path[0] === 'pattern' && path.length > 1)) continue
        nFields++
        const where = `${name} ${fieldPath(path)}`
        const misspelt = [...path.slice(0, -1), respelt(last)]
        const { warnings, message } = outcomeOf(row, withValue(body, misspelt, 1))
        const warning = `${fieldPath(misspelt)} is not a field and was ignored; did you mean ${last}?`
        expect(warnings?.join() ?? message, where).toContain(warning)
        if (optional && !nullable)
          expect(outcomeOf(row, withValue(body, path, null)), where).toEqual(
            outcomeOf(row, withValue(body, path, undefined)),
          )
      }
    }
  expect(nFields).toBeGreaterThan(200)
})
