import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import type { OpenApiDocument } from '../../src/http/docs/openapi.js'
import { documentOf, rowOf, validatorOf } from '../contract.js'

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
const namesIn = (operation: OpenApiDocument['paths'][string][string] | undefined) =>
  // The form of OpenAPI.
  ((operation?.parameters ?? []) as { name?: string; $ref?: string }[]).map(
    ({ name, $ref }) => name ?? $ref?.split('/').pop(),
  )

describe('the OpenAPI documents of the three APIs', () => {
  it.each(APIS)('pass every recommended rule of a linter, warnings included: %s', async (api) => {
    expect(await problemsOf(documentOf(api))).toEqual([])
    // The server URL of a local service.
    expect(await problemsOf(documentOf(api, `http://localhost:8080/${api}`))).toEqual([])
  })

  it('name the headers that calls read, and mark optional ones', () => {
    const { paths, components } = documentOf('core')
    expect(namesIn(paths['/users/{userRef}']?.get)).toEqual([
      'userRef',
      'member_ref',
      'language',
      'Accept-Language',
      'OptionalSession',
    ])
    expect(namesIn(paths['/user-verify/{userRef}']?.post)).toEqual(
      expect.arrayContaining(['x-enrollment', 'OptionalSession']),
    )
    expect(namesIn(paths['/users/{userRef}/verify']?.post)).toContain('Session')
    expect(components.parameters).toMatchObject({ Session: { required: true }, OptionalSession: { required: false } })
    expect(documentOf('auth').paths['/typing-patterns']?.post?.parameters).toContainEqual(
      expect.objectContaining({ name: 'X-Link-Key', in: 'header', required: true }),
    )
  })

  it('name the header that a bootstrap answers with, and the reason of the shell of an unknown user', () => {
    const responses = documentOf('core').paths['/users/{userRef}']?.get?.responses
    for (const status of [200, 404]) expect(responses?.[status]).toHaveProperty('headers.X-Service-Session')
    const row = rowOf('core', 'GET', '/users/ann')
    if (row === undefined) throw new Error('no such row')
    const validate = validatorOf('core', row, 404)
    validate?.({ timestamp: '2026-01-31T12:00:00.000Z', success: false, message: 'no' })
    expect(validate?.errors).toContainEqual(expect.objectContaining({ params: { missingProperty: 'reason' } }))
  })

  it('describe how a server handles the answer of verify, in the words of the guide', () => {
    const guide = readFileSync(new URL('../../docs/integrate.md', import.meta.url), 'utf8')
    const { paths } = documentOf('core')
    for (const path of ['/users/{userRef}/verify', '/user-verify/{userRef}']) {
      const lines = String(paths[path]?.post?.description).split('\n')
      const table = lines.filter((line) => line.startsWith('| ') && !line.includes('---'))
      expect(table).toHaveLength(6)
      for (const line of table) expect(guide.split('\n')).toContain(line)
    }
  })

  it('define schemas that several calls share as components', () => {
    const { paths, components } = documentOf('core')
    expect(Object.keys(components.schemas ?? {})).toEqual(
      expect.arrayContaining(['TypingPattern', 'SecurityCode', 'Bootstrap', 'Envelope', 'Verify', 'Enrollment']),
    )
    const bodyOf = (path: string) => JSON.stringify(paths[path]?.post?.requestBody)
    expect(bodyOf('/users/{userRef}/typing-patterns')).toContain('#/components/schemas/TypingPattern')
    expect(JSON.stringify(paths['/users/{userRef}']?.get?.responses)).toContain('#/components/schemas/Bootstrap')
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
