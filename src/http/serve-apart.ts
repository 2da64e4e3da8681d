import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { ExpectedFault } from '../base/expected-fault.js'
import type { Probe } from './server-types.js'

export interface Apart {
  close(): Promise<void>
}

/** Deadline of a request; a scrape of many processes takes a second or two. */
const TIMEOUT_MS = 5_000

/**
 * Serves the probes on a port of their own, `METRICS_PORT`, with Node's HTTP server, because a supervisor serves
 * nothing else. Throws an `ExpectedFault` if it cannot listen on the address.
 */
export async function serveApart(probes: readonly Probe[], at: { host: string; port: number }): Promise<Apart> {
  const byPath = new Map(probes.map((probe) => [probe.path, probe]))
  const server = createServer(
    { requestTimeout: TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      void answer(byPath, request, response)
    },
  )
  try {
    server.listen(at)
    await once(server, 'listening')
  } catch {
    throw new ExpectedFault(
      `METRICS_PORT: cannot listen on ${at.host}:${at.port}: another process has it, or HOST is not an address of this machine`,
    )
  }
  return {
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answer(probes: ReadonlyMap<string, Probe>, request: IncomingMessage, response: ServerResponse) {
  const [path = ''] = (request.url ?? '').split('?')
  const probe = probes.get(path)
  const say = (status: number, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    response
      .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...headers })
      .end(body)
  if (probe === undefined) return say(404, 'not found\n')
  if (request.method !== 'GET' && request.method !== 'HEAD') return say(405, 'GET only\n', { allow: 'GET, HEAD' })
  try {
    const { status, body, contentType } = await probe.handle()
    return say(status, body, { 'content-type': contentType })
  } catch {
    return say(500, 'failed\n')
  }
}
