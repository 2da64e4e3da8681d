import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { asking } from '../../../bench/load/asking.js'
import { client } from '../../../bench/load/client.js'
import { recorder } from '../../../bench/load/recorder.js'
import { madeUpCrowd } from '../../../bench/load/typists.js'

it('retries a 503 for people that the run needs, and otherwise accepts it', async () => {
  let asked = 0
  const server = createServer((_, response) => response.writeHead(++asked % 2 === 1 ? 503 : 201).end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const seen = recorder()
  const connection = client({
    core: `http://127.0.0.1:${(server.address() as AddressInfo).port}/core`,
    apikey: 'key',
    connections: 1,
    timeoutMs: 10_000,
    recorder: seen,
    onUnknownKey: () => {},
  })
  const crowd = madeUpCrowd(1, 1)
  const { ask } = asking({ client: connection, recorder: seen, crowd, codes: 0, thinkMs: 0, seed: 1 })
  const creation = { operation: 'create', method: 'POST', path: '/users/ann', wanted: [201] } as const
  const statusOf = async (insists: boolean) =>
    (await ask({ intended: performance.now(), counted: true, insists }, creation))?.status
  expect(await statusOf(true)).toBe(201)
  expect(await statusOf(false)).toBe(503)
  expect(Object.fromEntries(seen.of('create').statuses)).toEqual({ 503: 2, 201: 1 })
  connection.close()
  server.close()
})
