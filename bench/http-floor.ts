import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { cpus } from 'node:os'
import { promisify } from 'node:util'
import { z } from 'zod'
import { loadProvider } from '../src/http/provider.js'
import { routesFor } from '../src/http/route.js'
import { serve } from '../src/http/server.js'

// What the http floor itself costs: routing, checks, envelope and the server below, with handlers that do nothing.
// autocannon runs beside it in a process of its own and takes about as much processor as the server does, so on a
// machine of two cores the figure is a floor, not the server's limit.

const seconds = Number(process.argv[2] ?? 5)
const connections = 50
const patternBytes = 14_000

const nothing = z.object({})
const route = routesFor<null>()
const routes = [
  route({
    method: 'get',
    path: '/hello/{name}',
    summary: 'Keyed GET with one parameter',
    countedAs: 'other',
    lane: null,
    needsKey: true,
    needsSession: false,
    params: z.object({ name: z.string() }),
    query: nothing,
    body: { kind: 'none' },
    replies: { 200: z.object({ hello: z.string() }) },
    refuses: [],
    handle: async ({ params }) => ({ status: 200, payload: { hello: params.name } }),
  }),
  route({
    method: 'post',
    path: '/bytes',
    summary: 'Keyed POST of bytes, answered with their length',
    countedAs: 'other',
    lane: null,
    needsKey: true,
    needsSession: false,
    params: nothing,
    query: nothing,
    body: { kind: 'bytes', maxBytes: 512 * 1024, documents: z.unknown() },
    replies: { 200: z.object({ bytes: z.int() }) },
    refuses: [],
    handle: async ({ body }) => ({ status: 200, payload: { bytes: body.byteLength } }),
  }),
]

const provider = loadProvider()
if (!provider.native) throw new Error('this bench measures nothing on a fall-back')
let id = 0
const quiet = () => {}
const server = await serve<null>({
  uws: provider.uws,
  apis: [{ basePath: '/core', scope: 'core', title: 'Bench', routes }],
  plain: [{ method: 'get', path: '/livez', handle: () => ({ status: 200, contentType: 'text/plain', body: 'live' }) }],
  authenticate: async () => ({ organizationId: 'org-1', keyId: '', scopes: ['core'] }),
  degraded: () => null,
  services: null,
  log: { debug: quiet, info: quiet, error: quiet },
  newRequestId: () => String(++id),
  onAnswer: quiet,
  host: '127.0.0.1',
  port: 0,
})

console.log(
  `${provider.name}@${provider.version}, Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model}`,
)
const base = `http://127.0.0.1:${server.port}`
const key = ['-H', 'apikey: bench']
await measure('plain GET', ['/livez'])
await measure('keyed GET, one parameter', ['/core/hello/ann', ...key])
await measure(`keyed POST, ${patternBytes} bytes`, [
  '/core/bytes',
  ...key,
  '-m',
  'POST',
  '-b',
  'x'.repeat(patternBytes),
])
await server.close({ lingerMs: 0 })

async function measure(name: string, [path = '', ...more]: readonly string[]): Promise<void> {
  const cannon = createRequire(import.meta.url).resolve('autocannon')
  const flags = ['--json', '-n', '-c', String(connections), '-d', String(seconds), ...more]
  const processor = process.cpuUsage()
  const { stdout } = await promisify(execFile)(process.execPath, [cannon, ...flags, base + path])
  const used = process.cpuUsage(processor)
  const result = z
    .object({
      requests: z.object({ average: z.number(), total: z.number() }),
      latency: z.object({ p50: z.number(), p99: z.number() }),
      non2xx: z.number(),
      errors: z.number(),
    })
    .parse(JSON.parse(stdout))
  const microseconds = (used.user + used.system) / result.requests.total
  console.log(
    `${name}: ${Math.round(result.requests.average)}/s, p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms, ` +
      `${microseconds.toFixed(1)} µs of server processor each, ${result.non2xx} refused, ${result.errors} errors`,
  )
}
