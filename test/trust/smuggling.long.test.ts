import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployment } from '../faults/deployment.js'
import { type ServiceProcess, startProcess } from '../faults/service-process.js'
import { malformed, misspeltChunks, odd } from '../http/corpus.js'
import { key, type Marked, startMarked } from '../http/marked.js'
import { rawClient, request } from '../http/raw.js'
import { goodKey, stop } from '../http/table.js'
import { until } from '../patience.js'
import { type FreshDatabase, freshDatabase } from '../servers/database.js'
import { startHaproxy, whyNoHaproxy } from '../servers/haproxy.js'
import { startNginx, whyNoNginx } from '../servers/nginx.js'
import { figure, LONG } from './figure.js'
import { naiveServer } from './naive-server.js'
import { playPairs } from './pairs.js'

const corpus = [...malformed, ...misspeltChunks, ...odd]
const PAIRS = LONG ? 10_000 : 2 * corpus.length

describe('a running service', () => {
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
    await service?.stop()
    await fresh?.drop()
  })

  it('survives every request of the corpus and creates none of the hidden users', async () => {
    const port = Number(new URL(service.core).port)
    const creation = (userRef: string) =>
      request(`POST /core/users/${userRef}`, [`apikey: ${apikey}`], '{"type":"nominative"}')
    const send = async (text: string) => {
      const client = await rawClient(port)
      await client.send(text)
      // An answer would be here by now; the connection is then closed.
      const { status } = await fetch(`${service.core}/status`)
      client.socket.end()
      await client.ended
      return status
    }
    const statuses: number[] = []
    for (const [n, { text }] of corpus.entries())
      statuses.push(await send(text(creation(`hidden-${n}`)).replaceAll(goodKey, apikey)))
    // Sent and closed in the same way. When this user exists, a hidden request that was accepted has created its user
    // too.
    await send(creation('honest'))
    const found = (userRef: string) =>
      fetch(`${service.core}/users/${userRef}`, { headers: { apikey } }).then(({ status }) => status === 200)
    await until(() => found('honest'))
    let hidden = 0
    for (const n of corpus.keys()) if (await found(`hidden-${n}`)) hidden += 1
    const exits = service.process.exitCode === null && service.process.signalCode === null ? 0 : 1
    const failed = statuses.filter((status) => status !== 200).length
    figure(
      'T19',
      `${corpus.length} requests to a service of its own: ${exits} exits, ${failed} failed looks at it, ${hidden} hidden people created`,
      '0, 0 and 0',
      exits + failed + hidden === 0,
    )
  })
})

const ways = [
  { name: 'nginx', start: startNginx, more: '', why: whyNoNginx() },
  {
    name: 'nginx that passes bodies on at once',
    start: startNginx,
    more: 'proxy_request_buffering off;',
    why: whyNoNginx(),
  },
  { name: 'haproxy', start: startHaproxy, more: '', why: whyNoHaproxy() },
  { name: 'haproxy that shares every connection', start: startHaproxy, more: 'http-reuse always', why: whyNoHaproxy() },
] as const
for (const why of new Set(ways.map(({ why }) => why))) if (why !== null) console.warn(`\n*** ${why} ***\n`)

for (const { name, start, more, why } of ways)
  describe.skipIf(why !== null)(`pairs of a request from the corpus and an honest one through ${name}`, () => {
    let marked: Marked
    beforeAll(async () => {
      marked = await startMarked()
    })
    afterAll(() => stop(marked.running))

    it(
      'keep requests and answers in step',
      async () => {
        const { port } = marked.running.server
        const proxy = await start([port, port], more)
        const { pairs, outOfStep, hiddenServed, strangersFailed, behind, passedOn } = await playPairs({
          port: proxy.port,
          pairs: PAIRS,
          corpus,
          key,
          served: marked.served,
        }).finally(() => proxy.close())
        console.log(JSON.stringify({ name, pairs, outOfStep, hiddenServed, strangersFailed, behind, passedOn }))
        // Fails if the proxy refused nearly everything.
        expect(behind).toBeGreaterThan(pairs / 20)
        expect(passedOn).toBeGreaterThan(pairs / 20)
        figure(
          'T19',
          `${pairs} pairs through ${name}: ${outOfStep} out of step, ${hiddenServed} hidden requests served, ${strangersFailed} strangers without their own answer`,
          `0 of ${PAIRS}`,
          pairs >= PAIRS && outOfStep + hiddenServed + strangersFailed === 0,
        )
      },
      LONG ? 600_000 : 60_000,
    )

    it('detect a server that reads requests out of bodies', async () => {
      const naive = await naiveServer()
      const proxy = await start([naive.port, naive.port], more)
      const { hiddenServed } = await playPairs({
        port: proxy.port,
        pairs: corpus.length,
        untilServed: true,
        corpus,
        key,
        served: naive.served,
      }).finally(() => Promise.all([proxy.close(), naive.close()]))
      expect(hiddenServed).toBeGreaterThan(0)
    }, 60_000)
  })
