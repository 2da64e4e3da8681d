import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Admission, createAdmission, WATCH_MS } from '../../src/http/admission.js'
import { type Lane, routesFor } from '../../src/http/route.js'
import { ask, type RawClient, rawClient, request } from '../harness/raw.js'
import { nothing, ROW, type Services, start, stop, tableApi } from './table.js'

const settled = () => new Promise((resolve) => setImmediate(resolve))
/** Longer than an organization counts as present. */
const GONE_MS = 10_001

interface Comes {
  readonly lane?: Lane
  readonly from: string
  readonly name?: string
  readonly now?: number
}

/** An admission whose requests of every lane take 10 ms on average, and the requests that began or were shed, in order. */
function watched(limits: Partial<Parameters<typeof createAdmission>[0]> = {}) {
  const one = createAdmission({ atOnce: 64, waitMs: 1000, ...limits })
  const outcomes: string[] = []
  const comes = ({ lane = 'verify', from, name = from, now = 0 }: Comes): void => {
    if (one.enter(lane, from, now)) outcomes.push(name)
    else
      one.wait(lane, from, now).then(
        () => outcomes.push(name),
        ({ kind }) => outcomes.push(`${name} ${kind}`),
      )
  }
  for (const lane of ['verify', 'bootstrap', 'dashboard'] as const)
    for (let n = 0; n < 200; n++) {
      one.enter(lane, 'a', 0)
      one.leave(lane, 'a', 10, 0)
    }
  return { one, outcomes, comes }
}

/** Number of requests that begin at once. */
function begunBy(one: Admission, from: string, now: number): number {
  let n = 0
  while (one.enter('verify', from, now)) n += 1
  return n
}

describe('an organization that is alone', () => {
  it('may use every slot', () => {
    expect(begunBy(watched().one, 'a', 0)).toBe(64)
  })

  it('may use more slots the longer the others are gone, and every slot after ten seconds', () => {
    const { one } = watched()
    one.enter('verify', 'b', 0)
    one.leave('verify', 'b', 10, 0)
    expect([0, 1000, 4000, GONE_MS - 2].map((now) => begunBy(one, 'a', now))).toEqual([1, 1, 4, 7])
    expect(begunBy(one, 'a', GONE_MS)).toBe(51)
  })

  it('gets all slots for its waiting requests when the others have gone', async () => {
    const { one, outcomes, comes } = watched()
    comes({ from: 'b' })
    for (let n = 0; n < 30; n++) comes({ from: 'a' })
    await settled()
    expect([outcomes, one.waiting()]).toEqual([['b', 'a'], 29])
    one.leave('verify', 'b', 10, GONE_MS)
    await settled()
    expect([outcomes.length, one.waiting()]).toEqual([31, 0])
  })

  it('is not bounded by requests without a key, nor are those', () => {
    const { one } = watched()
    expect(one.enter('page', '', 0)).toBe(true)
    expect(begunBy(one, 'a', 0)).toBe(63)
    const other = watched().one
    for (const from of ['a', 'b']) expect(other.enter('verify', from, 0)).toBe(true)
    for (let n = 0; n < 16; n++) expect(other.enter('page', '', 0)).toBe(true)
  })
})

describe('several organizations', () => {
  it('let a request of one begin at once, while those of another one wait for their share', async () => {
    const held: Lane[] = []
    const { one, outcomes, comes } = watched({ onHeld: (lane) => held.push(lane) })
    comes({ from: 'b' })
    one.leave('verify', 'b', 10, 0)
    for (let n = 0; n < 20; n++) comes({ from: 'a' })
    await settled()
    expect([outcomes, one.waiting(), held.length]).toEqual([['b', 'a'], 19, 19])
    comes({ from: 'b', name: 'b again' })
    expect(outcomes.at(-1)).toBe('b again')
  })

  it('bound short requests by their time, not by their number', () => {
    const { one } = watched()
    one.enter('verify', 'b', 0)
    for (let n = 0; n < 400; n++) {
      one.enter('verify', 'a', 0)
      one.leave('verify', 'a', 1.9, 0)
    }
    expect(begunBy(one, 'a', 0)).toBe(6)
  })

  it('are served in turn by the time that their requests take', async () => {
    const wakes: number[] = []
    let now = 0
    const { one } = watched({ onRest: (ms) => wakes.push(now + ms) })
    const tookMs = { a: 40, b: 10 }
    const [endsAt, spentMs] = [new Map<'a' | 'b', number>(), { a: 0, b: 0 }]
    const begins = (from: 'a' | 'b') => endsAt.set(from, now + tookMs[from])
    for (let n = 0; n < 100; n++)
      for (const from of ['b', 'a'] as const)
        if (one.enter('verify', from, 0)) begins(from)
        else void one.wait('verify', from, 0).then(() => begins(from))
    while (spentMs.a + spentMs.b < 1600) {
      const [from, endAt] = [...endsAt].sort((x, y) => x[1] - y[1])[0] ?? ['a', Number.POSITIVE_INFINITY]
      const wakeAt = Math.min(...wakes, Number.POSITIVE_INFINITY)
      now = Math.min(endAt, wakeAt)
      one.noteElsewhere(['a', 'b'], now)
      if (wakeAt <= endAt) {
        wakes.splice(wakes.indexOf(wakeAt), 1)
        one.resume(now)
      } else {
        endsAt.delete(from)
        spentMs[from] += tookMs[from]
        one.leave('verify', from, tookMs[from], now)
      }
      await settled()
    }
    expect(Math.abs(spentMs.a - spentMs.b)).toBeLessThanOrEqual(40)
  })

  it('come before lanes: a more important request of another organization waits', async () => {
    const { one, outcomes, comes } = watched({ atOnce: 4 })
    for (let n = 0; n < 4; n++) comes({ from: 'a' })
    for (let n = 0; n < 8; n++) comes({ from: 'a', name: 'verify of a' })
    comes({ from: 'b', lane: 'dashboard', name: 'dashboard of b' })
    comes({ from: 'b', lane: 'verify', name: 'verify of b' })
    outcomes.length = 0
    for (let n = 0; n < 2; n++) one.leave('verify', 'a', 10, 0)
    await settled()
    expect(outcomes).toEqual(['verify of b'])
    for (let n = 0; n < 2; n++) one.leave('verify', 'a', 10, 0)
    one.leave('verify', 'b', 10, 0)
    one.resume(5)
    await settled()
    expect(new Set(outcomes)).toEqual(new Set(['verify of b', 'dashboard of b', 'verify of a']))
  })

  it('never wait for a place in the queue that another one has filled', async () => {
    const { one, outcomes, comes } = watched({ atOnce: 4 })
    comes({ from: 'b' })
    for (let n = 0; n < 300; n++) comes({ from: 'a', name: `a${n}` })
    await settled()
    expect(one.waiting()).toBe(256)
    expect(outcomes.filter((name) => name.endsWith('overloaded'))).toHaveLength(43)
    outcomes.length = 0
    comes({ from: 'b', name: 'b waits' })
    comes({ from: 'b', name: 'b waits' })
    await settled()
    expect([one.waiting(), outcomes]).toEqual([256, ['a256 overloaded', 'a255 overloaded']])
  })

  it('shed a request beyond the share by the time that it has waited, and no other', async () => {
    const { one, outcomes, comes } = watched()
    comes({ from: 'b' })
    for (const name of ['first', 'second']) comes({ from: 'a', name })
    one.noteElsewhere(['b', 'a'], 1999)
    one.watch(2000)
    await settled()
    expect(outcomes).toEqual(['b', 'first'])
    one.watch(2001)
    await settled()
    expect(outcomes).toEqual(['b', 'first', 'second overloaded'])
    comes({ from: 'b', name: 'b again', now: 2001 })
    expect(one.waiting() + outcomes.length).toBe(4)
  })

  it('are bounded by the latest request of another one, whenever their own waiting requests came', async () => {
    const { one, outcomes, comes } = watched()
    comes({ from: 'b' })
    for (let n = 0; n < 9; n++) comes({ from: 'a' })
    comes({ from: 'b', now: 5000 })
    one.leave('verify', 'a', 10, 5000)
    one.resume(5005)
    await settled()
    expect([outcomes, one.waiting()]).toEqual([['b', 'a', 'b', 'a'], 7])
  })

  it('rest for a quarter as long as a request took, if they have waiting requests', async () => {
    const restsMs: number[] = []
    const { one, outcomes, comes } = watched({ onRest: (ms) => restsMs.push(ms) })
    comes({ from: 'b' })
    comes({ from: 'a' })
    one.leave('verify', 'b', 10, 0)
    for (const name of ['second', 'third']) comes({ from: 'a', name })
    one.leave('verify', 'a', 10, 0)
    await settled()
    expect([outcomes, restsMs]).toEqual([['b', 'a'], [2.5]])
    one.resume(5)
    await settled()
    expect(outcomes).toEqual(['b', 'a', 'second'])
  })

  it('know each other across the processes of a machine', () => {
    const { one } = watched()
    expect(one.seen()).toEqual(['a'])
    expect(one.seen()).toEqual([])
    one.noteElsewhere(['a'], 0)
    expect(begunBy(one, 'a', 0)).toBe(64)
    const other = watched().one
    other.noteElsewhere(['b'], 0)
    expect(begunBy(other, 'a', 0)).toBe(1)
    for (const from of ['b', 'c', 'b', 'd']) other.enter('verify', from, 0)
    expect(other.seen()).toHaveLength(2)
  })
})

describe('a request in slices', () => {
  it('goes on at once while nothing waits', () => {
    const { one } = watched()
    one.enter('dashboard', 'a', 0)
    expect(one.turn('dashboard', 'a', 10, 0)).toBeNull()
    one.leave('dashboard', 'a', 10, 0)
    expect(one.watch(WATCH_MS)).toBe(false)
  })

  it('lets others begin between two slices, and goes before the requests of its organization that have not begun', async () => {
    const { one, outcomes, comes } = watched({ atOnce: 4 })
    // The lane has one slot.
    one.enter('dashboard', 'a', 0)
    comes({ lane: 'dashboard', from: 'a', name: 'second of a' })
    comes({ lane: 'dashboard', from: 'b', name: 'b' })
    const next = one.turn('dashboard', 'a', 10, 0)?.then(() => outcomes.push('next slice of a'))
    await settled()
    expect(outcomes).toEqual(['b'])
    one.leave('dashboard', 'b', 10, 20)
    await next
    await settled()
    expect(outcomes).toEqual(['b', 'next slice of a'])
    // The request has waited for longer than any patience, but it has begun, so it is not shed.
    const third = one.turn('dashboard', 'a', 10, 20)?.then(() => outcomes.push('last slice of a'))
    one.watch(9000)
    await third
    await settled()
    expect(outcomes.slice(2).sort()).toEqual(['last slice of a', 'second of a overloaded'])
  })

  it('is followed by a rest of its organization while others are present, twice as long as it took', async () => {
    const restsMs: number[] = []
    const { one, outcomes, comes } = watched({ onRest: (ms) => restsMs.push(ms) })
    one.enter('dashboard', 'a', 0)
    one.leave('dashboard', 'a', 10, 0)
    expect(restsMs).toEqual([])
    one.enter('dashboard', 'a', 0)
    comes({ from: 'b' })
    one.noteElsewhere(['b', 'a'], 30)
    one.leave('dashboard', 'a', 30, 30)
    comes({ lane: 'dashboard', from: 'a', name: 'read', now: 30 })
    comes({ lane: 'verify', from: 'a', name: 'verify', now: 30 })
    await settled()
    expect([outcomes, restsMs]).toEqual([['b', 'verify'], [60]])
    one.noteElsewhere(['b', 'a'], 89)
    one.resume(89)
    await settled()
    expect(outcomes).toEqual(['b', 'verify'])
    one.leave('verify', 'a', 10, 89)
    one.resume(95)
    await settled()
    expect(outcomes).toEqual(['b', 'verify', 'read'])
  })
})

describe('a server with several organizations', () => {
  const route = routesFor<Services>()
  /** Organizations are named by their keys. `begun` has those whose handlers began; `sliced` the number of slices. */
  async function serving(one: Admission) {
    const begun: string[] = []
    const sliced = { n: 0, ended: '' }
    let open = () => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const routes = [
      route({
        ...ROW,
        method: 'get',
        path: '/held',
        replies: { 200: nothing },
        async handle({ organizationId }) {
          begun.push(organizationId)
          await opened
          return { status: 200, payload: {} }
        },
      }),
      route({
        ...ROW,
        method: 'post',
        path: '/sliced',
        lane: 'dashboard',
        body: { kind: 'json', optional: true, schema: z.object({}) },
        replies: { 200: nothing },
        async handle({ turn }) {
          try {
            for (;;) {
              sliced.n += 1
              await turn()
            }
          } catch (error) {
            sliced.ended = (error as Error).message
            throw error
          }
        },
      }),
    ]
    const running = await start({
      admission: one,
      apis: [{ ...tableApi, routes }],
      authenticate: async (key) => ({ organizationId: key, keyId: key, scopes: ['core'] }),
    })
    const clients: RawClient[] = []
    const sends = async (line: string, key: string): Promise<RawClient> => {
      const client = await rawClient(running.server.port)
      clients.push(client)
      await client.send(request(line, [`apikey: ${key}`]))
      return client
    }
    const close = async () => {
      open()
      for (const { socket } of clients) socket.destroy()
      await stop(running)
    }
    return { running, begun, sliced, open, sends, close }
  }
  const when = async (holds: () => boolean) => {
    while (!holds()) await settled()
  }

  it('begins the request of the one before the waiting ones of another, which are shed with Retry-After', async () => {
    const one = createAdmission({ atOnce: 64, waitMs: 1000 })
    const { running, begun, open, sends, close } = await serving(one)
    await sends('GET /core/held', 'victim')
    await when(() => begun.length === 1)
    // Each request of the flooder has taken a minute so far.
    for (let n = 0; n < 200; n++) {
      one.enter('core', 'flooder', performance.now())
      one.leave('core', 'flooder', 60_000, performance.now())
    }
    const flood: RawClient[] = []
    for (let n = 0; n < 8; n++) flood.push(await sends('GET /core/held', 'flooder'))
    await when(() => one.waiting() === 7)
    await sends('GET /core/held', 'victim-2')
    await when(() => begun.length === 3)
    expect(begun).toEqual(['victim', 'flooder', 'victim-2'])
    expect((await ask(running.server.port, request('GET /core/none', ['apikey: victim'])))?.status).toBe(404)
    one.watch(performance.now() + 3000)
    const [shed] = (await flood.at(-1)?.answers(1)) ?? []
    expect([shed?.status, shed?.headers.get('retry-after')]).toEqual([503, '1'])
    open()
    await when(() => running.server.inFlight() === 0)
    expect(one.waiting()).toBe(0)
    await close()
  })

  it('stops the slices of a request whose client has gone, and gives its slot to the next', async () => {
    const one = createAdmission({ atOnce: 5, waitMs: 1000 })
    const { running, begun, sliced, open, sends, close } = await serving(one)
    const client = await sends('POST /core/sliced', 'flooder')
    await when(() => sliced.n > 3)
    client.socket.resetAndDestroy()
    await when(() => sliced.ended !== '')
    expect(sliced.ended).toBe('nobody waits for this answer')
    await when(() => running.server.inFlight() === 0)
    for (let n = 0; n < 2; n++) await sends('GET /core/held', 'flooder')
    await when(() => begun.length === 2)
    open()
    await close()
  })
})
