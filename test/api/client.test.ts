import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { bodySchemaOf, documentedPath, headerParametersOf, parametersOf } from '../../src/http/docs/route-docs.js'
import { sampleOf } from '../../src/http/docs/schema-text.js'
import type { Route } from '../../src/http/route.js'
import { recordedAnswers } from '../../src/wiring/endpoints.js'
import { freshDatabase } from '../servers/database.js'
import { startService } from '../service.js'

const APIS: readonly (readonly [name: string, rows: readonly Route<never>[]])[] = [
  ['core', coreRoutes],
  ['auth', linkRoutes],
  ['dashboard', dashboardRoutes],
]
const root = fileURLToPath(new URL('../..', import.meta.url))
const { TypingPattern } = recordedAnswers().bodies

/** The source text of an openapi-fetch call of a route, with its required parameters and its body. */
function callOf(api: string, row: Route<never>): string {
  const given = [...parametersOf(row), ...headerParametersOf(row)].filter(({ required }) => required)
  const session = row.needsSession ? { header: { 'X-Service-Session': 'session' } } : {}
  const params: Record<string, Record<string, unknown>> = session
  for (const { in: where, name, schema } of given) params[where] = { ...params[where], [name]: sampleOf(schema, name) }
  const schema = bodySchemaOf(row.body)
  const body = schema === null ? null : row.body.kind === 'bytes' ? TypingPattern : sampleOf(schema)
  const options = { ...(Object.keys(params).length > 0 && { params }), ...(body === null ? {} : { body }) }
  return `${api}.${row.method.toUpperCase()}('${documentedPath(row)}', ${JSON.stringify(options)})`
}

/** A program with a call of every route. */
const program = `import createClient from 'openapi-fetch'
${APIS.map(([api]) => `import type { paths as ${api}Paths } from './${api}.js'`).join('\n')}
const headers = { apikey: 'key' }
${APIS.map(([api]) => `const ${api} = createClient<${api}Paths>({ baseUrl: 'https://login.example.org/${api}', headers })`).join('\n')}
export const calls = [
${APIS.flatMap(([api, rows]) => rows.map((row) => `  () => ${callOf(api, row)},`)).join('\n')}
]
`

/** A customer's sign-in, with errors that the types must reject. */
const signIn = `import createClient from 'openapi-fetch'
import type { components, paths } from './core.js'
const { GET, POST } = createClient<paths>({ baseUrl: 'https://login.example.org/core', headers: { apikey: 'key' } })
export async function signIn(userRef: string, pattern: components['schemas']['TypingPattern']): Promise<string> {
  const begun = await GET('/users/{userRef}', { params: { path: { userRef } } })
  if (begun.error !== undefined) return begun.error.message
  const state: components['schemas']['Bootstrap'] = begun.data
  const header = { 'X-Service-Session': state.sessionId }
  const { data, error } = await POST('/users/{userRef}/verify', { params: { path: { userRef }, header }, body: pattern })
  if (error !== undefined) return error.message
  const { authentication, nextAttempt }: components['schemas']['Verify'] = data
  if (data.success && authentication.recommendedAction === 'auth') return data.timestamp
  // @ts-expect-error no such action
  if (authentication.recommendedAction === 'maybe') return ''
  // @ts-expect-error the session is required
  await POST('/users/{userRef}/verify', { params: { path: { userRef } }, body: pattern })
  // @ts-expect-error no such path
  await GET('/user/{userRef}', { params: { path: { userRef } } })
  return nextAttempt?.mode ?? 'none'
}
`

let folder: string
beforeAll(async () => {
  // Below the root, so that the import of openapi-fetch resolves.
  mkdirSync(join(root, 'build'), { recursive: true })
  folder = mkdtempSync(join(root, 'build', 'client-'))
  const service = await startService((await freshDatabase()).url)
  for (const [api] of APIS) {
    const served = await fetch(`${service.core.replace(/core$/, api)}/openapi.json`)
    writeFileSync(join(folder, `${api}.json`), await served.text())
  }
  await service.close()
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('types made from the three served documents compile a client that calls every route', () => {
  for (const [api] of APIS) {
    const command = join(root, 'node_modules/openapi-typescript/bin/cli.js')
    // A body may omit a field with a default.
    const options = ['--default-non-nullable=false', '--output', `${api}.d.ts`]
    execFileSync(process.execPath, [command, `${api}.json`, ...options], { cwd: folder, stdio: 'pipe' })
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'every-route.ts'), program)
  writeFileSync(join(folder, 'sign-in.ts'), signIn)
  const files = ['every-route.ts', 'sign-in.ts'].map((name) => join(folder, name))
  const compiled = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  })
  const wrong = ts
    .getPreEmitDiagnostics(compiled)
    .map(({ file, start, messageText }) => [
      file?.text.slice(start, (start ?? 0) + 80),
      ts.flattenDiagnosticMessageText(messageText, '\n').slice(0, 600),
    ])
  expect(wrong).toEqual([])
  expect(program.match(/ => (core|auth|dashboard)\./g)).toHaveLength(APIS.flatMap(([, rows]) => rows).length)
}, 120_000)
