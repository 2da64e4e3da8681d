import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that can hold back an answer. */
export interface SlowLane {
  readonly port: number
  /**
   * Passes on the next request that contains these bytes, and holds back what the server sends on its connection until
   * `open`.
   */
  holdAnswerTo(bytes: string): { readonly held: Promise<void>; open(): void }
  close(): Promise<void>
}

export async function slowLane(serverPort: number): Promise<SlowLane> {
  const sockets = new Set<Socket>()
  let wanted: { bytes: string; take(server: Socket): void } | null = null
  const lane = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1')
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
    client.on('data', (chunk) => {
      if (wanted !== null && chunk.includes(wanted.bytes)) {
        wanted.take(server)
        wanted = null
      }
      server.write(chunk)
    })
    server.on('data', (chunk) => client.write(chunk))
  }).listen(0, '127.0.0.1')
  await once(lane, 'listening')
  const address = lane.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    holdAnswerTo(bytes) {
      let keptBack: Socket | null = null
      const held = new Promise<void>((resolve) => {
        wanted = {
          bytes,
          take(server) {
            keptBack = server.pause()
            resolve()
          },
        }
      })
      return { held, open: () => keptBack?.resume() }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      lane.close()
      await once(lane, 'close')
    },
  }
}
