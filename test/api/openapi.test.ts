import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { documentOf, rowOf, validatorOf } from '../contract.js'

/** The recommended rules and those that hold examples to their schemas; what is off has its reason. */
const RULES = {
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-media-type-examples': 'error',
  // Tags are first segments of paths, made from the rows: there is nothing to say of them that the rows do not.
  'tag-description': 'off',
  // Two paths of the interface end with a slash, and clients call them so.
  'no-path-trailing-slash': 'off',
} as const

const problemsOf = async (document: object) => {
  const config = await createConfig({ extends: ['recommended'], rules: RULES })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

describe('the OpenAPI documents of the three APIs', () => {
  it.each(['core', 'auth', 'dashboard'] as const)(
    'keep the recommended rules of a linter, warnings too: %s',
    async (api) => {
      expect(await problemsOf(documentOf(api))).toEqual([])
    },
  )

  it('are looked at in earnest: an example that breaks its schema is found, and an answer that does', async () => {
    const document = documentOf('core')
    const { components } = document
    const broken = { ...components.schemas, putUsersByUserRefSecurityCodeBody: { type: 'object', examples: ['none'] } }
    expect(await problemsOf({ ...document, components: { ...components, schemas: broken } })).toEqual([
      expect.stringContaining('no-invalid-schema-examples'),
    ])
    const row = rowOf('core', 'GET', '/organization/language')
    if (row === undefined) throw new Error('no such row')
    const envelope = { timestamp: '2026-01-31T12:00:00.000Z', success: true, message: 'Done' }
    const answer = { ...envelope, default_language: 'fr', language_mode: 'auto' }
    const validate = validatorOf('core', row, 200)
    expect(validate?.(answer)).toBe(true)
    for (const wrong of [
      { language_mode: 'never' },
      { success: false },
      { timestamp: 'now' },
      { default_language: undefined },
    ])
      expect(validate?.({ ...answer, ...wrong }), JSON.stringify(wrong)).toBe(false)
    expect(validatorOf('core', row, 418)).toBeNull()
  })
})
