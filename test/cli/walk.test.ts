import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { walkClient } from '../../src/cli/walk-client.js'
import { walkSteps } from '../../src/cli/walk-steps.js'
import { queryOf } from '../../src/http/intake/request-line.js'
import { sharedService, type TestService } from '../harness/service.js'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

/** The promises that do not hold for a service at `url`. */
async function brokenAt(url: string, run: number): Promise<string[]> {
  const broken: string[] = []
  for (const { promise, walk } of walkSteps(walkClient(url, service.apikey), run))
    await walk().catch((error: Error) => broken.push(`${promise}: ${error.message}`))
  return broken
}

/** A server that passes calls on and changes the text of the answers. */
async function changing(change: (text: string) => string) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { apikey = '', 'x-service-session': session, 'content-type': type } = request.headers
    const answer = await fetch(service.core.replace('/core', request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: {
        apikey: String(apikey),
        ...(session === undefined ? {} : { 'x-service-session': String(session) }),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(change(await answer.text()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

describe('keystride walk', () => {
  it('finds every promise kept by a service that keeps them, and leaves no user', async () => {
    expect(await brokenAt(service.core.replace('/core', ''), 1)).toEqual([])
    expect((await service.dashboard('GET', '/users')).json.count).toBe(0)
  })

  it.each([
    ['a field is missing', (text: string) => text.replace(/"biometricStatus":"[^"]*",?/, '')],
    ['a stranger is let in', (text: string) => text.replace('"authenticated":false', '"authenticated":true')],
    ['the envelope lacks its time', (text: string) => text.replace('"timestamp"', '"time"')],
  ])('finds a promise broken if %s', async (_, change) => {
    const { url, close } = await changing(change)
    expect(await brokenAt(url, 2)).not.toEqual([])
    close()
  })
})

it('a space, a plus sign and other characters of a query arrive at the service as they were given', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push((request.url ?? '').split('?')[1] ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const ask = walkClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'key')
  for (const member_ref of ['front desk', 'a+b', '50%', 'a&b=c', 'Jörg 👤', 'a/b?#']) {
    await ask('core', 'GET /users/{userRef}', { path: { userRef: 'ann' }, query: { member_ref } })
    expect({ ...queryOf(asked.at(-1) ?? '') }).toEqual({ member_ref })
  }
  server.close()
})
