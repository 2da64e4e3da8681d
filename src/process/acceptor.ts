import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { ExpectedFault } from '../domain/expected-fault.js'
import type { ToFront } from './front.js'

/** Accepts the connections of fronts that cannot share a port: `node:http` does so on some systems only. */
export interface Acceptor {
  readonly port: number
  /** From now on `child` gets its share of the connections. */
  add(child: ChildProcess): void
  remove(child: ChildProcess): void
  close(): void
}

/** Listens, and passes each connection to the next front. Throws an `ExpectedFault` if it cannot listen on the address. */
export async function accept(host: string, port: number): Promise<Acceptor> {
  const fronts: ChildProcess[] = []
  const onTheWay = new Map<ChildProcess, Set<Socket>>()
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = fronts.shift()
    if (child === undefined) {
      socket.destroy()
      return
    }
    fronts.push(child)
    pass(child, socket, onTheWay.get(child) ?? new Set())
  })
  return {
    port: await listenOn(server, host, port),
    add(child) {
      fronts.push(child)
      onTheWay.set(child, new Set())
    },
    remove(child) {
      const at = fronts.indexOf(child)
      if (at >= 0) fronts.splice(at, 1)
      // Node keeps those that wait for a process that has exited, and their clients would wait for ever.
      for (const socket of onTheWay.get(child) ?? []) socket.destroy()
      onTheWay.delete(child)
    },
    close: () => server.close(),
  }
}

function pass(child: ChildProcess, socket: Socket, onTheWay: Set<Socket>): void {
  onTheWay.add(socket)
  child.send({ kind: 'connection' } satisfies ToFront, socket, {}, (error) => {
    onTheWay.delete(socket)
    if (error !== null) socket.destroy()
  })
}

/** Throws if another process has the port. Fronts listen with SO_REUSEPORT, so they would share it without an error. */
export async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  const found = await listenOn(probe, host, port)
  probe.close()
  await once(probe, 'close')
  return found
}

async function listenOn(server: Server, host: string, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen({ host, port, exclusive: true }, resolve)
    })
  } catch {
    throw new ExpectedFault(
      `PORT: cannot listen on ${host}:${port}: another process has it, or HOST is not an address of this machine`,
    )
  }
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
