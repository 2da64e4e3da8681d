import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployment } from '../faults/deployment.js'
import { type ServiceProcess, startProcess } from '../faults/service-process.js'
import { rawClient } from '../http/raw.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { figure, LONG } from './figure.js'

const BODIES = 100
const AT_ONCE = 10
/** Most bytes that are sent of one body if the service does not stop it. */
const SENT_MAX = LONG ? 64 * 2 ** 20 : 4 * 2 ** 20

describe('huge bodies', { timeout: 300_000 }, () => {
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

  const metric = async (name: string) => {
    const text = await (await fetch(service.core.replace('/core', '/metrics'))).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const residentMiB = async () => (await metric('process_resident_memory_bytes')) / 2 ** 20

  /**
   * Sends a head and then bytes without end. Returns whether the service left the connection open, and the status of
   * its answer, 0 if none.
   */
  async function pour(framing: string, piece: string) {
    const client = await rawClient(Number(new URL(service.core).port))
    let over = false
    void client.ended.then(() => {
      over = true
    })
    const head = ['POST /core/users/ann/typing-patterns HTTP/1.1', 'Host: x', `apikey: ${apikey}`, framing, '', '']
    await client.send(head.join('\r\n'))
    let sent = 0
    for (; !over && sent < SENT_MAX; sent += piece.length) {
      await Promise.race([client.send(piece), client.ended])
      await delay(0) // lets the event loop see the end of the connection
    }
    const open = await Promise.race([client.ended.then(() => false), delay(20_000).then(() => true)])
    const [answer] = await client.answers(0)
    client.socket.destroy()
    return { open, status: answer?.status ?? 0 }
  }

  it('are refused before they arrive, and use no memory', async () => {
    await pour('Content-Length: 999999999', 'x'.repeat(16_384))
    const before = await residentMiB()
    const statuses = new Map<number, number>()
    let [left, peak] = [0, before]
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`
    for (const [framing, piece] of [
      ['Content-Length: 999999999', 'x'.repeat(16_384)],
      ['Content-Length: 1073741824', 'x'.repeat(16_384)],
      ['Transfer-Encoding: chunked', chunk],
    ] as const)
      for (let n = 0; n < BODIES; n += AT_ONCE) {
        for (const { open, status } of await Promise.all(Array.from({ length: AT_ONCE }, () => pour(framing, piece)))) {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (open) left++
        }
        peak = Math.max(peak, await residentMiB())
      }
    console.log(JSON.stringify(Object.fromEntries(statuses)))
    // A client that goes on sending may find the connection closed before it reads the answer. No body may be answered
    // as a success.
    expect([...statuses.keys()].filter((status) => ![0, 400, 413].includes(status))).toEqual([])
    expect(statuses.get(413)).toBeGreaterThan(0)
    expect(service.process.exitCode).toBeNull()
    const grown = Math.round(peak - before)
    const found = `${3 * BODIES} bodies of a GiB or without end: ${left} left open, ${grown} MiB more memory`
    figure('T21', found, '0, 64 MiB', left === 0 && grown <= 64)
  })
})
