import type { Route } from '../route.js'
import type { Api, PlainEndpoint } from '../server-types.js'
import type { About } from './openapi.js'
import { bodySchemaOf, documentedPath, groupOf, headerParametersOf, parametersOf } from './route-docs.js'
import { sampleOf } from './schema-text.js'

/** A collection in Postman's format 2.1, which Bruno and Insomnia import too. Every value in it is JSON. */
interface Collection {
  readonly info: { readonly name: string; readonly description: string; readonly schema: string }
  readonly auth: object
  readonly variable: readonly { readonly key: string; readonly value: string; readonly type: 'string' }[]
  readonly item: readonly Folder[]
}

/** The folder of an API, or of a group of its calls. */
interface Folder {
  readonly name: string
  readonly item: readonly (Folder | object)[]
}

const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'
/** The script that runs after a bootstrap, so that later calls of the sign-in send its session. */
const KEEP_SESSION = [
  "const session = pm.response.headers.get('X-Service-Session')",
  "if (session) pm.collectionVariables.set('session', session)",
]

/** `GET /collection.json`, rendered once. `about.baseUrl` is the address of the service, without the base path of an API. */
export function collectionEndpoint<S>(apis: readonly Api<S>[], about: About): PlainEndpoint {
  const body = JSON.stringify(collectionOf(apis, about))
  const contentType = 'application/json; charset=utf-8'
  return { method: 'get', path: '/collection.json', handle: () => ({ status: 200, contentType, body }) }
}

/**
 * The calls of the APIs, generated from their routes: one folder per API, and in it one folder per group, with sample parameters
 * and bodies. The variables `apikey` and `session` are empty at first; a bootstrap sets the session.
 */
function collectionOf<S>(apis: readonly Api<S>[], about: About): Collection {
  return {
    info: { name: 'Keystride', description: `Version ${about.version}. Set the variable apikey.`, schema: FORMAT },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'apikey', type: 'string' },
        { key: 'value', value: '{{apikey}}', type: 'string' },
        { key: 'in', value: 'header', type: 'string' },
      ],
    },
    variable: [
      { key: 'baseUrl', value: about.baseUrl, type: 'string' },
      { key: 'apikey', value: '', type: 'string' },
      { key: 'session', value: '', type: 'string' },
    ],
    item: apis.map((api) => ({ name: api.title, item: groupsOf(api, about) })),
  }
}

function groupsOf<S>({ routes, basePath }: Api<S>, about: About): Folder[] {
  const groups = new Map<string, object[]>()
  for (const row of routes)
    groups.set(groupOf(row), [...(groups.get(groupOf(row)) ?? []), requestOf(row, basePath, about)])
  return [...groups].map(([name, item]) => ({ name, item }))
}

function requestOf<S>(row: Route<S>, basePath: string, about: About): object {
  const parameters = parametersOf(row)
  const sample = ({ name, schema }: (typeof parameters)[number]) => String(sampleOf(schema, name))
  const session = row.needsSession || row.takesSession
  const path = (basePath + documentedPath(row))
    .slice(1)
    .replace(/\{(\w+)\}/g, ':$1')
    .split('/')
  const inQuery = parameters.filter((one) => one.in === 'query')
  return {
    name: row.summary,
    ...(row.replyHeaders?.['X-Service-Session'] === undefined
      ? {}
      : { event: [{ listen: 'test', script: { type: 'text/javascript', exec: KEEP_SESSION } }] }),
    request: {
      method: row.method.toUpperCase(),
      ...(row.description === undefined ? {} : { description: row.description }),
      header: [
        ...(session ? [{ key: 'X-Service-Session', value: '{{session}}', disabled: !row.needsSession }] : []),
        ...headerParametersOf(row).map((one) => ({ key: one.name, value: sample(one), disabled: !one.required })),
      ],
      url: {
        raw: `{{baseUrl}}/${path.join('/')}`,
        host: ['{{baseUrl}}'],
        path,
        query: inQuery.map((one) => ({ key: one.name, value: sample(one), disabled: !one.required })),
        variable: parameters
          .filter((one) => one.in === 'path')
          .map((one) => ({ key: one.name, value: /ref$/i.test(one.name) ? 'ann' : sample(one) })),
      },
      ...bodyOf(row, about),
    },
  }
}

/** The body of a request as sample JSON; a typing pattern is a recorded one. */
function bodyOf<S>({ body }: Route<S>, { recorded }: About): object {
  const schema = bodySchemaOf(body)
  if (schema === null) return {}
  const sample = body.kind === 'bytes' ? (recorded?.bodies.TypingPattern ?? {}) : sampleOf(schema)
  return { body: { mode: 'raw', raw: JSON.stringify(sample, null, 2), options: { raw: { language: 'json' } } } }
}
