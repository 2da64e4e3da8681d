import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployment } from '../harness/deployment.js'
import { until } from '../harness/patience.js'
import { type ServiceProcess, startProcess } from '../harness/service-process.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'

const REFUSED = 1000
const AT_ONCE = 20

let fresh: FreshDatabase
let env: Record<string, string>
beforeAll(async () => {
  fresh = await freshDatabase()
  env = (await deployment(fresh.url)).env
})
afterAll(() => fresh?.drop())

const get = async (service: ServiceProcess, path: string) => {
  const answer = await fetch(`${service.core}${path}`, { headers: { connection: 'close' } })
  await answer.arrayBuffer()
  return answer.status
}

async function refuseCalls(service: ServiceProcess): Promise<number[]> {
  const statuses: number[] = []
  const refuse = async () => {
    for (let n = 0; n < REFUSED / AT_ONCE; n++) statuses.push(await get(service, '/users/ada'))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, refuse))
  return statuses
}

/** Kills one of the serving processes, and waits for its successor. */
async function replaceFront(service: ServiceProcess): Promise<void> {
  const fronts = () =>
    execFileSync('ps', ['-o', 'pid=', '--ppid', String(service.process.pid)], { encoding: 'utf8' })
      .split('\n')
      .flatMap((line) => (line.trim() === '' ? [] : [Number(line)]))
  const [first] = fronts()
  if (first === undefined) throw new Error('no serving process')
  process.kill(first, 'SIGTERM')
  await until(async () => fronts().length === 2 && !fronts().includes(first))
}

describe.each(['1', '2'])('a service of PROCESSES=%s with LOG_FORMAT=json', (PROCESSES) => {
  let service: ServiceProcess
  beforeAll(async () => {
    service = await startProcess({ ...env, PROCESSES, LOG_FORMAT: 'json', LOG_LEVEL: 'info' })
  })
  afterAll(() => service?.kill())

  it('answers every call while no one reads its log', async () => {
    service.process.stdout?.pause()
    // A process that begins or ends changes the flags of the standard output that it shares.
    if (PROCESSES === '2') await replaceFront(service)
    expect(new Set(await refuseCalls(service))).toEqual(new Set([401]))
    expect(await get(service, '/status')).toBe(200)
  })
})
