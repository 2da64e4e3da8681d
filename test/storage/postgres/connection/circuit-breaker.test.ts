import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTurnstile, type Turnstile } from '../../../../src/storage/postgres/connection/circuit-breaker.js'
import { until } from '../../fixtures.js'

/** Something that is asked of a server that answers when the test says so. */
function question() {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  return { answered, answer: () => answer() }
}

describe('the turnstile', () => {
  let turnstile: Turnstile<number>
  let opened: number
  let retired: number[]
  /** What the turnstile's own probes wait for, and how many there were. */
  let well: ReturnType<typeof question>
  let probes: number
  /** How late they are answered, once the server is well. */
  let lateMs: number
  const ask = (what: Promise<unknown>, probe = false) =>
    turnstile
      .pass((_, turn) => turn.exchange(what), { probe })
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
    turnstile = createTurnstile({
      width: 2,
      open: () => ++opened,
      retire: (line) => retired.push(line),
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
    turnstile.stop()
  })

  it('refuses what has waited 300 ms for a server that answers nobody, and what comes then at once', async () => {
    const begun = performance.now()
    const [one, two] = [question(), question()]
    const waiting = [ask(one.answered), ask(two.answered), ask(Promise.resolve())]
    expect(await Promise.all(waiting)).toEqual(['degraded', 'degraded', 'degraded'])
    expect(performance.now() - begun).toBeGreaterThan(275)
    const [refusedAt, verdict] = [performance.now(), await ask(Promise.resolve())]
    expect(verdict).toBe('degraded')
    expect(performance.now() - refusedAt).toBeLessThan(20)
    // A probe still goes out, and its answer opens the way.
    well.answer()
    one.answer()
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(await ask(Promise.resolve())).toBe('served')
  })

  it('lets the slow wait on while others are answered, up to their patience', async () => {
    well.answer()
    const begun = performance.now()
    expect(await ask(question().answered)).toBe('degraded')
    expect(performance.now() - begun).toBeGreaterThan(1100)
  })

  it('serves late what takes long while others are answered', async () => {
    well.answer()
    const one = question()
    const slow = ask(one.answered)
    await delay(500)
    one.answer()
    expect(await slow).toBe('served')
  })

  it('has the server asked for a sign of life while somebody waits, and not otherwise', async () => {
    well.answer()
    await delay(300)
    expect(probes).toBe(0)
    const one = question()
    const slow = ask(one.answered)
    await delay(600)
    one.answer()
    expect(await slow).toBe('served')
    expect(probes).toBeGreaterThanOrEqual(3)
    expect(probes).toBeLessThanOrEqual(8)
  })

  it('asks for a sign of life beside a full house', async () => {
    well.answer()
    const commits = [question(), question()]
    const slow = commits.map(({ answered }) => ask(answered))
    const next = ask(Promise.resolve())
    await delay(700)
    for (const commit of commits) commit.answer()
    expect(await Promise.all([...slow, next])).toEqual(['served', 'served', 'served'])
  })

  it('lets wait for a server that answers everybody late', async () => {
    well.answer()
    lateMs = 80
    expect(await ask(delay(800))).toBe('served')
  })

  it('does not take its own process standing still for silence', async () => {
    const one = question()
    const asked = ask(one.answered)
    await delay(50)
    for (const until = performance.now() + 600; performance.now() < until; );
    setImmediate(() => one.answer())
    expect(await asked).toBe('served')
  })

  it('tells work whose caller was refused that it is over', async () => {
    const one = question()
    let expired = false
    const asked = turnstile.pass(async (_, turn) => {
      await turn.exchange(one.answered)
      expired = turn.expired()
    })
    await expect(asked).rejects.toMatchObject({ kind: 'degraded' })
    one.answer()
    await until(async () => expired)
  })

  it('leaves a line that stays dumb for another, on which what waits goes on', async () => {
    void ask(question().answered)
    await until(async () => opened === 2, 10_000)
    well.answer()
    expect(retired).toEqual([1])
    expect(await ask(Promise.resolve(), true)).toBe('served')
    expect(turnstile.current()).toBe(2)
  })

  it('turns away at once what would wait behind too many', async () => {
    well.answer()
    const one = question()
    const all = Array.from({ length: 2 + 2 * 64 + 5 }, () => ask(one.answered))
    const settled = Promise.all(all)
    expect(await Promise.all(all.slice(-5))).toEqual(Array(5).fill('degraded'))
    one.answer()
    expect((await settled).filter((outcome) => outcome === 'served')).toHaveLength(2 + 2 * 64)
  })
})
