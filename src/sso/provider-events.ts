import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider'

/** A request of an application that the provider refused. */
interface RefusedRequest {
  readonly client: unknown
  readonly error: string
  readonly why: string | undefined
  readonly redirectUri: unknown
}

interface Reports {
  /** Called for a fault of the provider itself. */
  failed(error: Error): void
  complete(client: string | undefined): void
  refused(request: RefusedRequest): void
  /** Called when an application could not be notified of a sign-out. */
  notNotified(client: string, why: string): void
}

const REFUSALS = [
  'authorization.error',
  'grant.error',
  'userinfo.error',
  'end_session.error',
  'revocation.error',
] as const

/** Reports the answers and faults of the provider. Returns the provider. */
export function reporting(provider: Provider, reports: Reports): Provider {
  provider.on('server_error', (_, error) => reports.failed(error))
  provider.on('authorization.success', ({ oidc }) => reports.complete(oidc.client?.clientId))
  provider.on('backchannel.error', (_, error, client) => reports.notNotified(client.clientId, error.message))
  const refused = ({ oidc }: KoaContextWithOIDC, { error, error_description: why }: errors.OIDCProviderError) => {
    const { client_id: named, redirect_uri: redirectUri } = oidc?.params ?? {}
    reports.refused({ client: oidc?.client?.clientId ?? named, error, why, redirectUri })
  }
  // Sound: each of these events has the context and the error.
  for (const event of REFUSALS) provider.on(event as 'grant.error', refused)
  return provider
}
