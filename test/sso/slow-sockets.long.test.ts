import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { figure } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { openBridge } from './bridge.js'

const SOCKETS = 100
const HEAD = 'POST /interaction/x HTTP/1.1\r\nhost: bridge\r\n'
const FORM = `${HEAD}content-type: application/x-www-form-urlencoded\r\ncontent-length: 9999\r\n\r\n`
const GET = 'GET /assets/element.js HTTP/1.1\r\nhost: bridge\r\n\r\n'

const { bridge } = await openBridge()

/** Connections that the bridge holds open, as the kernel lists them. */
const held = (): number => {
  const port = bridge.port.toString(16).toUpperCase().padStart(4, '0')
  return ['tcp', 'tcp6']
    .flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'utf8').split('\n'))
    .filter((line) => new RegExp(`^ *\\d+: [0-9A-F]+:${port} [0-9A-F]+:[0-9A-F]{4} 01 `).test(line)).length
}

/** A socket that sends nothing, half a head, a head byte by byte, a form byte by byte, or that reads no answer. */
function slowSocket(n: number): Socket {
  const socket = connect({ port: bridge.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const kind = n % 5
  const say = (text: string) => socket.writable && socket.write(text)
  if (kind === 1) say(HEAD)
  if (kind === 3) say(FORM)
  if (kind === 4) say(GET.repeat(1000))
  if (kind !== 2 && kind !== 3) return socket
  let at = 0
  const dripping = setInterval(() => say(kind === 2 ? (FORM[at++] ?? 'x') : 'x'), 1000)
  socket.once('close', () => clearInterval(dripping))
  return socket
}

// Regression: the connection of a client that read none of many answers was never closed, and others only after a minute.
it('slow sockets fail no honest request, and the bridge closes them all', async () => {
  const slow = Array.from({ length: SOCKETS }, (_, n) => slowSocket(n))
  await until(() => slow.every(({ connecting }) => !connecting))
  await until(() => held() >= SOCKETS)
  for (let n = 0; n < 20; n++) {
    const { status } = await fetch(`${bridge.issuer}/.well-known/openid-configuration`, {
      headers: { connection: 'close' },
    })
    expect(status).toBe(200)
  }
  await until(() => held() === 0)
  figure('T20', `0 of 20 honest requests failed, ${SOCKETS} of ${SOCKETS} slow sockets closed`, '0', true)
  for (const socket of slow) socket.destroy()
  expect(bridge.lines.filter(({ level }) => Number(level) >= 40)).toEqual([])
})
