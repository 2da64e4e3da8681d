import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { figure, LONG } from '../harness/figure.js'
import { type RawClient, rawClient, request } from '../harness/raw.js'
import { malformed, misspeltChunks, odd } from '../http/corpus.js'
import { key, type Marked, startMarked } from '../http/marked.js'
import { stop } from '../http/table.js'
import { startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'
import { startNginx, whyNoNginx } from '../servers/nginx.js'

const corpus = [...malformed, ...misspeltChunks, ...odd]
const PAIRS = LONG ? 10_000 : 2 * corpus.length
/** Concurrent connections: bytes that one request leaves in the proxy's pool reach another one's request. */
const AT_ONCE = 16
/** Longest silence on a connection before it is closed, ms: a proxy may wait for the rest of a body that never arrives. */
const SILENCE_MS = 400

const get = (mark: string, ...headers: string[]) => request(`GET /core/users/${mark}`, [key, ...headers])
const marksIn = (text: string) => [...text.matchAll(/"userRef":"([^"]*)"/g)].map(([, mark = '']) => mark)

/** Whether all `marks` occur in `order`, each once and in that sequence. */
function inOrder(marks: readonly string[], order: readonly string[]): boolean {
  let from = 0
  return marks.every((mark) => {
    const at = order.indexOf(mark, from)
    from = at + 1
    return at >= 0
  })
}

/** All bytes until the connection ends or is silent. */
async function allSaid(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let said = ''
  socket.on('data', (part: Buffer) => {
    said += part.toString('latin1')
  })
  socket.on('error', () => {})
  socket.setTimeout(SILENCE_MS, () => socket.destroy())
  socket.write(text)
  await new Promise((resolve) => socket.once('close', resolve))
  return said
}

/** A client with a kept-alive connection to the proxy. It connects again if the connection was closed between two requests. */
async function strangerAt(port: number): Promise<{ ask(text: string): Promise<string>; leave(): void }> {
  let client: RawClient = await rawClient(port)
  let answered = 0
  return {
    async ask(text) {
      if (client.socket.destroyed || client.socket.readableEnded) {
        client = await rawClient(port)
        answered = 0
      }
      await client.send(text)
      const answers = await client.answers(answered + 1)
      const own = answers.slice(answered)
      answered = answers.length
      return own.map((answer) => answer.text).join('')
    },
    leave: () => client.socket.destroy(),
  }
}

/**
 * Sends each pair of a request of the corpus and an honest one in one segment through a proxy, and at the same time a
 * stranger's request on another connection.
 */
async function playPairs(port: number, { served }: Marked) {
  /** Pairs with an answer that belongs to another request, or in another order. */
  let outOfStep = 0
  /** Strangers that did not get their own answer. */
  let strangersFailed = 0
  /** Honest requests that were answered after a request of the corpus. */
  let behind = 0
  let next = 0
  async function work(): Promise<void> {
    const stranger = await strangerAt(port)
    for (let n = next++; n < PAIRS; n = next++) {
      const text = corpus[n % corpus.length]?.text(get(`hidden-${n}`)) ?? ''
      const [answers, own] = await Promise.all([
        allSaid(port, text + get(`honest-${n}`, 'Connection: close')),
        stranger.ask(get(`stranger-${n}`)),
      ])
      const marks = marksIn(answers)
      // A hidden request that the proxy itself recognised may get an answer of its own.
      const known = served.some(({ mark, passedOn }) => passedOn && mark === `hidden-${n}`)
      if (!inOrder(marks, ['attack', ...(known ? [`hidden-${n}`] : []), `honest-${n}`])) outOfStep++
      if (marks.includes(`honest-${n}`)) behind++
      if (marksIn(own).join() !== `stranger-${n}`) strangersFailed++
    }
    stranger.leave()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  // These were served without the proxy's knowledge.
  const hiddenServed = served.filter(({ mark, passedOn }) => mark.startsWith('hidden-') && !passedOn).length
  const passedOn = served.filter(({ mark }) => mark === 'attack').length
  return { outOfStep, hiddenServed, strangersFailed, behind, passedOn }
}

const nginx = { start: startNginx, why: whyNoNginx() }
const haproxy = { start: startHaproxy, why: whyNoHaproxy() }
const ways = [
  { name: 'nginx', ...nginx, more: '' },
  { name: 'nginx that passes bodies on at once', ...nginx, more: 'proxy_request_buffering off;' },
  { name: 'haproxy', ...haproxy, more: '' },
  { name: 'haproxy that shares every connection', ...haproxy, more: 'http-reuse always' },
]
for (const why of new Set(ways.map(({ why }) => why))) if (why !== null) console.warn(`\n*** ${why} ***\n`)

describe('pairs of a request from the corpus and an honest one', { timeout: 600_000 }, () => {
  for (const { name, start, more, why } of ways)
    it.skipIf(why !== null)(`keep requests and answers in step through ${name}`, async () => {
      const marked = await startMarked()
      const { port } = marked.running.server
      const proxy = await start([port, port], more)
      const { outOfStep, hiddenServed, strangersFailed, ...reached } = await playPairs(proxy.port, marked)
      await proxy.close()
      await stop(marked.running)
      // Fails if the proxy refused nearly everything.
      expect(Math.min(reached.behind, reached.passedOn), JSON.stringify(reached)).toBeGreaterThan(PAIRS / 20)
      const wrong = outOfStep + hiddenServed + strangersFailed
      figure('T19', `${wrong} of ${PAIRS} pairs through proxies got a foreign answer`, '0', wrong === 0)
    })
})
