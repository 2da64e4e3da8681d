import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConnection, request } from '../../../bench/shared/drive.js'
import { openPool } from '../../../bench/shared/pool.js'
import { within } from '../../../bench/shared/within.js'
import { until } from '../../harness/patience.js'

const sockets: Socket[] = []
const server = createServer((socket) => {
  sockets.push(socket)
  socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nx-kind: own\r\ncontent-length: 2\r\n\r\nok'))
})
let port = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  port = typeof address === 'object' ? (address?.port ?? 0) : 0
})
afterAll(() => void server.close())

const bytes = request('GET', '/a', {}, '')

describe('a connection of a bench', () => {
  it('answers with status, body and head', async () => {
    const connection = await openConnection(port)
    const answer = await new Promise((resolve) =>
      connection.ask(bytes, (status, body, head) => resolve([status, body.toString(), head.includes('x-kind: own')])),
    )
    connection.close()
    expect(answer).toEqual([200, 'ok', true])
  })

  it('fails a request after the server closed it while it was idle, instead of waiting forever', async () => {
    const before = sockets.length
    const connection = await openConnection(port)
    await until(() => sockets.length === before + 1)
    const lost = new Promise<Error>((resolve) => connection.onLost(resolve))
    sockets.at(-1)?.end()
    expect((await lost).message).toBe('the server closed a connection while it was idle')
    const refused = await new Promise<Error>((resolve, reject) => {
      connection.onLost(resolve)
      connection.ask(bytes, () => reject(new Error('answered')))
    })
    expect(refused).toBe(await lost)
  })
})

describe('a pool of a bench', () => {
  it('replaces a connection that the server closed while it was free', async () => {
    const lost: Error[] = []
    const before = sockets.length
    const pool = await openPool(port, 2, (error) => lost.push(error))
    await until(() => sockets.length === before + 2)
    sockets.at(-1)?.end()
    await until(() => sockets.length === before + 3)
    const taken = [pool.take()]
    // The server may see the new connection before the client does.
    await until(() => {
      try {
        taken.push(pool.take())
      } catch {}
      return taken.length === 2
    })
    const answers = taken.map(
      (connection) => new Promise((resolve) => connection.ask(bytes, (status) => resolve(status))),
    )
    expect(await Promise.all(answers)).toEqual([200, 200])
    expect(lost).toEqual([])
    pool.close()
  })
})

describe('a wait of a bench', () => {
  it('says what it waited for', async () => {
    await expect(within('an answer', new Promise(() => {}), 1)).rejects.toThrow('in vain for an answer')
    expect(await within('an answer', Promise.resolve(7))).toBe(7)
  })
})
