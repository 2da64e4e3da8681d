import { connect, type Socket } from 'node:net'

export interface WireAnswer {
  readonly status: number
  /** Value of X-Service-Session; empty if absent. */
  readonly session: string
  readonly body: string
}

/** One connection with one request at a time. Uses little processor time, which the service and the stores need. */
export interface KeepAlive {
  send(request: Buffer): Promise<WireAnswer>
  close(): void
}

export function keepAlive(port: number): Promise<KeepAlive> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0)
    let waiting: { done(answer: WireAnswer): void; fail(error: Error): void } | null = null
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () =>
      resolve({
        send: (request) =>
          new Promise((done, fail) => {
            waiting = { done, fail }
            socket.write(request)
          }),
        close: () => socket.destroy(),
      }),
    )
    const lost = (error: Error) => {
      reject(error)
      waiting?.fail(error)
    }
    socket.on('error', lost)
    socket.on('close', () => lost(new Error('the connection was closed')))
    socket.on('data', (chunk) => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const headEnd = held.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const head = held.toString('latin1', 0, headEnd)
      const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (held.length < end) return
      const body = held.toString('utf8', headEnd + 4, end)
      held = held.subarray(end)
      const session = /\r\nx-service-session: (\S+)/i.exec(head)?.[1] ?? ''
      waiting?.done({ status: Number(head.slice(9, 12)), session, body })
    })
  })
}
