import { beforeEach, describe, expect, it } from 'vitest'
import { coreRoutes } from '../../src/api/core-table.js'
import { dashboardRoutes } from '../../src/api/dashboard-table.js'
import { linkRoutes } from '../../src/api/links-table.js'
import { type Admission, createAdmission, WATCH_MS } from '../../src/http/admission.js'
import { LANES, type Lane } from '../../src/http/route.js'
import type { PlainEndpoint } from '../../src/http/server-types.js'
import { ask, type RawClient, rawClient, request } from '../harness/raw.js'
import { goodKey, makeGate, type Running, start, stop } from './table.js'

/** The organization of `goodKey`. */
const ours = 'org-1'

/** Fills every slot, and makes each lane's requests take this long on average. */
function busy(atOnce: number, tookMs: number, waitMs = 1000): Admission {
  const one = createAdmission({ atOnce, waitMs })
  for (const lane of LANES) {
    for (let n = 0; n < 200; n++) {
      one.enter(lane, ours, 0)
      one.leave(lane, ours, tookMs, 0)
    }
  }
  for (let n = 0; n < atOnce; n++) expect(one.enter('verify', ours, 0)).toBe(true)
  return one
}

/** The outcomes of the waiting requests, in order. */
function recordOutcomes(one: Admission) {
  const outcomes: string[] = []
  return {
    outcomes,
    async comes(lane: Lane, name: string = lane, now = 0): Promise<void> {
      if (one.enter(lane, ours, 0)) outcomes.push(`${name} begins`)
      else
        one.wait(lane, ours, now).then(
          () => outcomes.push(`${name} begins`),
          ({ kind }) => outcomes.push(`${name} ${kind}`),
        )
      await settled()
    },
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('admission', () => {
  it('begins up to the limit at once, and then the most important waiting requests', async () => {
    const one = busy(2, 1)
    const { outcomes, comes } = recordOutcomes(one)
    for (const lane of [...LANES].reverse()) await comes(lane)
    expect([outcomes, one.waiting()]).toEqual([[], LANES.length])
    // Only one slot is passed on: the request that gets it ends next.
    let ended: Lane = 'verify'
    for (const lane of LANES) {
      one.leave(ended, ours, 1, 0)
      await settled()
      ended = lane
    }
    expect(outcomes).toEqual(LANES.map((lane) => `${lane} begins`))
  })

  it('leaves slots to other lanes, however many requests of one lane come', () => {
    const one = createAdmission({ atOnce: 32, waitMs: 1000 })
    const held = (lane: Lane) => {
      let n = 0
      while (one.enter(lane, ours, 0)) n += 1
      return n
    }
    expect([held('code'), held('dashboard'), held('batch')]).toEqual([8, 6, 4])
    expect(held('verify')).toBe(14)
  })

  it('leaves a quarter of the slots to the organizations of other databases', async () => {
    const databaseOf = (organization: string) => (organization.startsWith('slow') ? 1 : 0)
    const one = createAdmission({ atOnce: 8, waitMs: 1000, databaseOf })
    for (let n = 0; n < 6; n++) expect(one.enter('verify', `slow ${n}`, 0)).toBe(true)
    expect(one.enter('verify', 'slow 6', 0)).toBe(false)
    const waiting = one.wait('verify', 'slow 6', 0)
    expect(one.enter('verify', 'quick', 0)).toBe(true)
    one.leave('verify', 'quick', 1, 0)
    expect(one.waiting()).toBe(1)
    one.leave('verify', 'slow 0', 1, 0)
    await waiting
    expect(one.waiting()).toBe(0)
  })

  it('sheds at once a request that would wait too long, a less important one sooner', async () => {
    // Each takes 100 ms and four are concurrent: one place in the queue is 25 ms.
    const one = busy(4, 100)
    const waits: Partial<Record<Lane, number>> = {}
    for (const lane of ['core', 'enroll', 'bootstrap', 'verify'] as const) {
      const { outcomes, comes } = recordOutcomes(one)
      let n = 0
      while (outcomes.length === 0 && n < 100) await comes(lane, lane, n++)
      expect(outcomes).toEqual([`${lane} overloaded`])
      waits[lane] = n - 1
    }
    const { core = 0, enroll = 0, bootstrap = 0, verify = 0 } = waits
    // A queue of 500 ms, in which core may wait; more important lanes do not wait for it.
    expect(core).toBeGreaterThanOrEqual(18)
    expect(core).toBeLessThanOrEqual(20)
    expect(enroll).toBeGreaterThan(core)
    expect(bootstrap).toBeGreaterThan(enroll)
    expect(verify).toBeGreaterThan(bootstrap)
  })

  describe('after a shed request', () => {
    /** The number of requests that may wait at this time. */
    async function room(one: Admission, now: number): Promise<number> {
      const before = one.waiting()
      const { outcomes, comes } = recordOutcomes(one)
      for (let n = 0; outcomes.length === 0 && n < 300; n++) await comes('verify', 'verify', now)
      return one.waiting() - before
    }
    /** Begins and ends all waiting requests; the concurrency stays. */
    function drain(one: Admission, tookMs: number): void {
      while (one.waiting() > 0) one.leave('verify', ours, tookMs, 0)
    }
    function lookBetween(one: Admission, from: number, to: number): void {
      for (let now = from; now <= to; now += WATCH_MS) one.watch(now)
    }

    it('keeps the queue short, until two seconds pass without one', async () => {
      const one = busy(4, 100)
      expect(await room(one, 0)).toBeGreaterThan(30)
      lookBetween(one, 0, 1000)
      expect(await room(one, 1000)).toBe(0)
      drain(one, 100)
      lookBetween(one, 1050, 2000)
      expect(await room(one, 2000)).toBeLessThanOrEqual(4)
      drain(one, 100)
      lookBetween(one, 2050, 4000)
      expect(await room(one, 4001)).toBeGreaterThan(30)
    })

    it('lets a burst wait again as soon as slots are free half of the time', async () => {
      const one = busy(4, 100)
      expect(await room(one, 0)).toBeGreaterThan(30)
      drain(one, 100)
      lookBetween(one, 0, 1000)
      one.leave('verify', ours, 100, 0)
      lookBetween(one, 1050, 1400)
      one.enter('verify', ours, 0)
      expect(await room(one, 1400)).toBeGreaterThan(30)
    })
  })

  it('sheds the youngest of the least important requests if the queue is full', async () => {
    const one = busy(4, 0.1)
    const { outcomes, comes } = recordOutcomes(one)
    for (let n = 0; n < 254; n++) await comes('core', `core ${n}`)
    await comes('batch')
    await comes('enroll')
    expect(one.waiting()).toBe(256)
    await comes('dashboard')
    expect(outcomes).toEqual(['batch overloaded'])
    await comes('batch')
    await comes('verify')
    await comes('verify')
    expect(outcomes).toEqual(['batch overloaded', 'batch overloaded', 'dashboard overloaded', 'core 253 overloaded'])
    expect(one.waiting()).toBe(256)
  })

  it('refuses codes as too many codes, and no other request because of them', async () => {
    const one = createAdmission({ atOnce: 8, waitMs: 100 })
    for (let n = 0; n < 200; n++) {
      one.enter('code', ours, 0)
      one.leave('code', ours, 40, 0)
    }
    const { outcomes, comes } = recordOutcomes(one)
    for (let n = 0; n < 10; n++) await comes('code')
    expect(outcomes).toContain('code rate-limited')
    for (const lane of ['verify', 'core', 'bootstrap'] as const) expect(one.enter(lane, ours, 0)).toBe(true)
  })

  it('sheds requests that have waited too long', async () => {
    const refused: Lane[] = []
    const one = createAdmission({ atOnce: 1, waitMs: 20, onRefused: (lane) => refused.push(lane) })
    expect(one.enter('verify', ours, 0)).toBe(true)
    const { outcomes, comes } = recordOutcomes(one)
    await comes('verify', 'verify', 1000)
    one.watch(1040)
    await settled()
    expect(outcomes).toEqual([])
    one.watch(1041)
    await settled()
    expect([outcomes, refused, one.waiting()]).toEqual([['verify overloaded'], ['verify'], 0])
  })

  it('sheds at once requests that wait behind more important ones that are shed', async () => {
    const one = busy(4, 100)
    const { outcomes, comes } = recordOutcomes(one)
    await comes('bootstrap')
    for (let n = 0; n < 50; n++) await comes('verify', `verify ${n}`)
    expect(outcomes.filter((what) => what.endsWith('overloaded')).length).toBeGreaterThan(0)
    // Every look finds all slots taken.
    for (let now = 0; now <= 300; now += WATCH_MS) one.watch(now)
    await settled()
    expect(outcomes).toContain('bootstrap overloaded')
    // Requests of the lane itself have their whole patience.
    expect(one.waiting()).toBeGreaterThan(0)

    const calm = busy(4, 1)
    const { outcomes: calmOutcomes, comes: calmComes } = recordOutcomes(calm)
    await calmComes('bootstrap')
    for (let now = 0; now <= 300; now += WATCH_MS) calm.watch(now)
    await settled()
    expect([calmOutcomes, calm.waiting()]).toEqual([[], 1])
  })

  it('needs no looks while no request is in progress', () => {
    let heard = 0
    const one = createAdmission({ atOnce: 1, waitMs: 20, onWork: () => heard++ })
    expect(one.watch(0)).toBe(false)
    one.enter('verify', ours, 0)
    expect([heard, one.watch(50)]).toEqual([1, true])
    one.leave('verify', ours, 1, 0)
    one.enter('verify', ours, 0)
    one.leave('verify', ours, 1, 0)
    expect([heard, one.watch(100)]).toEqual([1, false])
    one.enter('verify', ours, 0)
    expect(heard).toBe(2)
  })

  it('counts the delay of the event loop as waiting', async () => {
    const one = busy(4, 1, 100)
    const { outcomes, comes } = recordOutcomes(one)
    for (let now = 0; now < 3000; now += 300) one.watch(now)
    // Half of the limit may wait nevertheless.
    for (const name of ['first', 'second', 'third']) await comes('verify', name)
    expect(outcomes).toEqual(['third overloaded'])
    one.leave('verify', ours, 1, 0)
    await settled()
    expect(outcomes).toEqual(['third overloaded', 'first begins'])
  })
})

describe('an overloaded server', () => {
  const key = `apikey: ${goodKey}`
  const said = (status: number, body: string) => ({ status, contentType: 'text/html', body })
  /** Resolves at the next event-loop iteration in which `holds` does. */
  const when = async (holds: () => boolean) => {
    while (!holds()) await settled()
  }
  let running: Running
  let one: Admission
  let clients: RawClient[]
  const send = async (text: string) => {
    const client = await rawClient(running.server.port)
    clients.push(client)
    await client.send(text)
    return client
  }
  const tell = (text: string) => ask(running.server.port, text)

  beforeEach(async () => {
    clients = []
    one = createAdmission({ atOnce: 2, waitMs: 1000 })
    const gate = makeGate()
    const handle = async () => {
      await gate.opened
      return said(200, 'here')
    }
    const whenOverloaded = ({ query }: { query: Record<string, string> }) => said(503, `${query.in} later`)
    const plain: PlainEndpoint[] = [
      { method: 'get', path: '/page', lane: 'page', handle, whenOverloaded },
      { method: 'post', path: '/act', lane: 'page', handle },
      { method: 'get', path: '/livez', handle: () => said(200, 'live') },
    ]
    running = await start({ admission: one, plain, services: { gate } })
    running.gate.open = gate.open
    return async () => {
      gate.open()
      for (const { socket } of clients) socket.destroy()
      await stop(running)
    }
  })

  /** One request of a lane runs and another one waits. The next slot is expected in a minute. */
  async function overload(lane: Lane, text: string): Promise<[runs: RawClient, waits: RawClient]> {
    const runs = await send(text)
    await when(() => running.server.inFlight() === 1)
    for (let n = 0; n < 200; n++) {
      one.leave(lane, ours, 60_000, 0)
      one.enter(lane, ours, 0)
    }
    const waits = await send(text)
    await when(() => one.waiting() === 1)
    return [runs, waits]
  }
  const refusals = () => running.lines.filter((line) => line.includes('"refused"'))

  it('answers 503 with Retry-After before a body has arrived, and still serves routes that need no slot', async () => {
    await overload('core', request('GET /core/held', [key]))
    const client = await send(`PUT /core/words HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Length: 20\r\n\r\n`)
    const [refused] = await client.answers(1)
    expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '5'])
    expect(JSON.parse(refused?.text ?? '')).toMatchObject({ success: false, reason: 'api-failed' })
    // The connection serves the next request once the body has arrived.
    await client.send(`{"word":"0123456789"}`.slice(0, 20) + request('GET /core/status'))
    expect((await client.answers(2))[1]?.status).toBe(200)
    expect((await tell(request('GET /livez')))?.text).toBe('live')
    // Overload does not fill the log.
    expect(refusals()).toEqual([])
  })

  it('lets pages wait, with a page of their own under overload, while a sign-in goes on', async () => {
    const [runs, waits] = await overload('page', request('GET /page'))
    const shown = await tell(request('GET /page?in=much'))
    expect([shown?.status, shown?.text]).toEqual([503, 'much later'])
    const act = await tell(request('POST /act', [], '{}'))
    expect([act?.status, act?.headers.get('retry-after')]).toEqual([503, '5'])
    expect(JSON.parse(act?.text ?? '')).toMatchObject({ success: false, reason: 'api-failed' })
    expect((await tell(request('GET /core/users/ada', [key])))?.status).toBe(200)
    expect(refusals()).toEqual([])
    running.gate.open()
    for (const client of [runs, waits]) expect((await client.answers(1))[0]?.text).toBe('here')
    expect([one.waiting(), running.server.inFlight()]).toEqual([0, 0])
  })

  it('begins a waiting request when another ends, and none whose client has gone', async () => {
    const held = request('GET /core/held', [key])
    const first = await send(held)
    await when(() => running.server.inFlight() === 1)
    const gone = await send(held)
    await when(() => one.waiting() === 1)
    const next = await send(held)
    await when(() => one.waiting() === 2)
    gone.socket.resetAndDestroy()
    await gone.ended
    await tell(request('GET /core/status'))
    running.gate.open()
    for (const client of [first, next]) expect((await client.answers(1))[0]?.status).toBe(200)
    const answers = running.answers.filter(({ route }) => route === '/held')
    expect(answers.map(({ status, aborted }) => [status, aborted])).toEqual([
      [200, false],
      [0, true],
      [200, false],
    ])
    expect([one.waiting(), running.server.inFlight()]).toEqual([0, 0])
  })
})

describe('the lanes of the route tables', () => {
  it('are known on every route; only the status is served without a slot', () => {
    const rows = [...coreRoutes, ...linkRoutes, ...dashboardRoutes] as { path: string; lane: Lane | null }[]
    expect(rows.filter(({ lane }) => lane !== null && !LANES.includes(lane))).toEqual([])
    expect(rows.filter(({ lane }) => lane === null).map(({ path }) => path)).toEqual(['/status'])
    const lanes = new Set(rows.map(({ lane }) => lane))
    expect(LANES.filter((lane) => !lanes.has(lane))).toEqual([])
  })

  it('have security codes in the lane of codes, on every route that takes them', () => {
    const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
    const verifying = [...coreRoutes].filter(({ countedAs }) => countedAs === 'verify')
    expect(verifying).toHaveLength(2)
    for (const { laneOfBody } of verifying) {
      expect(laneOfBody?.(bytes({ securityCode: '123456' }))).toBe('code')
      expect(laneOfBody?.(bytes({ kevt: [] }))).toBe('verify')
    }
  })
})
