import { createHash } from 'node:crypto'
import type { Route } from '../route.js'
import type { Api, PlainEndpoint } from '../server-types.js'
import { endpoint, escaped, verb } from './docs-endpoint.js'
import { docsStyle } from './docs-style.js'
import { type About, openApiDocument } from './openapi.js'
import { documentedPath, groupOf, operationIdsOf } from './route-docs.js'

/** The content security policy, which allows the page's own style and script, and requests to the service only. */
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
 * Plain endpoints of an API's documents, rendered once: `{base}/docs`, `{base}/docs.js` and `{base}/openapi.json`.
 * `script` is the text of the page's module, which adds forms to send calls.
 */
export function documentEndpoints<S>(api: Api<S>, about: About, script: string): PlainEndpoint[] {
  const page = docsPage(api, about)
  const document = JSON.stringify(openApiDocument(api, about))
  const html = { 'content-security-policy': docsPolicy, 'referrer-policy': 'no-referrer' }
  return [
    {
      method: 'get',
      path: `${api.basePath}/docs`,
      page: true,
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
 * The reference page of an API as one HTML document, generated from its routes. It loads only `docs.js`, which adds forms to
 * send calls; all text is readable without it. Serve the page under `docsPolicy`.
 */
export function docsPage<S>(api: Api<S>, about: About): string {
  const ids = operationIdsOf(api.routes)
  const groups = new Map<string, Route<S>[]>()
  for (const row of api.routes) groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), row])
  const idOf = (row: Route<S>) => ids.get(row) ?? ''
  const navigation = [...groups].map(
    ([group, rows]) =>
      `<details open><summary>${escaped(group)}</summary><ul>${rows
        .map((row) => `<li><a href="#${idOf(row)}">${verb(row)}<span>${escaped(documentedPath(row))}</span></a></li>`)
        .join('')}</ul></details>`,
  )
  const sections = [...groups].map(
    ([group, rows]) =>
      `<section class="group"><h2>${escaped(group)}</h2><p>${escaped(api.groups?.[group] ?? '')}</p>
${rows.map((row) => endpoint(api, row, idOf(row), about)).join('')}</section>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escaped(api.title)}</title><style>${docsStyle}</style>
<script type="module" src="docs.js"></script></head>
<body><a class="skip" href="#content">Skip to the content</a><div class="page">
<nav aria-label="Endpoints">${pageList(api, about)}<div id="tools"></div>${navigation.join('')}</nav>
<main id="content"><header><h1>${escaped(api.title)}</h1>
<p class="lead">Version ${escaped(about.version)}, served at <code>${escaped(about.baseUrl)}</code>.
Also as <a href="openapi.json">OpenAPI 3.1</a>, and with the other APIs as a <a href="../collection.json">collection</a> to import into Postman, Bruno or Insomnia.</p></header>
${conventions}
${sections.join('\n')}
</main></div></body></html>
`
}

/** Links to the other pages of the service. Addresses are relative, because a proxy can add a path before the service's. */
function pageList<S>({ basePath }: Api<S>, { pages = [] }: About): string {
  if (pages.length === 0) return ''
  const items = pages.map(([path, name]) => {
    const current = `/${path}` === `${basePath}/docs` ? ' aria-current="page"' : ''
    return `<li><a class="plain" href="../${escaped(path)}"${current}>${escaped(name)}</a></li>`
  })
  return `<ul class="pages">${items.join('')}</ul>`
}

const conventions = `<section id="conventions"><h2>Conventions</h2>
<p>Every request has the organization’s key in the header <code>apikey</code>. Calls of a flow also have
<code>X-Service-Session</code>, from the answer of <code>GET /users/{userRef}</code>. Bodies are JSON in UTF-8, at most
16 KiB unless an endpoint says otherwise. In an optional field, null means absent. Unknown fields are ignored; misspelt known
fields are listed in <code>warnings</code>, an array of strings in the answer.</p>
<p>Every JSON answer has its fields in an envelope, and every answer has <code>X-Request-Id</code>:</p>
<pre><code>{"timestamp": "2026-01-31T12:00:00.000Z", "success": true, "message": "Done", …}</code></pre>
<p>An error has <code>success</code> false and, except with status 401, a <code>reason</code>. Its message describes the
expected value and never repeats the sent one. User references are compared in lower case, with outer spaces removed and
inner spaces as <code>-</code>. In a query, <code>+</code> is a plus sign, not a space: a space is <code>%20</code>.</p></section>`
