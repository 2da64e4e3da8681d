import { describe, expect, it } from 'vitest'
import { readTypingPattern } from '../../src/domain/typing-pattern.js'
import { fieldPath } from '../../src/domain/validation/validation.js'
import { checkedBody } from '../../src/http/intake/json-body.js'
import type { Route } from '../../src/http/route.js'
import { person } from '../../src/typist/made-up-person.js'
import { text } from './enrolled.js'
import { withValue } from './hostile-texts.js'
import { bodiesOf, type Field, fieldsIn, ROWS } from './rows.js'

const who = person(1)
const pattern = () => who.types(text(1), 1)

/** The outcome of a body for a route: its value and warnings, or the message of the refusal. */
function outcomeOf(
  row: Route<never>,
  given: unknown,
): { value?: unknown; warnings?: readonly string[]; message?: string } {
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

/** Every field that the schema of a body checks. The schema treats a pattern inside a body as bytes. */
const FIELDS = ROWS.flatMap(([name, , row]) =>
  bodiesOf(row, pattern).flatMap(([schema, body]) =>
    fieldsIn(schema)
      .filter(({ path }) => typeof path.at(-1) === 'string' && (path[0] !== 'pattern' || path.length === 1))
      .map((field): [string, Route<never>, unknown, Field] => [`${name} ${fieldPath(field.path)}`, row, body, field]),
  ),
)

/** The same name in another spelling. */
function respelt(name: string): string {
  const camel = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  if (camel !== name) return camel
  const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return snake === name ? name.toUpperCase() : snake
}

describe('a body', () => {
  it('has more than 200 fields to test', () => expect(FIELDS.length).toBeGreaterThan(200))

  it.each(FIELDS.filter(([, , , { optional, nullable }]) => optional && !nullable))(
    'treats null like an absent field: %s',
    (_, row, body, { path }) => {
      const absent = outcomeOf(row, withValue(body, path, undefined))
      expect(outcomeOf(row, withValue(body, path, null))).toEqual(absent)
    },
  )

  it.each(FIELDS)('gets a warning for a misspelt field: %s', (_, row, body, { path }) => {
    const misspelt = [...path.slice(0, -1), respelt(String(path.at(-1)))]
    const warning = `${fieldPath(misspelt)} is not a field and was ignored; did you mean ${String(path.at(-1))}?`
    const { warnings, message } = outcomeOf(row, withValue(body, misspelt, 1))
    expect(warnings?.join() ?? message).toContain(warning)
  })

  it.each(ROWS.filter(([, , row]) => row.body.kind !== 'none'))(
    'gets no warning if it is as documented: %s',
    (_, __, row) => {
      for (const [, body] of bodiesOf(row, pattern))
        expect(JSON.stringify(outcomeOf(row, body))).not.toContain('did you mean')
    },
  )
})
