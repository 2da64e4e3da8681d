import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request } from '../../bench/shared/drive.js'
import { deployment } from '../faults/deployment.js'
import { ofStatus, openLoop, p99Of } from '../faults/open-loop.js'
import { type ServiceProcess, startProcess } from '../faults/service-process.js'
import { request as rawRequest } from '../http/raw.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { figure, LONG } from './figure.js'

const SOCKETS = LONG ? 5000 : 400
const SLOW_S = LONG ? 120 : 4
const HONEST_PER_SECOND = LONG ? 200 : 50
const GONE_WITHIN_MS = 45_000

let fresh: FreshDatabase
let service: ServiceProcess
let apikey: string
let port: number
beforeAll(async () => {
  fresh = await freshDatabase()
  const made = await deployment(fresh.url)
  apikey = made.apikey
  service = await startProcess(made.env)
  port = Number(new URL(service.core).port)
})
afterAll(async () => {
  await service.stop()
  await fresh.drop()
})

const descriptors = () => readdirSync(`/proc/${service.process.pid}/fd`).length

/** A socket that sends nothing, half a head, a head byte by byte, or a body byte by byte. */
function slowSocket(n: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const head = rawRequest('POST /core/users/slow/verify', [
    `apikey: ${apikey}`,
    'X-Service-Session: s',
    'Content-Length: 9999',
  ])
  const say = (text: string) => socket.writable && socket.write(text)
  if (n % 4 === 1) say(head.slice(0, 40))
  if (n % 4 === 3) say(head)
  if (n % 4 < 2) return socket
  let at = 0
  const dripping = setInterval(() => say(n % 4 === 2 ? (head[at++] ?? 'x') : 'x'), 1000)
  socket.once('close', () => clearInterval(dripping))
  return socket
}

describe('slow sockets', { timeout: LONG ? 600_000 : 120_000 }, () => {
  it(`do not delay honest requests and are closed by the service (${SOCKETS} at once)`, async () => {
    const next = () => ({ kind: 'organization', bytes: request('GET', '/core/organization', { apikey }, '') })
    const honest = (seconds: number) =>
      openLoop({ ports: [port], connections: 16, perSecond: HONEST_PER_SECOND, seconds, next })
    await honest(1)
    const base = await honest(LONG ? 20 : 3)
    // Lets the connections of the baseline close.
    await delay(500)
    const before = descriptors()
    const slow = new Set<Socket>()
    let n = 0
    const add = () => {
      const socket = slowSocket(n++)
      slow.add(socket)
      socket.once('close', () => slow.delete(socket))
    }
    // Replaces closed sockets, so that their number stays the same.
    const keeping = setInterval(() => {
      for (let more = Math.min(200, SOCKETS - slow.size); more > 0; more--) add()
    }, 20)
    await delay(SOCKETS / 5)
    const meanwhile = await honest(SLOW_S)
    clearInterval(keeping)
    expect(n).toBeGreaterThanOrEqual(SOCKETS)
    const endedAt = performance.now()
    while (slow.size > 0 && performance.now() - endedAt < GONE_WITHIN_MS) await delay(100)
    const goneMs = performance.now() - endedAt
    await delay(500)
    const left = descriptors() - before
    const failed = meanwhile.length - ofStatus(meanwhile, 200).length
    const slower = p99Of(meanwhile) / p99Of(base)
    console.log(`p99 ${p99Of(base).toFixed(1)} ms, among slow sockets x ${slower.toFixed(1)}`)
    figure(
      'T20',
      `${failed} of ${meanwhile.length} honest requests failed with ${SOCKETS} slow sockets open`,
      '0',
      failed === 0,
    )
    figure('T20', `slow sockets gone after ${(goneMs / 1000).toFixed(0)} s, ${slow.size} left`, '45 s', slow.size === 0)
    figure('T20', `${left} descriptors more than before`, '5 at the most', left <= 5)
    if (LONG) figure('T20', `p99 of honest requests x ${slower.toFixed(1)}`, 'x 2 at the most', slower <= 2)
    for (const socket of slow) socket.destroy()
  })
})
