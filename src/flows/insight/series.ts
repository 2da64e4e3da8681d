import { bandFacet } from '../../domain/attempt-facts.js'
import type { Indicator } from '../../domain/context/signal.js'
import { type Bucket, bucketStarts, type TimeWindow } from '../../domain/time-window.js'
import type { StatisticsStore, Tally } from '../../storage/statistics.js'

/** Number of equal parts of the confidence, 0 to 1; the SQL function `confidence_bin` has the same number. */
export const CONFIDENCE_BINS = 20

interface Needs {
  readonly statistics: StatisticsStore
}

/** Attempts of a bucket or of a facet's value. A mean over no attempts is null. */
export interface Counted {
  readonly n: number
  readonly nAuthenticated: number
  readonly nChallenged: number
  readonly nBlocked: number
  readonly confidence: number | null
  readonly confidenceBiometrics: number | null
  readonly confidenceContext: number | null
}

export interface Series {
  /** Every bucket that overlaps the window, oldest first; of one user if `userRef` is given. */
  attempts(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket,
    userRef?: string,
  ): Promise<(Counted & { at: number })[]>
  /** The counts of the whole window. */
  total(organizationId: string, window: TimeWindow, userRef?: string): Promise<Counted>
  /** Attempts by value of a facet, largest count first; of one user if `userRef` is given, as below. */
  by(
    organizationId: string,
    facet: string,
    window: TimeWindow,
    userRef?: string,
  ): Promise<(Counted & { value: string })[]>
  /** Distinct users with a blocked attempt, for every bucket. */
  blockedUsers(
    organizationId: string,
    window: TimeWindow,
    bucket: Bucket,
  ): Promise<{ at: number; nUsers: number; nBlocked: number }[]>
  /** Attempts by hour of the day, by day of the week (0 is Monday), and by hour of the week; UTC. */
  habits(
    organizationId: string,
    window: TimeWindow,
    userRef?: string,
  ): Promise<{ hours: Counted[]; days: Counted[]; week: Counted[] }>
  /** Typing attempts in each of the `CONFIDENCE_BINS` parts of the confidence. */
  confidences(organizationId: string, window: TimeWindow): Promise<Counted[]>
  /** Attempts by score band of an indicator, and by the values that the indicator read. */
  indicator(
    organizationId: string,
    indicator: Indicator,
    window: TimeWindow,
    userRef?: string,
  ): Promise<{ bands: (Counted & { value: string })[]; values: (Counted & { signal: string; value: string })[] }>
}

/** Facets that are counted for an indicator in addition to its score. */
const READ_BY: Readonly<Record<Indicator, readonly string[]>> = {
  biometric: ['method'],
  bot: ['reason'],
  network: ['asn', 'anonymizer'],
  location: ['country'],
  'impossible-travel': [],
  device: ['browser', 'os', 'kind'],
  time: [],
}
const VALUES_MAX = 100

/** Statistics as series without gaps. */
export function createSeries({ statistics }: Needs): Series {
  const talliesOf = (
    { organizationId, userRef }: { organizationId: string; userRef: string | undefined },
    facet: string,
    window: TimeWindow,
    bucket: Bucket | null,
  ) =>
    userRef === undefined
      ? statistics.tallies(organizationId, facet, window, bucket)
      : statistics.talliesOfUser(organizationId, userRef, { facet, window, bucket })
  const by: Series['by'] = async (organizationId, facet, window, userRef) => {
    const tallies = await talliesOf({ organizationId, userRef }, facet, window, null)
    return tallies.map((tally) => ({ value: tally.value, ...countedOf([tally]) })).sort((a, b) => b.n - a.n)
  }
  return {
    by,

    async attempts(organizationId, window, bucket, userRef) {
      const tallies = await talliesOf({ organizationId, userRef }, 'all', window, bucket)
      return bucketStarts(window, bucket).map((at) => ({ at, ...countedOf(tallies.filter((one) => one.at === at)) }))
    },

    async total(organizationId, window, userRef) {
      return countedOf(await talliesOf({ organizationId, userRef }, 'all', window, null))
    },

    async blockedUsers(organizationId, window, bucket) {
      const [users, tallies] = await Promise.all([
        statistics.blockedUsers(organizationId, window, bucket),
        statistics.tallies(organizationId, 'all', window, bucket),
      ])
      return bucketStarts(window, bucket).map((at) => ({
        at,
        nUsers: users.find((one) => one.at === at)?.nUsers ?? 0,
        nBlocked: tallies.find((one) => one.at === at)?.nBlocked ?? 0,
      }))
    },

    async habits(organizationId, window, userRef) {
      const tallies = await talliesOf({ organizationId, userRef }, 'all', window, 'hour')
      const parts = (length: number, indexOf: (at: number) => number) =>
        Array.from({ length }, (_, index) => countedOf(tallies.filter(({ at }) => indexOf(at) === index)))
      return {
        hours: parts(24, (at) => new Date(at).getUTCHours()),
        days: parts(7, (at) => (new Date(at).getUTCDay() + 6) % 7),
        week: parts(7 * 24, hourOfWeek),
      }
    },

    async confidences(organizationId, window) {
      const tallies = await statistics.tallies(organizationId, 'confidence', window, null)
      return Array.from({ length: CONFIDENCE_BINS }, (_, bin) =>
        countedOf(tallies.filter(({ value }) => Number(value) === bin)),
      )
    },

    async indicator(organizationId, indicator, window, userRef) {
      const [bands, ...values] = await Promise.all([
        by(organizationId, bandFacet(indicator), window, userRef),
        ...READ_BY[indicator].map(async (signal) =>
          (await by(organizationId, signal, window, userRef)).slice(0, VALUES_MAX).map((one) => ({ signal, ...one })),
        ),
      ])
      return { bands, values: values.flat() }
    },
  }
}

/** 0 is the hour from Monday 00:00 UTC on; 1970 began on a Thursday. */
const hourOfWeek = (at: number): number => (Math.floor(at / 3_600_000) + 3 * 24) % (7 * 24)

function countedOf(tallies: readonly Tally[]): Counted {
  const sum = (of: (tally: Tally) => number) => tallies.reduce((all, tally) => all + of(tally), 0)
  const mean = (of: (tally: Tally) => number, over: (tally: Tally) => number) => {
    const n = sum(over)
    return n === 0 ? null : sum(of) / n
  }
  return {
    n: sum(({ n }) => n),
    nAuthenticated: sum((one) => one.nAuthenticated),
    nChallenged: sum((one) => one.nChallenged),
    nBlocked: sum((one) => one.nBlocked),
    confidence: mean(
      (one) => one.sumConfidence,
      ({ n }) => n,
    ),
    confidenceBiometrics: mean(
      (one) => one.sumBiometrics,
      (one) => one.nBiometrics,
    ),
    confidenceContext: mean(
      (one) => one.sumContext,
      (one) => one.nContext,
    ),
  }
}
