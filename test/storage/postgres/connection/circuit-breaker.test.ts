import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type CircuitBreaker,
  createCircuitBreaker,
} from '../../../../src/storage/postgres/connection/circuit-breaker.js'
import { until } from '../../../patience.js'

/** An exchange with a server whose answer the test triggers. */
function question() {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  return { answered, answer: () => answer() }
}

describe('the circuit breaker', () => {
  let breaker: CircuitBreaker<number>
  let opened: number
  let retired: number[]
  /** Answer of the breaker's own probes, and their number. */
  let well: ReturnType<typeof question>
  let probes: number
  /** Waits that it reported, ms. */
  let waits: number[]
  /** Delay of the probes' answers, once the server is healthy. */
  let lateMs: number
  const ask = (what: Promise<unknown>, probe = false, slow = false) =>
    breaker
      .run((_, call) => call.exchange(what), { probe, slow })
      .then(
        () => 'served',
        (error) => error.kind,
      )
  beforeEach(async () => {
    opened = 0
    retired = []
    well = question()
    probes = 0
    lateMs = 0
    waits = []
    breaker = createCircuitBreaker({
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
    breaker.stop()
  })

  it('reports the wait of each call that waited for a connection, and of no other', async () => {
    const [one, two] = [question(), question()]
    const first = [ask(one.answered), ask(two.answered)]
    const third = ask(Promise.resolve())
    const begun = performance.now()
    await delay(60)
    one.answer()
    expect(await third).toBe('served')
    two.answer()
    await Promise.all(first)
    expect(waits).toHaveLength(1)
    expect(waits[0]).toBeGreaterThan(50)
    expect(waits[0]).toBeLessThanOrEqual(performance.now() - begun + 5)
  })

  it('gives slow calls a third of the connections, at least one, and the others to other calls', async () => {
    const [one, two] = [question(), question()]
    const first = ask(one.answered, false, true)
    const second = ask(two.answered, false, true)
    const others = Array.from({ length: 20 }, () => ask(Promise.resolve()))
    expect(await Promise.all(others)).toEqual(others.map(() => 'served'))
    two.answer()
    expect(await Promise.race([second, delay(50, 'waits')])).toBe('waits')
    one.answer()
    expect(await Promise.all([first, second])).toEqual(['served', 'served'])
  })

  it('refuses calls after 300 ms without any answer of the server, and further calls at once', async () => {
    const begun = performance.now()
    const [one, two] = [question(), question()]
    const waiting = [ask(one.answered), ask(two.answered), ask(Promise.resolve())]
    expect(await Promise.all(waiting)).toEqual(['degraded', 'degraded', 'degraded'])
    expect(performance.now() - begun).toBeGreaterThan(275)
    // At once: before the event loop runs any timer.
    const later = new Promise((resolve) => setImmediate(() => resolve('later')))
    expect(await Promise.race([ask(Promise.resolve()), later])).toBe('degraded')
    // A probe is still sent, and its answer closes the breaker again.
    well.answer()
    one.answer()
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(await ask(Promise.resolve())).toBe('served')
  })

  it('lets a slow call wait while others are answered, up to its patience', async () => {
    well.answer()
    const begun = performance.now()
    expect(await ask(question().answered)).toBe('degraded')
    expect(performance.now() - begun).toBeGreaterThan(1100)
  })

  it('serves a slow call late while others are answered', async () => {
    well.answer()
    const one = question()
    const slow = ask(one.answered)
    await delay(500)
    one.answer()
    expect(await slow).toBe('served')
  })

  it('sends probes while a call waits, and not otherwise', async () => {
    well.answer()
    await delay(300)
    expect(probes).toBe(0)
    const one = question()
    const begun = performance.now()
    const slow = ask(one.answered)
    await delay(600)
    await until(async () => probes >= 3)
    one.answer()
    expect(await slow).toBe('served')
    // One each 75 ms at most.
    expect(probes).toBeLessThanOrEqual((performance.now() - begun) / 75 + 1)
  })

  it('sends probes while all connections are busy', async () => {
    well.answer()
    const commits = [question(), question()]
    const slow = commits.map(({ answered }) => ask(answered))
    const next = ask(Promise.resolve())
    await delay(700)
    for (const commit of commits) commit.answer()
    expect(await Promise.all([...slow, next])).toEqual(['served', 'served', 'served'])
  })

  it('lets calls wait for a server that answers every call late', async () => {
    well.answer()
    lateMs = 80
    expect(await ask(delay(800))).toBe('served')
  })

  it('does not take a stall of its own process for silence', async () => {
    const one = question()
    const asked = ask(one.answered)
    await delay(50)
    for (const until = performance.now() + 600; performance.now() < until; );
    setImmediate(() => one.answer())
    expect(await asked).toBe('served')
  })

  it('marks the call expired after its caller was refused', async () => {
    const one = question()
    let expired = false
    const asked = breaker.run(async (_, call) => {
      await call.exchange(one.answered)
      expired = call.expired()
    })
    await expect(asked).rejects.toMatchObject({ kind: 'degraded' })
    one.answer()
    await until(async () => expired)
  })

  it('replaces a pool that stays silent, and continues waiting calls on the new one', async () => {
    void ask(question().answered)
    await until(async () => opened === 2)
    well.answer()
    expect(retired).toEqual([1])
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(breaker.current()).toBe(2)
  })

  it('refuses at once beyond the limit of waiting calls', async () => {
    well.answer()
    const one = question()
    const all = Array.from({ length: 2 + 2 * 64 + 5 }, () => ask(one.answered))
    const settled = Promise.all(all)
    expect(await Promise.all(all.slice(-5))).toEqual(Array(5).fill('degraded'))
    one.answer()
    expect((await settled).filter((outcome) => outcome === 'served')).toHaveLength(2 + 2 * 64)
  })
})
