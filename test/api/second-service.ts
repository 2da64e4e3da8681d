import { startService, type TestService } from '../harness/service.js'

/** A service, called with the key of an organization. */
export function speakingFor(service: TestService, organizationId: string, apikey: string): TestService {
  const withKey =
    (ask: TestService['call']): TestService['call'] =>
    (method, path, options) =>
      ask(method, path, { ...options, headers: { apikey, ...options?.headers } })
  const call = withKey(service.call)
  return {
    ...service,
    organizationId,
    apikey,
    call,
    callLinks: withKey(service.callLinks),
    dashboard: (method, path, options) => service.dashboard(method, path, { apikey, ...options }),
    async bootstrap(userRef) {
      const answer = await call('GET', `/users/${encodeURIComponent(userRef)}`)
      return { ...answer, session: answer.headers.get('x-service-session') ?? '' }
    },
  }
}

/** A second service on the database of the first, as another process or with other settings, for the same organization. */
export const secondService = async (first: TestService, more: Record<string, string> = {}): Promise<TestService> =>
  speakingFor(await startService(first.env.DATABASE_URL ?? '', { more }), first.organizationId, first.apikey)
