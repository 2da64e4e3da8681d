import { readFileSync } from 'node:fs'
import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Command } from 'commander'
import { oneLine } from '../domain/alert.js'
import { isWebhookSecret } from '../domain/webhook.js'
import { webhookProblem } from '../jobs/channels/webhook-signature.js'
import { iso, print, run, WrongUse } from './administer.js'
import { whole } from './arguments.js'

interface Options {
  readonly port: number
  readonly secret?: string
  readonly cert?: string
  readonly key?: string
  readonly json?: true
}

const SECRET_VARIABLE = 'KEYSTRIDE_WEBHOOK_SECRET'
const BODY_MAX = 1_000_000
/** Most ids that are kept to detect a repeated message. */
const IDS_MAX = 10_000

/** `keystride webhook`: a receiver of webhooks, to try them out. */
export const webhookCommand = (env: NodeJS.ProcessEnv): Command =>
  new Command('webhook').description('receive webhooks, to try them out').addCommand(listenCommand(env))

const listenCommand = (env: NodeJS.ProcessEnv): Command =>
  new Command('listen')
    .description('print each webhook that arrives on 127.0.0.1, verified or refused with the reason, until Ctrl-C')
    .requiredOption('--port <n>', 'port to listen on; 0 picks a free one', whole(0, 65_535, 'a port, 0 to 65535'))
    .option(
      '--secret <whsec>',
      `signing secret of the channel (default: ${SECRET_VARIABLE}, which no list of processes shows)`,
    )
    .option('--cert <file>', 'certificate (PEM) to listen by https; without it by http, behind a proxy that ends TLS')
    .option('--key <file>', 'private key (PEM) of the certificate')
    .option('--json', 'print each webhook as JSON, one a line')
    .addHelpText(
      'after',
      `
A webhook is refused if its signature is bad, its timestamp is off by more than 5 minutes, or its id was verified before. A
repeated id is answered 204, so that the service does not send it again; the other refusals are answered 401.
The service sends by https to hosts of ALERT_HOSTS, and trusts the certificates in ALERT_CA:
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost \\
    -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem
  ALERT_HOSTS=localhost ALERT_CA=cert.pem keystride serve
  ${SECRET_VARIABLE}=whsec_... keystride webhook listen --port 8443 --cert cert.pem --key key.pem
Then set https://localhost:8443/ as the webhook channel, and send a test.`,
    )
    .action((options: Options) =>
      run(async () => {
        const secret = options.secret ?? env[SECRET_VARIABLE] ?? ''
        if (!isWebhookSecret(secret))
          throw new WrongUse(`--secret or ${SECRET_VARIABLE}: must be whsec_ and 24 to 64 bytes in base64`)
        await listen(options, secret)
      }),
    )

async function listen({ port, cert, key, json }: Options, secret: string): Promise<void> {
  if ((cert === undefined) !== (key === undefined)) throw new WrongUse('--cert and --key need each other')
  const take = createReceiver(secret)
  const answer: RequestListener = async (request, response) => {
    const body = await bodyOf(request).catch(() => null)
    if (body === null) return void response.writeHead(413).end()
    if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end()
    const received = take(request.headers, body, Date.now())
    print(json === true ? jsonLine(received) : readableLine(received))
    response.writeHead(received.status).end()
  }
  const server =
    cert === undefined || key === undefined
      ? createHttp(answer)
      : createHttps({ cert: readFileSync(cert), key: readFileSync(key) }, answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  // Sound: the server listens on a port.
  const at = (server.address() as AddressInfo).port
  process.stderr.write(`listening on ${cert === undefined ? 'http' : 'https'}://localhost:${at}/ (127.0.0.1)\n`)
  const stop = () => {
    server.close()
    server.closeAllConnections()
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  await new Promise((resolve) => server.once('close', resolve))
}

/** The body; null if it is larger than `BODY_MAX`. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request) {
    size += part.length
    if (size <= BODY_MAX) parts.push(part)
  }
  return size <= BODY_MAX ? Buffer.concat(parts) : null
}

interface Received {
  readonly at: string
  readonly id: string | null
  /** Null if the webhook is verified. */
  readonly refused: string | null
  readonly status: 204 | 401
  /** The parsed body; its text if it is not JSON. */
  readonly body: unknown
}

/** Verifies webhooks; remembers the ids of verified ones. */
function createReceiver(secret: string) {
  const ids = new Set<string>()
  return (headers: IncomingMessage['headers'], bytes: Buffer, now: number): Received => {
    const { 'webhook-id': id } = headers
    const received = { at: iso(now), id: typeof id === 'string' ? id : null, body: parsed(bytes.toString()) }
    const problem = webhookProblem(headers, bytes, secret, now)
    if (problem !== null || received.id === null) return { ...received, refused: problem, status: 401 }
    if (ids.has(received.id)) return { ...received, refused: 'repeated id', status: 204 }
    ids.add(received.id)
    const [oldest] = ids
    if (ids.size > IDS_MAX && oldest !== undefined) ids.delete(oldest)
    return { ...received, refused: null, status: 204 }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Escapes everything except printable ASCII, so that a body cannot control the terminal. */
const jsonLine = ({ status: _, ...received }: Received): string =>
  JSON.stringify(received).replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

function readableLine({ at, id, refused, body }: Received): string {
  const { type, timestamp, data } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const { text } = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
  const words = [
    at,
    refused === null ? 'verified' : `refused (${refused})`,
    `id=${id ?? 'none'}`,
    type,
    timestamp,
    text,
  ]
  return oneLine(words.filter((word) => typeof word === 'string').join(' '))
}
