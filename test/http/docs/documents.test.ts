import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { docsPage, docsPolicy, documentEndpoints } from '../../../src/http/docs/docs-page.js'
import { openApiDocument } from '../../../src/http/docs/openapi.js'
import { refusalsOf } from '../../../src/http/docs/route-docs.js'
import { ask, request } from '../../harness/raw.js'
import { type Running, start, stop, tableApi, tableRoutes } from '../table.js'

const about = { version: '1.2.3', baseUrl: 'http://localhost:8080/core' }
const document = openApiDocument(tableApi, about)

describe('the OpenAPI document', () => {
  it('has exactly the routes of the table, by path and method', () => {
    const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    )
    expect(listed.sort()).toEqual(tableRoutes.map(({ method, path }) => `${method} ${path}`).sort())
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
    expect(document.components.schemas?.putWordsBody).toMatchObject({ required: ['word'] })
  })
  it('shares equal responses: one 401 for all routes, without a reason', () => {
    const refused = Object.keys(document.components.responses ?? {})
    expect(refused.filter((name) => name.startsWith('Refused401'))).toHaveLength(1)
    expect(document.components.schemas?.Error401).not.toHaveProperty('properties.reason')
  })
})

describe('the reference page', () => {
  const page = docsPage(tableApi, about)

  it('lists each route with its path and a command', () => {
    for (const row of tableRoutes) expect(page).toContain(`<span class="path">${row.path}</span>`)
    expect(page.match(/curl/g)).toHaveLength(tableRoutes.length)
  })
  it('links only within itself, to its OpenAPI document and its collection, and loads only its module', () => {
    const targets = [...page.matchAll(/href="([^"]+)"/g)].map(([, target]) => target ?? '')
    for (const target of targets) {
      if (target.startsWith('#')) expect(page).toContain(`id="${target.slice(1)}"`)
      else expect(['openapi.json', '../collection.json']).toContain(target)
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
  it('escapes the texts of routes and pages', () => {
    const loud = { ...tableApi, routes: tableRoutes.map((row) => ({ ...row, summary: '<b onclick="x">&' })) }
    const linked = docsPage(loud, { ...about, pages: [['core/docs', 'Core <API>']] })
    expect(linked).toContain('<h3>&lt;b onclick=&quot;x&quot;&gt;&amp;</h3>')
    expect(linked).toContain('<a class="plain" href="../core/docs" aria-current="page">Core &lt;API&gt;</a>')
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
