import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { drive, openConnection, request } from '../../../bench/shared/drive.js'

let close: () => void = () => {}
afterEach(() => close())

/** A server that answers each request with these pieces of bytes, one per iteration of the event loop. */
async function answering(pieces: (requests: number) => readonly string[]): Promise<number> {
  let requests = 0
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', async () => {
      for (const piece of pieces(requests++)) {
        socket.write(piece)
        await new Promise((later) => setTimeout(later, 2))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  close = () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  }
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const answer = (body: string, status = 200) =>
  `HTTP/1.1 ${status} OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

describe('the thin client', () => {
  it('reads whole answers, for any division into pieces', async () => {
    const whole = answer('{"a":"äöü"}')
    const port = await answering((n) =>
      n === 0 ? [whole] : [whole.slice(0, 9), whole.slice(9, 30), whole.slice(30, 50), whole.slice(50)],
    )
    const bodies: string[] = []
    const bytes = request('POST', '/', {}, 'x')
    const { answers, statuses } = await drive(port, [[bytes, bytes, bytes]], (body) => bodies.push(body))
    expect([answers, [...statuses]]).toEqual([3, [[200, 3]]])
    expect(bodies).toEqual(['{"a":"äöü"}', '{"a":"äöü"}', '{"a":"äöü"}'])
  })

  it('reports a connection that the server closed while it was in use', async () => {
    const port = await answering(() => [answer('', 500)])
    const connection = await openConnection(port)
    const status = await new Promise((resolve) => connection.ask(request('GET', '/', {}, ''), resolve))
    expect(status).toBe(500)
    const lost = new Promise<Error>((resolve) => connection.onLost(resolve))
    close()
    expect((await lost).message).toMatch(/closed a connection|ECONNRESET/)
  })
})
