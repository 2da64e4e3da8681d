import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { docsPage, docsPolicy, documentEndpoints } from '../../../src/http/docs/docs-page.js'
import { openApiDocument } from '../../../src/http/docs/openapi.js'
import { refusalsOf } from '../../../src/http/docs/route-docs.js'
import { ask, request } from '../raw.js'
import { type Running, start, stop, tableApi, tableRoutes } from '../table.js'

const about = { version: '1.2.3', baseUrl: 'http://localhost:8080/core' }
const document = openApiDocument(tableApi, about)

/** Every `$ref` in a value, at any depth. */
function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : refsIn(item),
  )
}

function resolve(ref: string): unknown {
  const steps = ref.replace(/^#\//, '').split('/')
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document)
}

describe('the OpenAPI document', () => {
  it('is JSON of version 3.1 with exactly the routes of the table, by path and method', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    expect(document.openapi).toBe('3.1.0')
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(listed.sort()).toEqual(tableRoutes.map(({ method, path }) => `${method} ${path}`).sort())
  })
  it('resolves every reference within itself, and uses only component names that OpenAPI allows', () => {
    const refs = refsIn(document)
    expect(refs.length).toBeGreaterThan(20)
    for (const ref of refs) expect([ref, resolve(ref) === undefined]).toEqual([ref, false])
    for (const shelf of Object.values(document.components)) {
      for (const name of Object.keys(shelf)) expect(name).toMatch(/^[A-Za-z0-9._-]+$/)
    }
  })
  it('gives every operation a unique id', () => {
    const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((o) => o.operationId))
    expect(new Set(ids).size).toBe(tableRoutes.length)
    expect(ids).toContain('getUsersByUserRef')
  })
  it('lists the status of every reply and refusal of a route', () => {
    for (const row of tableRoutes) {
      const responses = document.paths[row.path]?.[row.method]?.responses ?? {}
      const wanted = new Set([...Object.keys(row.replies), ...refusalsOf(row).map(({ status }) => String(status))])
      expect(Object.keys(responses).sort()).toEqual([...wanted].sort())
    }
  })
  it('describes path and query parameters, the key, the session and the body', () => {
    const get = document.paths['/users/{userRef}']?.get
    expect(get?.parameters).toMatchObject([
      { name: 'userRef', in: 'path', required: true },
      { name: 'member_ref', in: 'query', required: false },
      { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } },
    ])
    expect(get?.security).toEqual([{ apikey: [] }])
    expect(document.paths['/status']?.get?.security).toEqual([])
    const post = document.paths['/users/{userRef}/typing-patterns']?.post
    expect(post?.parameters).toContainEqual({ $ref: '#/components/parameters/Session' })
    expect(resolve('#/components/schemas/putWordsBody')).toMatchObject({ required: ['word'] })
  })
  it('shares equal responses: one 401 for all routes, without a reason', () => {
    const unauthorized = Object.keys(document.components.responses ?? {}).filter((name) =>
      name.startsWith('Refused401'),
    )
    expect(unauthorized).toHaveLength(1)
    expect(resolve('#/components/schemas/Error401')).not.toHaveProperty('properties.reason')
  })
})

describe('the reference page', () => {
  const page = docsPage(tableApi, about)

  it('lists each route with its summary, path and a command', () => {
    for (const row of tableRoutes) {
      expect(page).toContain(`<h3>${row.summary}</h3>`)
      expect(page).toContain(`<span class="path">${row.path}</span>`)
    }
    expect(page.match(/<article>/g)).toHaveLength(tableRoutes.length)
    expect(page.match(/curl/g)).toHaveLength(tableRoutes.length)
  })
  it('links only within itself, to its OpenAPI document, its collection and the given pages, and loads only its module', () => {
    const pages = [
      ['', 'Start'],
      ['core/docs', 'Core <API>'],
    ] as const
    const linked = docsPage(tableApi, { ...about, pages })
    expect(linked).toContain('<a class="plain" href="../">Start</a>')
    expect(linked).toContain('<a class="plain" href="../core/docs" aria-current="page">Core &lt;API&gt;</a>')
    const targets = [...page.matchAll(/href="([^"]+)"/g)].map(([, target]) => target ?? '')
    for (const target of targets) {
      if (target.startsWith('#')) expect(page).toContain(`id="${target.slice(1)}"`)
      else expect(['openapi.json', 'collection.json']).toContain(target)
    }
    const [module = '', ...more] = page.match(/<script[^>]*>[^<]*<\/script>/g) ?? []
    expect([module, more]).toEqual(['<script type="module" src="docs.js"></script>', []])
    expect(page.replace(module, '')).not.toMatch(/<script|<link|<img|src=|url\(|@import|style="| on[a-z]+="/)
  })
  it('has exactly the style that its policy allows', () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(page)?.[1] ?? ''
    expect(docsPolicy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`)
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(docsPolicy.split('; ')).toContain(rule)
  })
  it('escapes the texts of routes', () => {
    const [row] = tableRoutes
    if (row === undefined) throw new Error('the table is empty')
    const loud = { ...tableApi, routes: [{ ...row, summary: '<b onclick="x">&' }] }
    expect(docsPage(loud, about)).toContain('<h3>&lt;b onclick=&quot;x&quot;&gt;&amp;</h3>')
  })
})

describe('document endpoints', () => {
  let running: Running
  beforeAll(async () => {
    running = await start({ plain: documentEndpoints(tableApi, about, 'export {}') })
  })
  afterAll(() => stop(running))

  it('serve the page, its module and the document without a key', async () => {
    const page = await ask(running.server.port, request('GET /core/docs'))
    expect(page?.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page?.headers.get('content-security-policy')).toBe(docsPolicy)
    const json = await ask(running.server.port, request('GET /core/openapi.json'))
    expect(JSON.parse(json?.text ?? '')).toEqual(document)
    const module = await ask(running.server.port, request('GET /core/docs.js'))
    expect([module?.headers.get('content-type'), module?.text]).toEqual(['text/javascript; charset=utf-8', 'export {}'])
  })
})
