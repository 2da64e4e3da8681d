import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type CallQueue, createCallQueue } from '../../../../src/storage/postgres/connection/call-queue.js'

/** An exchange with a server whose answer the test triggers. */
function question() {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  return { answered, answer: () => answer() }
}

describe('the call queue', () => {
  let queue: CallQueue<number>
  let opened: number
  let retired: number[]
  /** Answer of the queue's own probes, and their number. */
  let well: ReturnType<typeof question>
  let probes: number
  /** Waits that it reported, ms. */
  let waits: number[]
  /** Delay of the probes' answers, once the server is healthy. */
  let lateMs: number
  /** The clock of the test. */
  let at = 1

  const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  async function pass(ms: number) {
    for (let left = ms; left > 0; left -= 5) {
      at += Math.min(5, left)
      await vi.advanceTimersByTimeAsync(Math.min(5, left))
    }
  }
  const ask = (what: Promise<unknown>, probe = false, slow = false) =>
    queue
      .run((_, call) => call.exchange(what), { probe, slow })
      .then(
        () => 'served',
        (error) => error.kind,
      )
  /** Like `ask`, with the present outcome. */
  function asked(...given: Parameters<typeof ask>) {
    const call = { outcome: 'waits' }
    void ask(...given).then((outcome) => {
      call.outcome = outcome
    })
    return call
  }
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval', 'setImmediate'] })
    vi.spyOn(performance, 'now').mockImplementation(() => at)
    opened = 0
    retired = []
    well = question()
    probes = 0
    lateMs = 0
    waits = []
    queue = createCallQueue({
      width: 2,
      open: () => ++opened,
      retire: (line) => retired.push(line),
      waited: (ms) => waits.push(ms),
      probe() {
        probes++
        void ask(
          well.answered.then(() => (lateMs > 0 ? delay(lateMs) : undefined)),
          true,
        )
      },
    })
    await ask(Promise.resolve(), true)
  })
  afterEach(() => {
    queue.stop()
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  it('reports the wait of each call that waited for a connection, and of no other', async () => {
    const [one, two] = [question(), question()]
    const first = [ask(one.answered), ask(two.answered)]
    const third = ask(Promise.resolve())
    await pass(60)
    one.answer()
    expect(await third).toBe('served')
    two.answer()
    await Promise.all(first)
    expect(waits).toEqual([60])
  })

  it('gives slow calls a third of the connections, at least one, and the others to other calls', async () => {
    const [one, two] = [question(), question()]
    const first = asked(one.answered, false, true)
    const second = asked(two.answered, false, true)
    const others = Array.from({ length: 20 }, () => ask(Promise.resolve()))
    expect(await Promise.all(others)).toEqual(others.map(() => 'served'))
    two.answer()
    await pass(50)
    expect([first.outcome, second.outcome]).toEqual(['waits', 'waits'])
    one.answer()
    await pass(5)
    expect([first.outcome, second.outcome]).toEqual(['served', 'served'])
  })

  it('refuses calls after 300 ms without any answer of the server, and further calls at once', async () => {
    const [one, two] = [question(), question()]
    const waiting = [asked(one.answered), asked(two.answered), asked(Promise.resolve())]
    await pass(275)
    expect(waiting.map(({ outcome }) => outcome)).toEqual(['waits', 'waits', 'waits'])
    await pass(50)
    expect(waiting.map(({ outcome }) => outcome)).toEqual(['degraded', 'degraded', 'degraded'])
    expect(await ask(Promise.resolve())).toBe('degraded')
    // A probe is still sent, and its answer closes the queue again.
    well.answer()
    one.answer()
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(await ask(Promise.resolve())).toBe('served')
  })

  it('lets a slow call wait while others are answered, up to its patience', async () => {
    well.answer()
    const [one, two] = [question(), question()]
    const calls = [asked(one.answered), asked(two.answered)]
    await pass(1150)
    one.answer()
    await pass(100)
    expect(calls.map(({ outcome }) => outcome)).toEqual(['served', 'degraded'])
  })

  it('sends probes while a call waits, at most one each 75 ms, and not otherwise', async () => {
    well.answer()
    await pass(300)
    expect(probes).toBe(0)
    const one = question()
    const slow = ask(one.answered)
    await pass(600)
    one.answer()
    expect(await slow).toBe('served')
    expect(probes).toBeGreaterThanOrEqual(3)
    expect(probes).toBeLessThanOrEqual(600 / 75)
  })

  it('sends probes while all connections are busy', async () => {
    well.answer()
    const commits = [question(), question()]
    const slow = commits.map(({ answered }) => ask(answered))
    const next = ask(Promise.resolve())
    await pass(700)
    for (const commit of commits) commit.answer()
    expect(await Promise.all([...slow, next])).toEqual(['served', 'served', 'served'])
  })

  it('lets calls wait for a server that answers every call late', async () => {
    well.answer()
    lateMs = 80
    const late = asked(delay(800))
    await pass(800)
    expect(late.outcome).toBe('served')
  })

  it('does not take a stall of its own process for silence', async () => {
    const one = question()
    const call = asked(one.answered)
    await pass(50)
    at += 600
    await pass(25)
    one.answer()
    await pass(25)
    expect(call.outcome).toBe('served')
  })

  it('marks the call expired after its caller was refused', async () => {
    const one = question()
    let expired = false
    const refused = expect(
      queue.run(async (_, call) => {
        await call.exchange(one.answered)
        expired = call.expired()
      }),
    ).rejects.toMatchObject({ kind: 'degraded' })
    await pass(325)
    await refused
    one.answer()
    await pass(5)
    expect(expired).toBe(true)
  })

  it('replaces a pool that stays silent, and continues waiting calls on the new one', async () => {
    void ask(question().answered)
    await pass(2425)
    well.answer()
    expect([opened, retired]).toEqual([2, [1]])
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(queue.current()).toBe(2)
  })

  it('refuses at once beyond the limit of waiting calls', async () => {
    well.answer()
    const one = question()
    const all = Array.from({ length: 2 + 2 * 64 + 5 }, () => ask(one.answered))
    expect(await Promise.all(all.slice(-5))).toEqual(Array(5).fill('degraded'))
    one.answer()
    expect((await Promise.all(all)).filter((outcome) => outcome === 'served')).toHaveLength(2 + 2 * 64)
  })
})
