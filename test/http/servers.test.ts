import { afterAll, beforeAll, expect, it } from 'vitest'
import { rawClient, request } from '../harness/raw.js'
import { provider, type Running, start, stop } from './table.js'

let running: Running
let port = 0
beforeAll(async () => {
  running = await start()
  port = running.server.port
})
afterAll(() => stop(running))

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`

/** Requests, each with the status that each server answers and whether it then closes the connection. */
const HEADS: Readonly<Record<string, { readonly sent: string; readonly uws: string; readonly node: string }>> = {
  'HTTP/1.0': { sent: lines('GET /livez HTTP/1.0'), uws: '505 closed', node: '200 closed' },
  'HTTP/1.0 with keep-alive': {
    sent: lines('GET /livez HTTP/1.0', 'Connection: keep-alive'),
    uws: '505 closed',
    node: '200 kept',
  },
  'a target with scheme and host': {
    sent: lines('GET http://x/livez HTTP/1.1', 'Host: x'),
    uws: '505 closed',
    node: '400 kept',
  },
  'a method that HTTP does not know': {
    sent: lines('BREW /livez HTTP/1.1', 'Host: x'),
    uws: '405 kept',
    node: '400 closed',
  },
  'a method in small letters': { sent: lines('get /livez HTTP/1.1', 'Host: x'), uws: '405 kept', node: '400 closed' },
  'two spaces in the request line': {
    sent: lines('GET  /livez HTTP/1.1', 'Host: x'),
    uws: '505 closed',
    node: '200 kept',
  },
  'no host': { sent: lines('GET /livez HTTP/1.1'), uws: '400 closed', node: '400 closed' },
  'a letter beyond ASCII in the path': {
    sent: lines('GET /p/\u00e4 HTTP/1.1', 'Host: x'),
    uws: '400 kept',
    node: '400 closed',
  },
  'a head of 17 KiB': {
    sent: lines('GET /livez HTTP/1.1', 'Host: x', `X-A: ${'a'.repeat(17 * 1024)}`),
    uws: '431 closed',
    node: '431 closed',
  },
  'a hundred and one headers': {
    sent: lines('GET /livez HTTP/1.1', 'Host: x', ...Array.from({ length: 100 }, (_, i) => `X-${i}: a`)),
    uws: '431 closed',
    node: '431 closed',
  },
}

it.each(Object.entries(HEADS))('%s', async (_, { sent, uws, node }) => {
  const client = await rawClient(port)
  await client.send(sent)
  const [, status] = /^HTTP\/1\.1 (\d+) /.exec(await client.textWith('\r\n\r\n')) ?? []
  if (!client.socket.destroyed) await client.send(request('GET /p/next-answer'))
  const kept = (await client.textWith('next-answer')).includes('next-answer') ? 'kept' : 'closed'
  client.socket.destroy()
  expect(`${status} ${kept}`).toBe(provider.sha256 === null ? node : uws)
})
