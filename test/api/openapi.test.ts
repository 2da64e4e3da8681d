import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { documentOf, rowOf, validatorOf } from '../harness/contract.js'

/** Rules in addition to the recommended ones: they check examples against their schemas. */
const RULES = {
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  'no-invalid-media-type-examples': 'error',
} as const

const problemsOf = async (document: object) => {
  const config = await createConfig({ extends: ['recommended'], rules: RULES })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

const APIS = ['core', 'auth', 'dashboard'] as const
describe('the OpenAPI documents of the three APIs', () => {
  it.each(APIS)('pass every recommended rule of a linter, warnings included: %s', async (api) => {
    expect(await problemsOf(documentOf(api))).toEqual([])
    // The server URL of a local service.
    expect(await problemsOf(documentOf(api, `http://localhost:8080/${api}`))).toEqual([])
  })

  it('are checked: an example or an answer that violates its schema is found', async () => {
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
