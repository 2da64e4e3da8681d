import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { bodySchemaOf, documentedPath, headerParametersOf, parametersOf } from '../../src/http/docs/route-docs.js'
import { sampleOf } from '../../src/http/docs/schema-text.js'
import type { Route } from '../../src/http/route.js'
import { recordedAnswers } from '../../src/wiring/endpoints.js'
import { sharedService } from '../harness/service.js'

const APIS: readonly (readonly [name: string, rows: readonly Route<never>[]])[] = [
  ['core', coreRoutes],
  ['links', linkRoutes],
  ['dashboard', dashboardRoutes],
]
const root = fileURLToPath(new URL('../..', import.meta.url))
const { TypingPattern } = recordedAnswers().bodies

/** The source text of a call of a route, with its required parameters and its body. */
function callOf(api: string, row: Route<never>): string {
  const given = [...parametersOf(row), ...headerParametersOf(row)].filter(({ required }) => required)
  const input: Record<string, unknown> = row.needsSession ? { header: { 'X-Service-Session': 'session' } } : {}
  for (const { in: where, name, schema } of given)
    input[where] = { ...(input[where] as object | undefined), [name]: sampleOf(schema, name) }
  const schema = bodySchemaOf(row.body)
  if (schema !== null) input.body = row.body.kind === 'bytes' ? TypingPattern : sampleOf(schema)
  return `${api}.${row.method}('${documentedPath(row)}', ${JSON.stringify(input)})`
}

/** A program with a call of every route. */
const program = `import { createKeystride } from '@keystride/client'
const { core, links, dashboard } = createKeystride({ url: 'https://login.example.org', apikey: 'key' })
export const calls = [
${APIS.flatMap(([api, rows]) => rows.map((row) => `  () => ${callOf(api, row)},`)).join('\n')}
]
`

/** A customer's sign-in, with errors that the types must reject. */
const signIn = `import { createKeystride, type SignIn } from '@keystride/client'
const keystride = createKeystride({ url: 'https://login.example.org', apikey: 'key' })
export async function verify(userRef: string): Promise<string> {
  const state = await keystride.core.get('/users/{userRef}', { path: { userRef }, query: { language: 'fr' } })
  const status: 'OK' | 'NOK' = (await keystride.core.get('/status')).status
  // @ts-expect-error the session is required
  await keystride.core.delete('/users/{userRef}/security-code', { path: { userRef } })
  // @ts-expect-error no such path
  await keystride.core.get('/user/{userRef}', { path: { userRef } })
  // @ts-expect-error a path of another API
  await keystride.links.get('/users/{userRef}', { path: { userRef } })
  // @ts-expect-error no such method of the path
  await keystride.core.put('/users/{userRef}', { path: { userRef } })
  // @ts-expect-error no such field
  state.words
  const archive: Blob = await keystride.dashboard.post('/management/download-archive', { body: { id: '0' } })
  return state.sessionId + status + archive.size
}
export function loginOf(result: SignIn): string | null {
  // @ts-expect-error only some results name a person
  result.userRef
  if (result.kind === 'challenged') {
    // @ts-expect-error a challenged login names nobody
    result.userRef
  }
  // @ts-expect-error no such kind
  if (result.kind === 'verified') return null
  return result.kind === 'authenticated' ? result.userRef : null
}
export function nextOf(result: SignIn): string {
  switch (result.kind) {
    case 'type':
    case 'enroll':
      return result.words.suggestedWords.join(' ')
    case 'later':
    case 'authenticated':
    case 'challenged':
    case 'blocked':
    case 'code-needed':
    case 'choose-member':
    case 'not-enrolled':
    case 'start-over':
    case 'locked':
      return result.kind
    default:
      // Compiles only if every kind is named.
      return result satisfies never
  }
}
`

let folder: string
const served = new Map<string, string>()
beforeAll(async () => {
  // Below the root, so that the import of the client resolves.
  mkdirSync(join(root, 'build'), { recursive: true })
  folder = mkdtempSync(join(root, 'build', 'client-'))
  const { core, auth } = await sharedService()
  for (const [api, address] of Object.entries({ core, links: auth, dashboard: core.replace(/core$/, 'dashboard') }))
    served.set(api, await (await fetch(`${address}/openapi.json`)).text())
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The lines of types without comments: the client leaves out the recorded answers. */
const linesOf = (types: string) =>
  types
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

it.each(['core', 'links', 'dashboard'])('the types of the client are those of the served document: %s', async (api) => {
  const types = astToString(await openapiTypes(served.get(api) ?? '', { defaultNonNullable: false }))
  const shipped = readFileSync(join(root, `packages/client/schema/${api}.ts`), 'utf8')
  expect(linesOf(types).length).toBeGreaterThan(300)
  expect(linesOf(shipped)).toEqual(linesOf(types))
})

it('a program that calls every route with the client compiles, and wrong calls do not', () => {
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'every-route.ts'), program)
  writeFileSync(join(folder, 'sign-in.ts'), signIn)
  const compiled = ts.createProgram(
    ['every-route.ts', 'sign-in.ts'].map((name) => join(folder, name)),
    {
      strict: true,
      noEmit: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
    },
  )
  const wrong = ts
    .getPreEmitDiagnostics(compiled)
    .map(({ file, start, messageText }) => [
      file?.text.slice(start, (start ?? 0) + 80),
      ts.flattenDiagnosticMessageText(messageText, '\n').slice(0, 600),
    ])
  expect(wrong).toEqual([])
  expect(program.match(/ => (core|links|dashboard)\./g)).toHaveLength(APIS.flatMap(([, rows]) => rows).length)
})
