import { createHash } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Route } from '../route.js'
import type { Api, PlainEndpoint } from '../server-types.js'
import { docsStyle } from './docs-style.js'
import { type About, openApiDocument } from './openapi.js'
import {
  bodySchemaOf,
  fileTypeOf,
  groupOf,
  headerParametersOf,
  type JsonSchema,
  jsonSchemaOf,
  operationIdsOf,
  type Parameter,
  parametersOf,
  refusalMeanings,
  refusalsOf,
} from './route-docs.js'
import { fieldLines, membersOf, sampleOf, typeText } from './schema-text.js'

/** Nothing but the page's own style and script may load or run, nowhere but to the service may anything be sent. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(docsStyle).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/**
 * `{base}/docs`, `{base}/docs.js` and `{base}/openapi.json` of an API, made once; for the server's plain endpoints.
 * `script` is the module of the page as text: it lets people send calls from there.
 */
export function documentEndpoints<S>(api: Api<S>, about: About, script: string): PlainEndpoint[] {
  const page = docsPage(api, about)
  const document = JSON.stringify(openApiDocument(api, about))
  const html = { 'content-security-policy': docsPolicy, 'referrer-policy': 'no-referrer' }
  return [
    {
      method: 'get',
      path: `${api.basePath}/docs`,
      handle: () => ({ status: 200, contentType: 'text/html; charset=utf-8', body: page, headers: html }),
    },
    {
      method: 'get',
      path: `${api.basePath}/docs.js`,
      handle: () => ({
        status: 200,
        contentType: 'text/javascript; charset=utf-8',
        body: script,
        headers: { 'cache-control': 'no-cache', 'cross-origin-resource-policy': 'same-origin' },
      }),
    },
    {
      method: 'get',
      path: `${api.basePath}/openapi.json`,
      handle: () => ({ status: 200, contentType: 'application/json; charset=utf-8', body: document }),
    },
  ]
}

/**
 * The reference page of an API as one HTML document, made from the rows that serve it. It loads nothing but the module
 * beside it, which adds forms to send calls with, and says all else without it; to be served under `docsPolicy`.
 */
export function docsPage<S>(api: Api<S>, about: About): string {
  const ids = operationIdsOf(api.routes)
  const groups = new Map<string, Route<S>[]>()
  for (const row of api.routes) groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), row])
  const idOf = (row: Route<S>) => ids.get(row) ?? ''
  const navigation = [...groups].map(
    ([group, rows]) =>
      `<h2>${escaped(group)}</h2><ul>${rows
        .map((row) => `<li><a href="#${idOf(row)}">${verb(row)}<span>${escaped(row.path)}</span></a></li>`)
        .join('')}</ul>`,
  )
  const sections = [...groups].map(
    ([group, rows]) =>
      `<section><h2>${escaped(group)}</h2>${rows.map((row) => endpoint(row, idOf(row), about)).join('')}</section>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(api.title)}</title><style>${docsStyle}</style>
<script type="module" src="docs.js"></script></head>
<body><a class="skip" href="#content">Skip to the content</a><div class="page">
<nav aria-label="Endpoints"><a class="plain" href="#content">${escaped(api.title)}</a>${navigation.join('')}</nav>
<main id="content"><header><h1>${escaped(api.title)}</h1>
<p class="lead">Version ${escaped(about.version)}, served at <code>${escaped(about.baseUrl)}</code>.
The same as <a href="${escaped(api.basePath)}/openapi.json">OpenAPI 3.1</a>.</p></header>
${conventions}
${sections.join('\n')}
</main></div></body></html>
`
}

const conventions = `<section id="conventions"><h2>Conventions</h2>
<p>Every request carries the organization’s key in the header <code>apikey</code>. Calls of a flow carry
<code>X-Service-Session</code> too, as answered by <code>GET /users/{userRef}</code>. Bodies are JSON in UTF-8, at most
16 KiB unless an endpoint says otherwise; null stands for absent in an optional field. Unknown fields are ignored; one that is a known field in another spelling is named in
<code>warnings</code>, an array of strings in the answer.</p>
<p>Every JSON answer is an envelope around its fields, and every answer carries <code>X-Request-Id</code>:</p>
<pre><code>{"timestamp": "2026-01-31T12:00:00.000Z", "success": true, "message": "Done", …}</code></pre>
<p>An error has <code>success</code> false and, on every status but 401, a <code>reason</code>. Its message says what was
wanted and never repeats what was sent. User references are compared in lower case, with outer spaces removed and inner
ones as <code>-</code>; <code>+</code> in a query is itself.</p></section>`

function endpoint<S>(row: Route<S>, id: string, about: About): string {
  const needs = [
    ...(row.deprecated === undefined ? [] : [`deprecated, served until ${dayOf(row.deprecated.sunset)} at least`]),
    row.needsKey ? 'needs a key' : 'needs no key',
    ...(row.needsSession ? ['needs X-Service-Session'] : row.takesSession ? ['takes X-Service-Session'] : []),
    `counted as ${row.countedAs}`,
  ]
  return `<article id="${id}"><h3>${escaped(row.summary)}</h3>
<div class="line">${verb(row)}<span class="path">${escaped(row.path)}</span><span class="needs">${needs.join(' · ')}</span></div>
${row.description === undefined ? '' : `<p>${escaped(row.description)}</p>`}
${parameterTable([...parametersOf(row), ...headerParametersOf(row)])}
${bodySection(row)}
${Object.entries(row.replies)
  .map(([status, reply]) => replySection(Number(status), fileTypeOf(reply), jsonSchemaOf(reply, 'output')))
  .join('')}
${refusalTable(row)}
<h4>Example</h4><pre><code>${escaped(curlOf(row, about))}</code></pre></article>`
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10)

function parameterTable(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, required, schema, in: where }) => {
    const note = fieldLines({ properties: { [name]: schema } })[0]?.note ?? ''
    return fieldRow(name, typeText(schema), required, note === '' ? `in the ${where}` : `in the ${where}; ${note}`)
  })
  return `<h4>Parameters</h4>${table(['Name', 'Type', 'Meaning'], rows)}`
}

function bodySection<S>(row: Route<S>): string {
  const schema = bodySchemaOf(row.body)
  if (schema === null) return ''
  const optional = row.body.kind === 'json' && row.body.optional ? ', optional' : ''
  const cap = 'maxBytes' in row.body ? `, at most ${Math.floor(row.body.maxBytes / 1024)} KiB` : ''
  const described = [schema, ...membersOf(schema)].find(({ description }) => description !== undefined)?.description
  const note = described === undefined ? '' : `<p>${escaped(described)}</p>`
  return `<h4>Body${optional}${cap}</h4>${note}${fieldTable(schema)}`
}

function replySection(status: number, fileType: string | null, schema: JsonSchema): string {
  const heading = `<h4>Reply ${status} ${STATUS_CODES[status] ?? ''}</h4>`
  if (fileType !== null)
    return `${heading}<p>A file of type <code>${escaped(fileType)}</code>, without an envelope.</p>`
  return heading + (fieldLines(schema).length === 0 ? '<p>The envelope alone.</p>' : fieldTable(schema))
}

function fieldTable(schema: JsonSchema): string {
  const lines = fieldLines(schema)
  if (lines.length === 0) return `<p class="type">${escaped(typeText(schema))}</p>`
  return table(
    ['Field', 'Type', 'Meaning'],
    lines.map(({ name, type, required, note }) => fieldRow(name, type, required, note)),
  )
}

function refusalTable<S>(row: Route<S>): string {
  const rows = refusalsOf(row).map(
    ({ status, reason, kind }) =>
      `<tr><td>${status}</td><td>${reason === null ? '' : `<code>${reason}</code>`}</td><td>${escaped(refusalMeanings[kind])}</td></tr>`,
  )
  return `<h4>Refusals</h4>${table(['Status', 'Reason', 'When'], rows)}`
}

function fieldRow(name: string, type: string, required: boolean, note: string): string {
  const must = required ? '<span class="must">required</span>' : ''
  return `<tr><td><code>${escaped(name)}</code>${must}</td><td class="type">${escaped(type)}</td><td>${escaped(note)}</td></tr>`
}

function table(heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('')
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function verb<S>(row: Route<S>): string {
  return `<span class="verb ${row.method}${row.deprecated === undefined ? '' : ' gone'}">${row.method}</span>`
}

/** A command to copy; the key comes from the shell, so that it need not be pasted into a history. */
function curlOf<S>(row: Route<S>, about: About): string {
  const path = row.path.replace(/\{([^}]+)\}/g, (_, name: string) => (/ref$/i.test(name) ? 'ann' : `<${name}>`))
  const parts = [`curl${row.method === 'get' ? '' : ` -X ${row.method.toUpperCase()}`} '${about.baseUrl}${path}'`]
  if (row.needsKey) parts.push(`-H "apikey: $KEYSTRIDE_KEY"`)
  if (row.needsSession) parts.push(`-H "X-Service-Session: $SESSION"`)
  const schema = bodySchemaOf(row.body)
  if (schema !== null && row.body.kind !== 'bytes') {
    const sample = JSON.stringify(sampleOf(schema))
    parts.push(`-H 'Content-Type: application/json'`, `-d '${sample.replaceAll("'", "'\\''")}'`)
  }
  if (row.body.kind === 'bytes') parts.push(`-H 'Content-Type: application/json'`, '--data-binary @pattern.json')
  return parts.join(' \\\n  ')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
