import { describe, expect, it } from 'vitest'
import { arrivalTimes } from '../../../bench/load/arrivals.js'
import { histogram } from '../../../bench/load/histogram.js'
import { type Clock, openLoop } from '../../../bench/load/loops.js'

/** A clock that jumps to the end of the next pause when there is nothing else to do. */
function jumpingClock(): Clock & { run(work: Promise<void>): Promise<void> } {
  let now = 0
  const pauses: { readonly until: number; readonly go: () => void }[] = []
  return {
    now: () => now,
    sleep: (ms) => new Promise((go) => pauses.push({ until: now + ms, go })),
    async run(work) {
      let done = false
      const ended = work.finally(() => {
        done = true
      })
      while (!done) {
        await new Promise((go) => setImmediate(go))
        pauses.sort((a, b) => b.until - a.until)
        const next = pauses.pop()
        if (next === undefined) continue
        now = Math.max(now, next.until)
        next.go()
      }
      await ended
    },
  }
}

/** A server that answers in 1 ms, except for one stall: requests of that time are answered at its end. */
const STALL = { from: 4000, until: 5000 }
const answeredAt = (asked: number) => (asked + 1 > STALL.from && asked < STALL.until ? STALL.until + 1 : asked + 1)

const RATE = 100
const times = () => arrivalTimes({ arrivals: 'even', rate: RATE, seconds: 10, workers: 1, worker: 0, seed: 1 })

describe('the open loop', () => {
  it('keeps its schedule while the server stalls, and the latencies include the requests of that time', async () => {
    const clock = jumpingClock()
    const latency = histogram()
    const begun: number[] = []
    const begin = async (due: number) => {
      begun.push(clock.now())
      await clock.sleep(answeredAt(clock.now()) - clock.now())
      latency.record(clock.now() - due)
    }
    const needs = { clock, times: times(), start: 0, underWayMax: 1000, stopped: () => false, dropped: () => {} }
    await clock.run(openLoop({ ...needs, begin }))
    expect(begun).toEqual([...times()])
    // The stall is a tenth of the time: a tenth of the arrivals waited, uniformly between 0 and the whole stall.
    expect(latency.count()).toBe(1000)
    expect(latency.quantileMs(0.89)).toBeLessThan(30)
    expect(latency.quantileMs(0.95)).toBeGreaterThan(450)
    expect(latency.quantileMs(0.99)).toBeGreaterThan(880)
    expect(latency.quantileMs(1)).toBeGreaterThan(990)
  })

  it('counts latency from the due time if the loop itself is late', async () => {
    const clock = jumpingClock()
    const late: number[] = []
    const begin = async (_due: number, at: number, lateMs: number) => {
      late.push(lateMs)
      if (at === 0) await clock.sleep(5)
    }
    // Sleeps of this clock end on multiples of 25 ms, as on a busy machine.
    const coarse: Clock = { ...clock, sleep: (ms) => clock.sleep(Math.ceil(ms / 25) * 25) }
    const needs = { start: 0, underWayMax: 1000, stopped: () => false, dropped: () => {} }
    await clock.run(openLoop({ ...needs, clock: coarse, times: [0, 10, 20, 30], begin }))
    expect(late).toEqual([0, 15, 5, 20])
  })

  it('drops and counts arrivals above the limit in progress', async () => {
    const clock = jumpingClock()
    const dropped: number[] = []
    const needs = { clock, times: [0, 1, 2, 3, 200], start: 0, underWayMax: 2, stopped: () => false }
    await clock.run(openLoop({ ...needs, begin: () => clock.sleep(100), dropped: (at) => void dropped.push(at) }))
    expect(dropped).toEqual([2, 3])
  })
})
