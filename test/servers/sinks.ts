import { createSocket } from 'node:dgram'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { certificate, certificateKey } from './certificate.js'

const TLS = { cert: certificate, key: certificateKey }

/** A server of a test, with the messages that it got. */
export interface Sink<T> {
  readonly port: number
  readonly received: T[]
  /** Connections accepted so far. */
  readonly connections: () => number
  close(): Promise<void>
}

interface Mail {
  readonly from: string
  readonly to: string[]
  readonly raw: string
  readonly user: string | null
}

/** An SMTP server that accepts every mail, or with `user` only mail of that user. */
export async function smtpSink(
  options: SMTPServerOptions & { readonly login?: { readonly user: string; readonly password: string } } = {},
  port = 0,
): Promise<Sink<Mail>> {
  const { login, ...more } = options
  const received: Mail[] = []
  let connections = 0
  const server = new SMTPServer({
    ...TLS,
    authOptional: login === undefined,
    disableReverseLookup: true,
    disabledCommands: login === undefined ? ['AUTH'] : [],
    onConnect(_, done) {
      connections += 1
      done()
    },
    onAuth(auth, _, done) {
      if (auth.username === login?.user && auth.password === login?.password) done(null, { user: auth.username ?? '' })
      else done(new Error('the canary of this server is 4711'))
    },
    onData(stream, session, done) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : (mailFrom?.address ?? ''),
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(parts).toString('latin1'),
          user: typeof session.user === 'string' ? session.user : null,
        })
        done()
      })
    },
    ...more,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

interface Call {
  readonly path: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

/** An HTTPS gateway that answers every call in the same way. */
export async function gatewaySink(
  answer: { status: number; headers?: Record<string, string>; body?: string } = { status: 200 },
  port = 0,
): Promise<Sink<Call>> {
  const received: Call[] = []
  const server = createHttps(TLS, async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ path: request.url ?? '', headers: request.headers, body })
    response.writeHead(answer.status, answer.headers).end(answer.body ?? 'the canary of this server is 4711')
  })
  return listening(server, received, port)
}

/** A syslog receiver over TCP or TLS; one entry for each connection, with all its bytes. */
export const streamSink = (tls: boolean): Promise<Sink<string>> => {
  const received: string[] = []
  const take = (socket: Socket) => {
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1')
    })
    socket.on('end', () => {
      received.push(text)
      socket.end()
    })
  }
  return listening(tls ? createTls(TLS, take) : createTcp(take), received)
}

/** A listener that accepts connections and then does nothing, closes them, or sends an unexpected text. */
export const muteSink = (act: 'nothing' | 'hang-up' | { says: string } = 'nothing'): Promise<Sink<never>> =>
  listening(
    createTcp((socket) => {
      socket.on('error', () => {})
      if (act === 'hang-up') socket.destroy()
      else if (act !== 'nothing') socket.write(act.says)
    }),
    [],
  )

export async function datagramSink(): Promise<Sink<string>> {
  const received: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message) => received.push(message.toString('latin1')))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    port: socket.address().port,
    received,
    connections: () => received.length,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

async function listening<T>(server: Server, received: T[], port = 0): Promise<Sink<T>> {
  let connections = 0
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections += 1
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
