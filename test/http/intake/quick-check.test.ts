import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { LanguageHeaders, MemberAndLanguageQuery, UserParams } from '../../../src/api/core/core-route.js'
import { isText } from '../../../src/base/text.js'
import { normalizeUserRef, UserRef } from '../../../src/domain/user-ref.js'
import { quickCheck } from '../../../src/http/intake/quick-check.js'
import { ROWS } from '../../api/rows.js'

const upper = z.string().transform((text) => text.toUpperCase())
/** Fields that the quick check knows, and fields that look like those. */
const fields = {
  plain: z.string(),
  described: z.string().describe('a text'),
  optional: z.string().optional(),
  reference: UserRef,
  optionalReference: UserRef.optional().describe('a reference'),
  transformed: upper.optional(),
  twice: upper.transform((text) => text.length),
  exact: z.string().exactOptional(),
  defaulted: z.string().default('none'),
  optionalDefault: z.string().default('none').optional(),
  defaultOptional: z.string().optional().default('none'),
  prefault: z.string().prefault('none'),
  caught: z.string().max(2).catch('none'),
  nullish: z.string().nullish(),
  shortest: z.string().min(2),
  trimmed: z.string().trim(),
  refined: z.string().refine((text) => text !== 'a'),
  refinedAfter: upper.refine((text) => text !== 'A'),
  refinedOptional: z
    .string()
    .optional()
    .refine((text) => text !== 'a'),
  transformOfOptional: z
    .string()
    .optional()
    .transform((text) => text ?? 'none'),
  piped: z.string().pipe(z.coerce.number()),
  preprocessed: z.preprocess((text) => text ?? 'none', z.string()),
  coerced: z.coerce.string(),
  coercedTransform: z.coerce.string().transform((text) => text),
  email: z.email(),
  uuid: z.string().uuid(),
  date: z.iso.date().optional(),
  count: z.coerce.number().int().optional(),
  choice: z.enum(['a', 'b']).optional(),
  lazy: z.lazy(() => z.string()),
  readonly: z.string().readonly(),
  failing: z.string().transform((text, context) => {
    if (text.length > 2) context.addIssue('too long')
    if (text.length === 1) context.issues.push({ code: 'custom', message: 'too short', input: text })
    return text
  }),
}
const names = Object.keys(fields) as (keyof typeof fields)[]

const text = fc.oneof(
  fc.constantFrom('', 'a', 'A', 'ab', ' Ann ', 'ann@example.com', '12', '2026-11-01', '\0', '\ud800', 'é'),
  fc.string({ maxLength: 6, unit: 'binary' }),
)
const objects = fc
  .record({
    shape: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    form: fc.nat({ max: 9 }),
  })
  .map(({ shape, form }) => {
    const object = z.object(Object.fromEntries(shape.map((name) => [name, fields[name]])))
    if (form === 0) return object.strict()
    if (form === 1) return object.loose()
    if (form === 2) return object.refine((value) => Object.keys(value).length !== 1)
    return object
  })
const given = fc.dictionary(fc.constantFrom(...names, 'unknown', '__proto__'), fc.option(text, { nil: undefined }), {
  maxKeys: 6,
})

describe('the quick check', () => {
  it('accepts only what the schema accepts, with the same output', () => {
    let accepted = 0
    fc.assert(
      fc.property(objects, given, (schema, value) => {
        const output = quickCheck(schema, value)
        if (output === null) return
        accepted += 1
        expect(output).toEqual(schema.parse(value))
        expect(
          Object.entries(value)
            .flat()
            .every((one) => one === undefined || isText(one)),
        ).toBe(true)
      }),
      { numRuns: 5000, seed: 20261129 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('gives the output of zod for the path, query and headers of each route', () => {
    const schemas = ROWS.flatMap(([, , { params, query, headers }]) => [params, query, headers ?? z.object({})])
    fc.assert(
      fc.property(fc.constantFrom(...schemas), fc.dictionary(text, text), text, (schema, others, one) => {
        const named = schema instanceof z.ZodObject ? Object.keys(schema.shape).map((name) => [name, one]) : []
        const value = { ...others, ...Object.fromEntries(named) }
        const output = quickCheck(schema, value)
        if (output !== null) expect(output).toEqual(schema.parse(value))
      }),
      { numRuns: 5000, seed: 20261129 },
    )
  })

  it('decides the usual call of a verify, with and without its optional parts', () => {
    expect(quickCheck(UserParams, { userRef: 'Ann Lee' })).toEqual({ userRef: normalizeUserRef('Ann Lee') })
    expect(quickCheck(MemberAndLanguageQuery, {})).toEqual({})
    expect(quickCheck(MemberAndLanguageQuery, { member_ref: 'Bob', other: 'x' })).toEqual({ member_ref: 'bob' })
    expect(quickCheck(LanguageHeaders, { 'Accept-Language': undefined })).toEqual({})
    expect(quickCheck(LanguageHeaders, { 'Accept-Language': 'fr' })).toEqual({ 'Accept-Language': 'fr' })
  })

  it('leaves to the schema what it refuses, and text with NUL or a lone surrogate', () => {
    expect(quickCheck(UserParams, { userRef: '?' })).toBeNull()
    expect(quickCheck(UserParams, {})).toBeNull()
    expect(quickCheck(LanguageHeaders, { 'Accept-Language': 'a\0' })).toBeNull()
    expect(quickCheck(MemberAndLanguageQuery, { 'other\ud800': 'x' })).toBeNull()
  })
})
