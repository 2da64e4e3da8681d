/** From a moment (included) to a moment (excluded), epoch ms. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

export const DAY_MS = 24 * 3600 * 1000
/** As long as attempts are kept. */
export const WINDOW_MAX_MS = 400 * DAY_MS
/** Where a call names no beginning. */
export const WINDOW_DEFAULT_MS = 30 * DAY_MS

export const BUCKETS = ['hour', 'day', 'week', 'month'] as const
export type Bucket = (typeof BUCKETS)[number]

/** Points of a series at the most: an hour's series of 400 days is not for people. */
export const BUCKETS_MAX = 2500

const HOUR_MS = 3600 * 1000
/** 1970-01-05, a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** When the bucket that holds `at` begins, UTC; weeks begin on Monday. */
export function bucketStart(at: number, bucket: Bucket): number {
  if (bucket === 'hour') return Math.floor(at / HOUR_MS) * HOUR_MS
  if (bucket === 'day') return Math.floor(at / DAY_MS) * DAY_MS
  if (bucket === 'week') return Math.floor((at - FIRST_MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + FIRST_MONDAY_MS
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** The beginnings of all buckets that a window touches, oldest first; the first may lie before the window. */
export function bucketStarts({ from, to }: TimeWindow, bucket: Bucket): number[] {
  const starts: number[] = []
  for (let at = bucketStart(from, bucket); at < to && starts.length < BUCKETS_MAX; at = nextStart(at, bucket))
    starts.push(at)
  return starts
}

function nextStart(start: number, bucket: Bucket): number {
  if (bucket === 'hour') return start + HOUR_MS
  if (bucket === 'day') return start + DAY_MS
  if (bucket === 'week') return start + 7 * DAY_MS
  const date = new Date(start)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
}
