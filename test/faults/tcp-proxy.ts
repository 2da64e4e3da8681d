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
}

/** Starts a proxy on a free port of 127.0.0.1 that leads to `target`. */
export async function startProxy(target: number): Promise<TcpProxy> {
  let delayMs = 0
  let stalled: Way | null = null
  const pipes = new Set<Pipe>()
  const sockets = new Set<Socket>()

  function flush(pipe: Pipe): void {
    if (stalled === pipe.way || stalled === 'both') return
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
  const flushAll = () => {
    for (const pipe of pipes) flush(pipe)
  }
  function connect(from: Socket, to: Socket, way: 'up' | 'down'): void {
    const pipe: Pipe = { to, way, held: [], timer: null }
    pipes.add(pipe)
    sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk) => {
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
  }
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }

  const listen = (port: number) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer({ noDelay: true }, (client) => {
        const store = createConnection({ port: proxy.target, host: '127.0.0.1' })
        connect(client, store, 'up')
        connect(store, client, 'down')
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
      for (const { held } of pipes) held.splice(0, held.length, ...held.map(({ chunk }) => ({ chunk, due: 0 })))
      flushAll()
    },
    delay(ms: number) {
      delayMs = ms
    },
    stall(way: Way = 'both') {
      stalled = way
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
