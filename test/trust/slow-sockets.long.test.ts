import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployment } from '../harness/deployment.js'
import { figure, LONG } from '../harness/figure.js'
import { until } from '../harness/patience.js'
import { request } from '../harness/raw.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const SOCKETS = LONG ? 5000 : 400
const HONEST = LONG ? 10_000 : 200

let fresh: FreshDatabase
let service: ServiceProcess
let apikey: string
beforeAll(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  apikey = made.apikey
  service = await startProcess(made.env)
})
afterAll(async () => {
  await service.stop()
  await fresh.drop()
})

const descriptors = () => readdirSync(`/proc/${service.process.pid}/fd`).length

/** A socket that sends nothing, half a head, a head byte by byte, or a body byte by byte. */
function slowSocket(n: number): Socket {
  const socket = connect({ port: Number(new URL(service.core).port), host: '127.0.0.1' })
  socket.on('error', () => {})
  const headers = [`apikey: ${apikey}`, 'X-Service-Session: s', 'Content-Length: 9999']
  const head = request('POST /core/users/slow/verify', headers)
  const say = (text: string) => socket.writable && socket.write(text)
  if (n % 4 === 1) say(head.slice(0, 40))
  if (n % 4 === 3) say(head)
  if (n % 4 < 2) return socket
  let at = 0
  const dripping = setInterval(() => say(n % 4 === 2 ? (head[at++] ?? 'x') : 'x'), 1000)
  socket.once('close', () => clearInterval(dripping))
  return socket
}

it(`${SOCKETS} slow sockets fail no honest request, and the service closes them all`, async () => {
  const ask = async () => (await fetch(`${service.core}/organization`, { headers: { apikey } })).status
  expect(await ask()).toBe(200)
  const before = descriptors()
  const slow = Array.from({ length: SOCKETS }, (_, n) => slowSocket(n))
  await until(() => slow.every(({ connecting }) => !connecting))
  let failed = 0
  for (let n = 0; n < HONEST; n++) if ((await ask()) !== 200) failed++
  await until(() => slow.every(({ closed }) => closed))
  await until(() => descriptors() <= before + 5)
  figure(
    'T20',
    `${failed} of ${HONEST} honest requests failed, ${SOCKETS} of ${SOCKETS} slow sockets closed`,
    '0',
    failed === 0,
  )
})
