import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** Direction of bytes: `up` from the client to the server, `down` for its answers. */
type Way = 'up' | 'down' | 'both'

/** A proxy between a service and a store that simulates network faults. A fault also applies to new connections. */
export interface TcpProxy {
  readonly port: number
  /** Port that new connections lead to; changes if a server restarts on another port. */
  target: number
  /** Ends all faults and sends what was held back. */
  pass(): void
  /** Delays answers by `ms`, in order. */
  delay(ms: number): void
  /** Accepts bytes and holds them back: both ends see a live connection. */
  stall(way?: Way): void
  /** Bytes from clients since the last `stallAfter`. */
  sent(): number
  /** Stalls as soon as the clients have sent so many bytes from now on. */
  stallAfter(bytes: number): void
  /**
   * Passes on the next request that contains these bytes, and holds back what the server sends on its connection until
   * `pass`.
   */
  holdAnswerTo(bytes: string): void
  /** Resets every connection; new ones are accepted. */
  cut(): void
  /** Resets every connection and closes the port. */
  refuse(): Promise<void>
  /** Listens on the same port again. */
  accept(): Promise<void>
  /** Number of connections. */
  open(): number
  close(): Promise<void>
}

/** One direction of one connection: chunks in order, each with its earliest time. */
interface Pipe {
  readonly to: Socket
  readonly way: 'up' | 'down'
  readonly held: { readonly chunk: Buffer; readonly due: number }[]
  timer: NodeJS.Timeout | null
  stalled: boolean
}

/** Starts a proxy on a free port of 127.0.0.1 that leads to `target`. */
export async function startProxy(target: number): Promise<TcpProxy> {
  let delayMs = 0
  let stalled: Way | null = null
  let wanted: string | null = null
  let [sent, quota] = [0, Number.POSITIVE_INFINITY]
  const pipes = new Set<Pipe>()
  const sockets = new Set<Socket>()

  function flush(pipe: Pipe): void {
    if (pipe.stalled || stalled === pipe.way || stalled === 'both') return
    if (pipe.timer !== null) clearTimeout(pipe.timer)
    pipe.timer = null
    for (let next = pipe.held[0]; next !== undefined; next = pipe.held[0]) {
      const wait = next.due - performance.now()
      if (wait > 0) {
        pipe.timer = setTimeout(() => flush(pipe), Math.ceil(wait))
        return
      }
      pipe.held.shift()
      pipe.to.write(next.chunk)
    }
  }
  function connect(from: Socket, to: Socket, way: 'up' | 'down', seen: (chunk: Buffer) => void = () => {}): Pipe {
    const pipe: Pipe = { to, way, held: [], timer: null, stalled: false }
    pipes.add(pipe)
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk) => {
      seen(chunk)
      pipe.held.push({ chunk, due: performance.now() + (way === 'down' ? delayMs : 0) })
      flush(pipe)
    })
    from.on('error', () => {})
    from.on('close', () => {
      if (pipe.timer !== null) clearTimeout(pipe.timer)
      pipes.delete(pipe)
      sockets.delete(from)
      // The client sees a server that died or refused as a reset, as without a proxy.
      to.resetAndDestroy()
    })
    return pipe
  }
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  const listen = (port: number) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer({ noDelay: true }, (client) => {
        const store = createConnection({ port: proxy.target, host: '127.0.0.1' })
        const answers = connect(store, client, 'down')
        connect(client, store, 'up', (chunk) => {
          sent += chunk.length
          if (sent > quota) stalled = 'both'
          if (wanted === null || !chunk.includes(wanted)) return
          answers.stalled = true
          wanted = null
        })
      })
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve(server))
    })
  const refuse = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      cut()
    })

  const proxy = {
    target,
    port: 0,
    pass() {
      delayMs = 0
      stalled = null
      quota = Number.POSITIVE_INFINITY
      for (const pipe of pipes) {
        pipe.stalled = false
        pipe.held.splice(0, pipe.held.length, ...pipe.held.map(({ chunk }) => ({ chunk, due: 0 })))
        flush(pipe)
      }
    },
    delay(ms: number) {
      delayMs = ms
    },
    stall(way: Way = 'both') {
      stalled = way
    },
    sent: () => sent,
    stallAfter(bytes: number) {
      ;[sent, quota] = [0, bytes]
    },
    holdAnswerTo(bytes: string) {
      wanted = bytes
    },
    cut,
    refuse,
    async accept() {
      server = await listen(proxy.port)
    },
    open: () => sockets.size / 2,
    close: refuse,
  }
  let server = await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  proxy.port = address.port
  return proxy
}
