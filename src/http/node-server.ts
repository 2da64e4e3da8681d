import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'
import type { UwsApp, UwsModule, UwsRequest, UwsResponse } from './uws.js'

/** As uWebSockets.js does, closes a connection that has had no request, or whose client has read no answer, for this long. */
const IDLE_MS = 10_000
/** Closes the connection of a request that has not arrived after this, including its body. The deadline of bodies is earlier. */
const ARRIVAL_MS = 20_000
const HEAD_BYTES_MAX = 16 * 1024
/** The limit of uWebSockets.js. */
const HEADERS_MAX = 100

/**
 * The server of `node:http` behind the interface of uWebSockets.js, for systems without its binary. Workers of a cluster share a
 * port. It differs from Node's default in three ways. A request behind an unanswered one closes the connection, so that no smuggled
 * request is served. `100 Continue` is sent only when the body is read. A stop keeps idle connections for a last answer.
 */
export const nodeServer: UwsModule = {
  LIBUS_LISTEN_EXCLUSIVE_PORT: 1,
  App: nodeApp,
  us_listen_socket_close(socket) {
    // Calls the method of net.Server, because that of http.Server would close idle connections too.
    if (socket instanceof NetServer) NetServer.prototype.close.call(socket)
  },
  us_socket_local_port: (socket) => (socket instanceof NetServer ? (socket.address() as AddressInfo).port : 0), // Sound: it listens on TCP.
}

function nodeApp(): UwsApp {
  const server = createServer({
    headersTimeout: IDLE_MS,
    keepAliveTimeout: IDLE_MS,
    requestTimeout: ARRIVAL_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: HEAD_BYTES_MAX,
  })
  // The size of the head bounds the number of headers. Node would drop headers beyond a limit silently.
  server.maxHeadersCount = 0
  const app: UwsApp = {
    any(_, handler) {
      takeRequests(server, handler)
      return app
    },
    listen(host, port, options, done) {
      let listens = false
      // Ignores later errors, which concern a connection that could not be accepted, such as too many open files.
      server.on('error', () => listens || done(false))
      server.listen({ host, port, exclusive: options === 1 }, () => {
        listens = true
        done(server)
      })
      return app
    },
    close() {
      server.close()
      server.closeAllConnections()
      return app
    },
  }
  return app
}

function takeRequests(server: Server, handler: Parameters<UwsApp['any']>[1]): void {
  const unanswered = new WeakSet<Duplex>()
  server.on('clientError', (error, socket) => {
    if (!unanswered.has(socket)) refuseHead(error, socket)
    else socket.destroy()
  })
  const take = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const { socket } = request
    const status = statusOfHead(request)
    if (unanswered.has(socket)) {
      socket.destroy()
      return
    }
    unanswered.add(socket)
    if (status !== null) {
      socket.end(textOf(status), () => socket.destroy())
      return
    }
    response.once('finish', () => unanswered.delete(socket))
    handler(responseOf(request, response, expectsContinue), requestOf(request))
  }
  server.on('request', (request, response) => take(request, response, false))
  server.on('checkContinue', (request, response) => take(request, response, true))
  server.on('checkExpectation', (request, response) => take(request, response, false))
}

/** The status for a head that Node's parser accepts and this server refuses; null for a valid one. */
function statusOfHead({ httpVersion, rawHeaders, headers }: IncomingMessage): number | null {
  if (rawHeaders.length > 2 * HEADERS_MAX) return 431
  if (httpVersion === '1.1') return null
  // HTTP/1.0 has no transfer coding, so the end of such a request is uncertain.
  if (httpVersion === '1.0') return headers['transfer-encoding'] === undefined ? null : 400
  return 505
}

/** Answers a head that the parser refuses. A late request gets no answer, because one may have been sent already. */
function refuseHead({ code }: NodeJS.ErrnoException, socket: Duplex): void {
  const isLate = code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (socket.writable && !isLate) socket.write(textOf(code === 'HPE_HEADER_OVERFLOW' ? 431 : 400))
  socket.destroy()
}

const textOf = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`

function requestOf({ method = '', url = '', rawHeaders }: IncomingMessage): UwsRequest {
  const mark = url.indexOf('?')
  return {
    getCaseSensitiveMethod: () => method,
    getUrl: () => (mark < 0 ? url : url.slice(0, mark)),
    getQuery: () => (mark < 0 ? '' : url.slice(mark + 1)),
    forEach(visit) {
      for (let i = 0; i < rawHeaders.length; i += 2) visit((rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? '')
    },
  }
}

function responseOf(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): UwsResponse {
  const head: string[] = []
  let status = 200
  let statusText = ''
  let onAborted: (() => void) | null = null
  const abort = (): void => {
    onAborted?.()
    onAborted = null
  }
  response.once('close', () => {
    if (!response.writableFinished) abort()
  })
  function finish(body: string | Uint8Array, length: number, closeConnection: boolean): UwsResponse {
    onAborted = null
    head.push('content-length', String(length))
    if (closeConnection) head.push('connection', 'close')
    request.socket.setTimeout(IDLE_MS)
    response.writeHead(status, statusText, head).end(body)
    return res
  }
  const res: UwsResponse = {
    onAborted(handle) {
      onAborted = handle
      return res
    },
    onData(handle) {
      if (expectsContinue) response.writeContinue()
      passBody(request, handle)
      return res
    },
    cork(write) {
      write()
      return res
    },
    writeStatus(line) {
      status = Number(line.slice(0, 3))
      statusText = line.slice(4)
      return res
    },
    writeHeader(name, value) {
      head.push(name, value)
      return res
    },
    end: (body, closeConnection = false) => finish(body, Buffer.byteLength(body), closeConnection),
    endWithoutBody: (length = 0, closeConnection = false) => finish('', length, closeConnection),
    close() {
      request.socket.destroy()
      abort()
      return res
    },
  }
  return res
}

/** Passes the chunks of a body. The last chunk is marked if the body has a length; otherwise an empty chunk ends the body. */
function passBody(request: IncomingMessage, handle: (chunk: ArrayBuffer, isLast: boolean) => void): void {
  let missing = Number(request.headers['content-length'] ?? Number.NaN)
  request.on('data', (chunk: Buffer) => {
    missing -= chunk.byteLength
    handle(bytesOf(chunk), missing === 0)
  })
  request.once('end', () => {
    if (missing !== 0) handle(new ArrayBuffer(0), true)
  })
}

/** The bytes of a chunk. Sound: Node allocates no shared memory for it. */
const bytesOf = ({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer =>
  (byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer
