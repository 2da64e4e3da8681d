import { scopesAllow } from '../domain/organization.js'
import { Refusal } from '../domain/refusal.js'
import type { RequestContext } from './request-context.js'
import type { Route } from './route.js'
import type { Api, ServerNeeds } from './server-types.js'

/** Throws `degraded` with the reason while a store is unavailable. The reason is public: `GET /status` shows it without a key. */
export function refuseWhileDegraded({ degraded }: Pick<ServerNeeds<unknown>, 'degraded'>): void {
  const why = degraded()
  if (why !== null) throw new Refusal('degraded', `the service is ${why}; try again shortly`)
}

type Holder<S> = Awaited<ReturnType<ServerNeeds<S>['authenticate']>>

/** The holder of the key of the `apikey` header; null if the header is missing or holds an unknown key. */
export function holderOf<S>(
  { authenticate }: ServerNeeds<S>,
  { headers }: RequestContext<S>,
): Promise<Holder<S>> | null {
  const key = headers.get('apikey')
  return key === undefined || key === '' ? null : authenticate(key)
}

/** Whether a key with read scope opens a route. */
export const onlyReads = ({ method, onlyReads: stated }: Pick<Route<never>, 'method' | 'onlyReads'>): boolean =>
  stated ?? method === 'get'

/**
 * Notes the organization of the caller. Throws `key-missing` without a holder, and `key-scope` for a key that does not open
 * the route. If `route` is null, any scope of the API is enough.
 */
export function admitCaller<S>(
  context: RequestContext<S>,
  api: Api<S>,
  route: Route<S> | null,
  holder: Holder<S>,
): void {
  if (holder === null) throw new Refusal('key-missing', 'the apikey header is missing or holds an unknown key')
  context.organizationId = holder.organizationId
  context.apiKeyId = holder.keyId
  const reads = route === null || onlyReads(route)
  if (scopesAllow(holder.scopes, api.scope, reads)) return
  const part = scopesAllow(holder.scopes, api.scope, !reads) ? `${reads ? 'reads' : 'writes'} of the ` : 'the '
  if (route !== null || part === 'the ') throw new Refusal('key-scope', `this key is not for ${part}${api.scope} API`)
}
