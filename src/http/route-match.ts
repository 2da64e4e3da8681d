import { Refusal } from '../domain/refusal.js'
import type { DeprecatedCall } from './deprecation.js'
import type { Route } from './route.js'
import { makeRouter, type PathMatch, type Router, type Target } from './router.js'
import type { Api, PlainEndpoint, ServerNeeds } from './server-types.js'

/** Largest body of every route except those that take typing patterns. */
export const bodyBytesMax = 16 * 1024

/** The route or plain endpoint that serves a path and method. */
export type RouteMatch<S> =
  | { readonly kind: 'route'; readonly api: Api<S>; readonly route: Route<S>; readonly maxBytes: number }
  | { readonly kind: 'plain'; readonly endpoint: PlainEndpoint; readonly maxBytes: number }

/** The routing table of a server. Throws if two routes have the same method and path shape. */
export function routerOf<S>(needs: Pick<ServerNeeds<S>, 'apis' | 'plain'>): Router<RouteMatch<S>> {
  const router = makeRouter<RouteMatch<S>>()
  for (const api of needs.apis) {
    for (const route of api.routes) {
      const maxBytes = 'maxBytes' in route.body ? route.body.maxBytes : bodyBytesMax
      router.add(route.method, api.basePath + route.path, { kind: 'route', api, route, maxBytes })
    }
  }
  for (const endpoint of needs.plain) {
    const maxBytes = endpoint.maxBytes ?? bodyBytesMax
    router.add(endpoint.method, endpoint.path, { kind: 'plain', endpoint, maxBytes })
    if (endpoint.page === true && !endpoint.path.endsWith('/')) {
      const slashed = withoutSlash(endpoint)
      router.addExact(slashed.method, slashed.path, { kind: 'plain', endpoint: slashed, maxBytes })
    }
  }
  return router
}

/** Redirects from the address with a slash at its end to the page, whose links are relative to its own address. */
function withoutSlash({ method, path }: PlainEndpoint): PlainEndpoint {
  const last = path.slice(path.lastIndexOf('/') + 1)
  return {
    method,
    path: `${path}/`,
    page: true,
    handle({ params, query }) {
      const name = last.replace(/^\{(.+)\}$/, (_, param: string) => encodeURIComponent(params[param] ?? ''))
      // `queryOf` reads a plus as a plus, not as a space.
      const more = new URLSearchParams(query).toString().replaceAll('+', '%20')
      // The location is relative, because a proxy may add a path before that of the service.
      const location = `../${name}${more === '' ? '' : `?${more}`}`
      return { status: 308, contentType: 'text/plain; charset=utf-8', body: '', headers: { location } }
    },
  }
}

/**
 * The deprecation that the answer announces: that of the route, or that of the path if the path does not have the method. Null
 * if the route, or one route of the path, is not deprecated.
 */
export function deprecatedCallOf<S>(
  path: PathMatch<RouteMatch<S>>,
  target: Target<RouteMatch<S>> | undefined,
  params: Readonly<Record<string, string>>,
): DeprecatedCall | null {
  if (target !== undefined) return deprecatedCall(target.row, params)
  const all = [...path.byMethod.values()].map(({ row }) => deprecatedCall(row, params))
  return all.includes(null) ? null : (all[0] ?? null)
}

function deprecatedCall<S>(match: RouteMatch<S>, params: Readonly<Record<string, string>>): DeprecatedCall | null {
  if (match.kind !== 'route' || match.route.deprecated === undefined) return null
  return { path: match.route.path, deprecated: match.route.deprecated, params, body: null }
}

/** The refusal of a body over the cap of its route. */
export function bodyTooLarge<S>(match: RouteMatch<S> | null): Refusal {
  return new Refusal('body-too-large', `the body is larger than ${match?.maxBytes ?? bodyBytesMax} bytes`)
}

/** The `Allow` header. Our choice: HEAD is served wherever GET is, without the body. */
export function allowOf(byMethod: ReadonlyMap<string, unknown>): string {
  const methods = [...byMethod.keys()]
  if (byMethod.has('get') && !byMethod.has('head')) methods.push('head')
  return methods.join(', ').toUpperCase()
}
