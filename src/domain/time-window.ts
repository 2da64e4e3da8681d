const [MOMENT_MIN_MS, MOMENT_MAX_MS] = [Date.UTC(2000, 0, 1), Date.UTC(2100, 0, 1)]
const MINUTE_MS = 60_000

/** A calendar, ordinal or week date, in extended or basic format. */
const DATE = /^(\d{4})(-?)(?:(\d{2})\2(\d{2})|(\d{3})|W(\d{2})\2([1-7]))$/
/** A time to the hour, minute or second, with a fraction of the last part; then the offset, if any. */
const TIME =
  /^([01]\d|2[0-4])(?:(:?)([0-5]\d)(?:\2([0-5]\d))?)?(?:[.,](\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/

/**
 * An ISO 8601 date or date-time as epoch ms, truncated to a ms. A date means its midnight; a time without an offset is
 * UTC. NaN for anything else, for a day that does not exist, and before 2000-01-01 or after 2100-01-01, UTC.
 */
export function momentOf(text: string): number {
  const [date = '', time, more] = text.split('T')
  const at = more === undefined ? midnightOf(date) + (time === undefined ? 0 : timeOf(time)) : Number.NaN
  return at >= MOMENT_MIN_MS && at <= MOMENT_MAX_MS ? at : Number.NaN
}

function midnightOf(text: string): number {
  const [, year, , month, day, dayOfYear, week, weekday] = DATE.exec(text)?.map(Number) ?? []
  if (year === undefined) return Number.NaN
  if (Number.isInteger(month)) return dayIn(Date.UTC(year, (month ?? 0) - 1, day), year, (month ?? 0) - 1)
  if (Number.isInteger(dayOfYear)) return dayOfYear === 0 ? Number.NaN : dayIn(Date.UTC(year, 0, dayOfYear), year)
  return weekDate(year, week ?? 0, weekday ?? 0)
}

/** The day; NaN if it overflowed into another month or year. */
function dayIn(at: number, year: number, month?: number): number {
  const date = new Date(at)
  const fits = date.getUTCFullYear() === year && (month === undefined || date.getUTCMonth() === month)
  return fits ? at : Number.NaN
}

/** Week 1 is the week that has 4 January; the last one has 28 December. */
function weekDate(year: number, week: number, weekday: number): number {
  const first = bucketStart(Date.UTC(year, 0, 4), 'week')
  const last = bucketStart(Date.UTC(year, 11, 28), 'week')
  const monday = first + (week - 1) * 7 * DAY_MS
  return week >= 1 && monday <= last ? monday + (weekday - 1) * DAY_MS : Number.NaN
}

/** Ms since midnight, UTC. */
function timeOf(text: string): number {
  const found = TIME.exec(text)
  if (found === null) return Number.NaN
  const [, hour = '', , minute, second, fraction = '', sign, offsetHours, offsetMinutes = '0'] = found
  const unit = minute === undefined ? 60 * MINUTE_MS : second === undefined ? MINUTE_MS : 1000
  const parts = Number(hour) * 60 * MINUTE_MS + Number(minute ?? 0) * MINUTE_MS + Number(second ?? 0) * 1000
  const at = parts + Math.floor((Number(fraction) * unit) / 10 ** fraction.length)
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes)) * MINUTE_MS
  // 24:00 is the end of a day; a later time is invalid.
  return at <= DAY_MS ? at - (sign === '-' ? -offset : offset) : Number.NaN
}

/** From a moment (included) to a moment (excluded), epoch ms. */
export interface TimeWindow {
  readonly from: number
  readonly to: number
}

export const DAY_MS = 24 * 3600 * 1000
/** Longest window: the retention of attempts. */
export const WINDOW_MAX_MS = 400 * DAY_MS
/** Length of a window without a given beginning. */
export const WINDOW_DEFAULT_MS = 30 * DAY_MS

export const BUCKETS = ['hour', 'day', 'week', 'month'] as const
export type Bucket = (typeof BUCKETS)[number]

/** Most points of a series: an hourly series of 400 days is not readable. */
const BUCKETS_MAX = 2500

const HOUR_MS = 3600 * 1000
/** 1970-01-05, a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** Start of the bucket that contains `at`, epoch ms, UTC; weeks begin on Monday. */
export function bucketStart(at: number, bucket: Bucket): number {
  if (bucket === 'hour') return Math.floor(at / HOUR_MS) * HOUR_MS
  if (bucket === 'day') return Math.floor(at / DAY_MS) * DAY_MS
  if (bucket === 'week') return Math.floor((at - FIRST_MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + FIRST_MONDAY_MS
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** Starts of all buckets that a window touches, oldest first; the first may precede the window. */
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
