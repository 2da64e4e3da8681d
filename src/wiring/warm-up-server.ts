import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { CoreServices } from '../api/core/core-route.js'
import { verifyUser } from '../api/core/verify.js'
import { createAuthenticate } from '../flows/session/authenticate.js'
import { loadProvider } from '../http/provider.js'
import { serve } from '../http/server.js'
import type { Config } from '../process/config.js'
import type { ApiKeyStore } from '../storage/api-key.js'

interface Needs {
  readonly config: Pick<Config, 'httpServer'>
  readonly organizationId: string
  readonly verify: CoreServices['verify']
  readonly resolveKey: ApiKeyStore['resolve']
  readonly newId: () => string
}

/** Sends a verify of this user and resolves with the status and the answer. */
type Ask = (userRef: string, body: Uint8Array) => Promise<{ readonly status: number; readonly answer: string }>

const APIKEY = `ks_${'w'.repeat(43)}`

/**
 * Runs `work` with a server of the verify route alone, on a free port of this machine, so that the requests of a warm-up also
 * take the path through the HTTP server. It accepts one made-up key, and serves only what `verify` does.
 */
export async function withVerifyServer<T>(needs: Needs, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { config, organizationId, verify, resolveKey, newId } = needs
  const authenticate = createAuthenticate({
    apiKeys: {
      async resolve(sha256) {
        await resolveKey(sha256)
        return { organizationId, keyId: organizationId, scopes: ['core'], rate: null }
      },
    },
    spendRate: () => {},
    monotonicMs: () => performance.now(),
  })
  const silent = { debug() {}, info() {}, error() {} }
  const server = await serve({
    uws: loadProvider(config.httpServer).uws,
    apis: [{ basePath: '/core', scope: 'core', title: 'Keystride core API', routes: [verifyUser] }],
    plain: [],
    authenticate,
    degraded: () => null,
    // Sound: the route calls no other service.
    services: { verify } as CoreServices,
    log: silent,
    newRequestId: newId,
    onAnswer: () => {},
    host: '127.0.0.1',
    port: 0,
  })
  const agent = new Agent({ keepAlive: true })
  try {
    return await work(async (userRef, body) => {
      const sent = request({
        ...{ agent, port: server.port, host: '127.0.0.1', method: 'POST', path: `/core/users/${userRef}/verify` },
        headers: { apikey: APIKEY, 'content-type': 'application/json', 'x-service-session': userRef },
      })
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const pieces: Buffer[] = []
      for await (const piece of response) pieces.push(piece)
      return { status: response.statusCode ?? 0, answer: Buffer.concat(pieces).toString() }
    })
  } finally {
    agent.destroy()
    await server.close({ lingerMs: 0 })
  }
}
