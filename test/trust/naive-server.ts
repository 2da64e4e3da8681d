import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Served } from '../http/marked.js'

const REQUEST = /(?:GET|HEAD|PUT) \/\S*?([\w-]+) HTTP\/1\.[01]\r\n((?:[^\r\n]+\r\n)*)\r\n/

/**
 * Answers everything in the stream that looks like a request, wherever it begins: the check of smuggling must detect
 * this server.
 */
export async function naiveServer(): Promise<{ port: number; served: Served[]; close(): Promise<void> }> {
  const served: Served[] = []
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    let text = ''
    socket.on('data', (part: Buffer) => {
      text += part.toString('latin1')
      for (let found = REQUEST.exec(text); found !== null; found = REQUEST.exec(text)) {
        const [whole, mark = '', head = ''] = found
        text = text.slice(found.index + whole.length)
        served.push({ mark, passedOn: /^x-forwarded-for:/im.test(head) })
        const body = JSON.stringify({ userRef: mark })
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    served,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
