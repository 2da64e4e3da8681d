import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { figure } from '../harness/figure.js'
import { ask, rawClient, request } from '../harness/raw.js'
import { type Case, malformed, misspeltChunks, odd } from './corpus.js'
import { key, type Marked, startMarked } from './marked.js'
import { provider, type Running, reasonOf, start, stop } from './table.js'

let running: Running
let port = 0
let marked: Marked
beforeAll(async () => {
  running = await start({ bodyDeadlineMs: 150 })
  port = running.server.port
  marked = await startMarked()
})
afterAll(() => Promise.all([stop(running), stop(marked.running)]))

/** The request that is hidden behind another one. */
const hidden = request('GET /core/users/hidden', [key])
const put = (headers: string[], rest: string) =>
  `${['PUT /core/words HTTP/1.1', 'Host: x', key, ...headers].join('\r\n')}\r\n\r\n${rest}`

/** The final statuses of all answers in a text. */
const finalStatuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)).filter((status) => status >= 200)

/** Malformed requests that a server answers with success: no other reader sees another request in them. */
const TOLERATED: Readonly<Record<string, readonly string[]>> = {
  'node:http': ['two spaces before the version', 'two spaces after the method'],
}

let cases = 0
/** Sends a case to a server that accepts any body. `goesOn` is true if the connection served another request afterwards. */
async function play({ text }: Case): Promise<{ statuses: readonly number[]; hiddenServed: boolean; goesOn: boolean }> {
  const { served, running } = marked
  const mark = `hidden-${++cases}`
  const client = await rawClient(running.server.port)
  await client.send(text(request(`GET /core/users/${mark}`, [key])))
  // After two more answers the server has read all of it. Some of it stays unanswered until the connection times out, so the
  // client gives up here.
  const other = () => ask(running.server.port, request('GET /core/users/other', [key]))
  expect([(await other())?.status, (await other())?.status]).toEqual([200, 200])
  const statuses = finalStatuses(await client.textWith(''))
  if (!client.socket.destroyed) await client.send(request(`GET /core/users/${mark}-late`, [key]))
  await other()
  client.socket.end()
  await client.ended
  const has = (wanted: string) => served.some((one) => one.mark === wanted)
  return { statuses, hiddenServed: has(mark), goesOn: has(`${mark}-late`) }
}

it('a request of the corpus hides no other one; a malformed one gets no success, and misspelt chunks close the connection', async () => {
  const faults: string[] = []
  for (const [kind, all] of Object.entries({ malformed, misspeltChunks, odd }))
    for (const one of all) {
      const { statuses, hiddenServed, goesOn } = await play(one)
      if (statuses.length > 1) faults.push(`${one.name}: ${statuses.length} answers`)
      if (hiddenServed) faults.push(`${one.name}: the hidden request is served`)
      const tolerated = (TOLERATED[provider.name] ?? []).includes(one.name)
      if (kind === 'malformed' && !tolerated && statuses.some((status) => status < 400))
        faults.push(`${one.name}: a success`)
      if (kind === 'misspeltChunks' && goesOn) faults.push(`${one.name}: the connection is kept`)
    }
  expect(faults).toEqual([])
  const found = `0 second answers and 0 successes in ${malformed.length + misspeltChunks.length + odd.length} malformed or odd requests`
  figure('T19', found, '60 and more, 0 of each', malformed.length >= 60)
})

it('an ambiguous head gets 400 invalid-data and a closed connection', async () => {
  for (const headers of [
    [key],
    ['X-Service-Session: a', 'x-service-session: a'],
    ['Content-Length: 0', 'Content-Length: 5'],
    ['Content-Length: 2', 'Content-Length: 2'],
    ['Content-Type: application/json', 'Content-Type: text/plain'],
    ['Host: y'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['X-A: a\x7f'],
  ]) {
    const answer = await ask(port, put(headers, ''))
    expect([headers, answer?.status, answer?.headers.get('connection')?.toLowerCase(), reasonOf(answer)]).toEqual([
      headers,
      400,
      'close',
      'invalid-data',
    ])
  }
})

describe('segments and pipelines', () => {
  it('a request cut at any byte is one request', async () => {
    const text = request('GET /core/users/ann', [key])
    for (let cut = 1; cut < text.length; cut += 3) {
      const answer = await ask(port, text.slice(0, cut), text.slice(cut))
      expect([cut, answer?.status]).toEqual([cut, 200])
    }
  })
  it('a request behind an unanswered one is not served: the connection is closed', async () => {
    for (const first of [
      request('GET /core/users/a', [key]),
      request('GET /core/held', [key]),
      put(['Content-Length: 2'], '{}'),
    ]) {
      const before = running.answers.filter(({ route }) => route === '/users/{userRef}').length
      const client = await rawClient(port)
      await client.send(first + hidden)
      await client.ended
      expect(await client.answers(0)).toEqual([])
      const after = running.answers.filter(({ route }) => route === '/users/{userRef}').length
      // The library closes it, so the first answer is lost too.
      expect(after - before).toBe(first.includes('/users/a') ? 1 : 0)
    }
    running.gate.open()
  })
  it('requests that wait for each other’s answers share a connection', async () => {
    const client = await rawClient(port)
    for (const [at, name] of ['a', 'b', 'c'].entries()) {
      await client.send(request(`GET /core/users/${name}`, [key]))
      const answer = (await client.answers(at + 1))[at]
      expect(JSON.parse(answer?.text ?? '{}').userRef).toBe(name)
    }
    client.socket.destroy()
  })
  it('a chunked body closes its connection: another reader may see a different end', async () => {
    const answer = await ask(port, put(['Transfer-Encoding: chunked'], chunked('{"word":"ok"}')))
    expect(answer?.status).toBe(200)
    expect(answer?.headers.get('connection')).toBe('close')
  })
  it('a connection is kept after a refusal whose body was small', async () => {
    const client = await rawClient(port)
    const body = 'x'.repeat(20_000)
    await client.send(request('PUT /core/words', [key], body))
    await client.answers(1)
    await client.send(request('PUT /core/words', ['apikey: wrong'], '{"word":"ok"}'))
    await client.answers(2)
    await client.send(request('PUT /core/words', [key], '{"word":"ok"}'))
    const answers = await client.answers(3)
    expect(answers.map(({ status }) => status)).toEqual([413, 401, 200])
    client.socket.destroy()
  })
})

describe('bodies over their cap', () => {
  it('declared get 413 at once, before their first byte', async () => {
    for (const length of [16 * 1024 + 1, 2 * 1024 * 1024, 999_999_999]) {
      const answer = await ask(port, put([`Content-Length: ${length}`], ''))
      expect([length, answer?.status]).toEqual([length, 413])
    }
    // The older provider refuses ten digits and more, and closes the connection itself.
    const client = await rawClient(port)
    await client.send(put([`Content-Length: ${2 ** 30}`], ''))
    await client.ended
    expect((await client.answers(0)).filter(({ status }) => status !== 413)).toEqual([])
    const bytes = await ask(port, request('POST /core/users/a/typing-patterns', [key, 'Content-Length: 524289']))
    expect(bytes?.status).toBe(413)
  })
  it('in endless chunks are cut at the cap with 413 and a closed connection', async () => {
    const client = await rawClient(port)
    await client.send(put(['Transfer-Encoding: chunked'], ''))
    for (let i = 0; i < 5; i++) await client.send(chunk('x'.repeat(4096)))
    await client.ended
    const [answer] = await client.answers(1)
    expect([answer?.status, answer?.headers.get('connection')]).toEqual([413, 'close'])
  })
  it('are refused while the client goes on to send', async () => {
    const piece = 'x'.repeat(16_384)
    const pour = async (framing: string, piece: string) => {
      const client = await rawClient(port)
      await client.send(put([framing], ''))
      while (!client.socket.closed) {
        await client.send(piece)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return (await client.answers(0)).map(({ status }) => status)
    }
    const statuses: number[] = []
    for (let n = 0; n < 100; n++) {
      statuses.push(...(await pour(`Content-Length: ${n % 2 === 0 ? 999_999_999 : 2 ** 30}`, piece)))
      statuses.push(...(await pour('Transfer-Encoding: chunked', chunk(piece))))
    }
    // A client that goes on may find the connection closed before it reads the answer.
    const others = statuses.filter((status) => status !== 413).length
    expect(statuses.length).toBeGreaterThan(0)
    const found = `${others} of 200 answered otherwise than 413, ${running.server.inFlight()} left in flight`
    figure('T21', found, '0 and 0', others + running.server.inFlight() === 0)
  })
  it('of exactly the cap are accepted', async () => {
    const body = `{"word":"ok"${' '.repeat(16 * 1024 - 13)}}`
    expect((await ask(port, put(['Content-Length: 16384'], body)))?.status).toBe(200)
    expect((await ask(port, put(['Transfer-Encoding: chunked'], chunked(body))))?.status).toBe(200)
    expect((await ask(port, put(['Transfer-Encoding: chunked'], chunked(`${body} `))))?.status).toBe(413)
  })
  it('a body that does not come gets 408 and a closed connection', async () => {
    const client = await rawClient(port)
    await client.send(put(['Content-Length: 5'], 'abc'))
    await client.ended
    expect((await client.answers(0)).map(({ status }) => status)).toEqual([408])
    expect(running.server.inFlight()).toBe(0)
  })
})

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const chunked = (text: string) => `${chunk(text)}0\r\n\r\n`
