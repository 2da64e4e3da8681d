import { z } from 'zod'
import { loadProvider } from '../../src/http/provider.js'
import { routesFor } from '../../src/http/route.js'
import { serve } from '../../src/http/server.js'
import { readConfig } from '../../src/process/config.js'
import { jsonLog } from '../../src/process/log.js'

/**
 * The shipped HTTP server with one route that reads its body and does nothing: the upper bound of any verify. Runs as its
 * own process and prints its port. Several processes with the same PORT share it, as fronts do.
 */
const read = routesFor<null>()({
  method: 'post',
  path: '/read',
  summary: 'Read a body',
  countedAs: 'other',
  lane: null,
  needsKey: true,
  needsSession: false,
  params: z.object({}),
  query: z.object({}),
  body: { kind: 'bytes', maxBytes: 512 * 1024, documents: z.object({}) },
  replies: { 200: z.object({ length: z.int() }) },
  refuses: [],
  handle: async ({ body }) => ({ status: 200, payload: { length: body.byteLength } }),
})

let requests = 0
const server = await serve({
  uws: loadProvider(readConfig(process.env).httpServer).uws,
  apis: [{ basePath: '/core', scope: 'core', title: 'read only', routes: [read] }],
  plain: [],
  authenticate: async () => ({ organizationId: 'o', keyId: '', scopes: ['core'] }),
  degraded: () => null,
  services: null,
  log: jsonLog('error'),
  newRequestId: () => String(requests++),
  onAnswer: () => {},
  host: '127.0.0.1',
  port: Number(process.env.PORT ?? 0),
  exclusivePort: false,
})
process.stdout.write(`${server.port}\n`)
