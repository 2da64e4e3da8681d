import { connect } from 'node:net'
import type { Case } from '../http/corpus.js'
import type { Served } from '../http/marked.js'
import { type RawClient, rawClient, request } from '../http/raw.js'

/** Concurrent connections: bytes that one request leaves in the proxy's pool reach another one's request. */
const AT_ONCE = 16
/**
 * Longest silence on a connection before it is closed, ms. A proxy may wait for the rest of a body that never arrives.
 */
const PATIENCE_MS = 400

interface PairsNeeds {
  readonly port: number
  readonly pairs: number
  /** Stops once a hidden request was served. */
  readonly untilServed?: boolean
  readonly corpus: readonly Case[]
  readonly key: string
  /** All requests that the server behind the proxy has served; grows during the run. */
  readonly served: readonly Served[]
}

interface PairsPlayed {
  readonly pairs: number
  /** Pairs with an answer that belongs to another request, or in another order. */
  readonly outOfStep: number
  /** Hidden requests that reached the server without the proxy's knowledge. */
  readonly hiddenServed: number
  /** Honest requests that did not get their own answer. Each pair has one, on a connection of its own. */
  readonly strangersFailed: number
  /** Honest requests that were answered after a request of the corpus. */
  readonly behind: number
  /** Requests of the corpus that the proxy passed on and the server accepted. */
  readonly passedOn: number
}

/** Sends each pair in one segment through a proxy, and at the same time a stranger's request on another connection. */
export async function playPairs({ port, pairs, untilServed, corpus, key, served }: PairsNeeds): Promise<PairsPlayed> {
  let [next, outOfStep, strangersFailed, behind] = [0, 0, 0, 0]
  const hidden = () => served.filter(({ mark, passedOn }) => mark.startsWith('hidden-') && !passedOn)
  const get = (mark: string, ...headers: string[]) => request(`GET /core/users/${mark}`, [key, ...headers])
  async function work(): Promise<void> {
    const stranger = await strangerAt(port)
    for (let n = next++; n < pairs; n = next++) {
      if (untilServed && hidden().length > 0) break
      const text = corpus[n % corpus.length]?.text(get(`hidden-${n}`)) ?? ''
      const [answers, own] = await Promise.all([
        allSaid(port, text + get(`honest-${n}`, 'Connection: close')),
        stranger.ask(get(`stranger-${n}`)),
      ])
      const marks = marksIn(answers)
      // A hidden request that the proxy itself recognised may get an answer of its own.
      const known = served.some(({ mark, passedOn }) => passedOn && mark === `hidden-${n}`)
      const order = ['attack', ...(known ? [`hidden-${n}`] : []), `honest-${n}`]
      if (!inOrder(marks, order)) outOfStep += 1
      if (marks.includes(`honest-${n}`)) behind += 1
      if (marksIn(own).join() !== `stranger-${n}`) strangersFailed += 1
    }
    stranger.leave()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const passedOn = served.filter(({ mark }) => mark === 'attack').length
  return { pairs: Math.min(next, pairs), outOfStep, hiddenServed: hidden().length, strangersFailed, behind, passedOn }
}

const marksIn = (text: string) => [...text.matchAll(/"userRef":"([^"]*)"/g)].map(([, mark = '']) => mark)

/** Whether all `marks` occur in `order`, each once and in that sequence. */
function inOrder(marks: readonly string[], order: readonly string[]): boolean {
  let from = 0
  for (const mark of marks) {
    const at = order.indexOf(mark, from)
    if (at < 0) return false
    from = at + 1
  }
  return true
}

/** All bytes until the connection ends or `PATIENCE_MS` pass without one. */
async function allSaid(port: number, text: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let said = ''
  socket.on('data', (part: Buffer) => {
    said += part.toString('latin1')
  })
  socket.on('error', () => {})
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.write(text)
  await new Promise((resolve) => socket.once('close', resolve))
  return said
}

/**
 * A client with a kept-alive connection to the proxy. It connects again if the connection was closed between two
 * requests.
 */
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
