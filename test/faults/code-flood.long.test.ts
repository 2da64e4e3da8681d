import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { userRef } from '../../bench/ratio/people.js'
import { request } from '../../bench/shared/drive.js'
import { figure, LONG } from '../trust/figure.js'
import { quantile } from './figures.js'
import { type Asking, type Heard, ofStatus, p99Of } from './open-loop.js'
import { A_SESSION, type TypingCrowd, typingCrowd } from './typing-crowd.js'

/** Runs with and without codes alternate, because a shared machine may be half as fast a minute later. */
const FLOODS = 12
const FLOOD_S = 5

let crowd: TypingCrowd
beforeAll(async () => {
  crowd = await typingCrowd()
}, 180_000)
afterAll(() => crowd.close())

/**
 * The p99 of each second. Other work on the machine delays a second now and then; the median of the seconds excludes
 * it.
 */
const p99OfSeconds = (heard: readonly Heard[]): number[] =>
  Array.from({ length: FLOOD_S }, (_, second) =>
    p99Of(heard.filter(({ dueAt }) => Math.floor(dueAt / 1000) === second)),
  )

describe.runIf(LONG)('a service at a third of its capacity', { timeout: 600_000 }, () => {
  it('keeps typing fast during a flood of security codes', async () => {
    const capacity = await crowd.warmUp()
    const [calm, codes] = [0.3 * capacity, 500]
    const alone: number[] = []
    const withCodesP99: number[] = []
    const typing: Heard[] = []
    const flood: Heard[] = []
    for (let round = 0; round < FLOODS; round++) {
      await crowd.mint(Math.ceil((2 * calm * FLOOD_S) / A_SESSION) + 64)
      const base = await crowd.offer({ perSecond: calm, seconds: FLOOD_S, next: crowd.next })
      const headers = {
        apikey: crowd.apikey,
        'content-type': 'application/json',
        'x-service-session': crowd.lastSession(),
      }
      const code = request('POST', `/core/users/${userRef(0)}/verify`, headers, '{"securityCode":"918273"}')
      let owed = 0
      const withCodes = (): Asking => {
        owed += calm / (calm + codes)
        if (owed < 1) return { kind: 'code', bytes: code }
        owed -= 1
        return crowd.next()
      }
      const heard = await crowd.offer({ perSecond: calm + codes, seconds: FLOOD_S, next: withCodes })
      const verifies = heard.filter(({ kind }) => kind === 'verify')
      alone.push(...p99OfSeconds(base))
      withCodesP99.push(...p99OfSeconds(verifies))
      typing.push(...verifies)
      flood.push(...heard.filter(({ kind }) => kind === 'code'))
    }
    const failed = typing.length - ofStatus(typing, 200).length
    const [aloneMs, withCodesMs] = [quantile(alone, 0.5), quantile(withCodesP99, 0.5)]
    const slower = withCodesMs / aloneMs
    console.log(
      `${codes} codes a second, ${((100 * ofStatus(flood, 429).length) / flood.length).toFixed(0)} % of them 429: ` +
        `p99 of typing in the median second ${aloneMs.toFixed(1)} ms without them, ${withCodesMs.toFixed(1)} ms with them`,
    )
    expect(flood.filter(({ status }) => status !== 200 && status !== 429)).toEqual([])
    figure('F19', `${failed} of ${typing.length} verifies failed under ${codes} codes a second`, '0', failed === 0)
    figure('F19', `p99 of verify in the median second x ${slower.toFixed(1)}`, 'x 1.5 at the most', slower <= 1.5)
  })
})
