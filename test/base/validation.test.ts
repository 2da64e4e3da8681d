import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { check, fieldPath, sentenceOf } from '../../src/base/validation.js'

const messageFor = (schema: z.ZodType, value: unknown): string => {
  const checked = check(schema, value)
  return checked.ok ? 'accepted' : sentenceOf(checked.problems, 'body')
}

describe('a field', () => {
  it('is named by its path, an item by its number', () => {
    expect(fieldPath(['kevt', 3, 'seqn'])).toBe('kevt[3].seqn')
    expect(fieldPath([])).toBe('')
    expect(fieldPath(['tag', 'x'.repeat(100)])).toBe(`tag.${'x'.repeat(64)}`)
  })
})

describe('a failed check names the accepted value, not the given one', () => {
  it.each<[string, z.ZodType, unknown, string]>([
    ['a missing field', z.object({ a: z.string() }), {}, 'a: is required'],
    ['null', z.object({ a: z.string() }), { a: null }, 'a: must be a string'],
    ['text for a number', z.object({ a: z.coerce.number() }), { a: 'x' }, 'a: must be a number'],
    ['infinity', z.number(), Number.POSITIVE_INFINITY, 'body: must be a number'],
    ['a fraction', z.int(), 1.5, 'body: must be a whole number'],
    ['text for a boolean', z.boolean(), 'yes', 'body: must be true or false'],
    ['an array for an object', z.object({}), [], 'body: must be an object'],
    ['an array for a record', z.record(z.string(), z.string()), [], 'body: must be an object'],
    ['an object for an array', z.array(z.string()), {}, 'body: must be an array'],
    ['text for bytes', z.instanceof(Uint8Array), 'x', 'body: must be of another type'],
    ['a small number', z.number().min(60), 5, 'body: must be 60 or more'],
    ['a large number', z.number().max(60), 61, 'body: must be 60 or less'],
    ['a number at an excluded bound', z.number().gt(0), 0, 'body: must be more than 0'],
    ['a number at the other one', z.number().lt(1), 1, 'body: must be less than 1'],
    ['empty text', z.string().min(1), '', 'body: must not be empty'],
    ['short text', z.string().min(2), 'a', 'body: must have at least 2 characters'],
    ['long text', z.string().max(2), 'abc', 'body: must have at most 2 characters'],
    ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'body: must have at most 1 entries'],
    ['an unknown choice', z.enum(['a', 'b']), 'c', 'body: must be one of a, b'],
    ['another literal', z.literal(true), 1, 'body: must be true'],
    ['no id', z.uuid(), 'x', 'body: must be a UUID'],
    ['text of another form', z.string().regex(/^a$/), 'x', 'body: must be in the documented form'],
    [
      'a long key',
      z.object({ tag: z.record(z.string().max(2), z.string()) }),
      { tag: { secret: 'a' } },
      'tag: a key must have at most 2 characters',
    ],
    [
      'an unknown key',
      z.partialRecord(z.enum(['a']), z.int()),
      { x: 1 },
      'body: must have no other keys than those documented',
    ],
    ['none of several forms', z.union([z.string(), z.int()]), true, 'body: is not accepted'],
    ['a message of its own', z.string().max(1, 'is too much'), 'ab', 'body: is too much'],
  ])('%s', (_, schema, value, message) => {
    expect(messageFor(schema, value)).toBe(message)
  })

  it('of at most three fields', () => {
    const each = z.string()
    expect(messageFor(z.object({ a: each, b: each, c: each, d: each }), {})).toBe(
      'a: is required; b: is required; c: is required',
    )
  })
})
