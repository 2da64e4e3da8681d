import { describe, expect, it } from 'vitest'
import { burstOf, NO_RATE } from '../../../src/domain/key-rate.js'
import { createKeyRates } from '../../../src/flows/organization/key-rates.js'
import { type RateAccounts, rateAccountsHere } from '../../../src/storage/rate-account.js'

const rate = { perSecond: 10, burst: 5 }
const holder = (keyId: string, own: typeof rate | null = null) => ({ organizationId: 'o', keyId, rate: own })
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** One process, with a clock that the test moves. */
function process(accounts: RateAccounts | null = null, clock = { now: 0 }) {
  const spend = createKeyRates({ rate, accounts, monotonicMs: () => clock.now })
  /** Number of admitted requests out of `times`. */
  const ask = (times: number, who = holder('a')) => {
    let n = 0
    for (let i = 0; i < times; i++) {
      try {
        spend(who)
        n += 1
      } catch {
        // The request is refused.
      }
    }
    return n
  }
  return { clock, spend, ask }
}

describe('the rate of a key', () => {
  it('admits a burst, then as many requests as the rate allows', () => {
    const { clock, ask } = process()
    expect(ask(20)).toBe(5)
    clock.now += 100
    expect(ask(20)).toBe(1)
    clock.now += 1000
    expect(ask(20)).toBe(5)
    // Refused requests are not counted: a caller that never pauses gets ten a second.
    let n = 0
    for (let i = 0; i < 1000; i++) {
      clock.now += 10
      n += ask(1)
    }
    expect(n).toBe(100)
  })

  it('is named in a refusal, with the time to wait', () => {
    const { ask, spend } = process()
    ask(5)
    expect(() => spend(holder('a'))).toThrow('this key may make 10 requests a second')
    const slow = () => spend(holder('a', { perSecond: 1, burst: 1 }))
    expect(slow).toThrow(expect.objectContaining({ kind: 'over-rate', retryAfterS: 1 }))
  })

  it('applies to each key separately, is the organization’s own rate if set, and is unlimited if 0', () => {
    const { ask } = process()
    expect([ask(9), ask(9, holder('b'))]).toEqual([5, 5])
    expect(ask(9, holder('c', { perSecond: 100, burst: 7 }))).toBe(7)
    expect(ask(900, holder('d', { perSecond: NO_RATE, burst: 1 }))).toBe(900)
  })

  it('has a default burst of two seconds of the rate, at least one', () => {
    expect([burstOf(10), burstOf(NO_RATE)]).toEqual([20, 1])
  })

  it('holds for all processes together, except for unreported requests', async () => {
    const clock = { now: 0 }
    const accounts = rateAccountsHere(() => clock.now)
    const processes = [process(accounts, clock), process(accounts, clock), process(accounts, clock)]
    let [n, most] = [0, 0]
    for (let i = 0; i < 2000; i++) {
      clock.now += 5
      for (const { ask } of processes) n += ask(1)
      await settled()
      // Allowed above the burst and the rate: for each other process an eighth of a burst (one), and one in flight.
      most = Math.max(most, n - (5 + clock.now / 100))
    }
    expect(most).toBeLessThanOrEqual(2 * 2)
    expect(n).toBeGreaterThanOrEqual(100)
    expect(n).toBeLessThanOrEqual(5 + 100 + 4)
  })

  it('needs few round trips: a hundred reports carry ten thousand requests', async () => {
    const clock = { now: 0 }
    let reports = 0
    const accounts: RateAccounts = {
      async spend(_, __, spentMs) {
        reports += 1
        return spentMs
      },
    }
    const { ask } = process(accounts, clock)
    const many = holder('a', { perSecond: 1000, burst: 2000 })
    for (let i = 0; i < 1000; i++) {
      clock.now += 10
      ask(10, many)
      await settled()
    }
    expect(reports).toBeLessThanOrEqual(101)
  })

  it('is counted by each process alone while the shared account is unreachable, and reported afterwards', async () => {
    const clock = { now: 0 }
    const reported: number[] = []
    const state = { away: true }
    const accounts: RateAccounts = {
      spend: async (_, __, ms) => {
        if (state.away) throw new Error('away')
        reported.push(ms)
        return 0
      },
    }
    const { ask } = process(accounts, clock)
    expect(ask(20)).toBe(5)
    await settled()
    expect(ask(20)).toBe(0)
    state.away = false
    clock.now += 200
    expect(ask(1)).toBe(1)
    await settled()
    expect(reported).toEqual([600])
  })
})
