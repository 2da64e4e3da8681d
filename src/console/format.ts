import { LOCALE } from './browser.js'
import { fill, t } from './texts.js'

const numbers = new Intl.NumberFormat(LOCALE)
const shares = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 })
const scores = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 3, maximumFractionDigits: 3 })
const wholeShares = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
})
const points = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1, signDisplay: 'exceptZero' })
const plurals = new Intl.PluralRules(LOCALE)
const [moments, days, utcDays, hours] = [
  { dateStyle: 'medium', timeStyle: 'short' },
  { month: 'short', day: 'numeric' },
  { month: 'short', day: 'numeric', timeZone: 'UTC' },
  { hour: 'numeric', minute: '2-digit' },
].map((options) => new Intl.DateTimeFormat(LOCALE, options as Intl.DateTimeFormatOptions)) as [
  Intl.DateTimeFormat,
  Intl.DateTimeFormat,
  Intl.DateTimeFormat,
  Intl.DateTimeFormat,
]

const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte'].map(
  (unit) => new Intl.NumberFormat(LOCALE, { style: 'unit', unit, maximumFractionDigits: unit === 'byte' ? 0 : 1 }),
)

const spans = (['day', 'hour', 'minute', 'second'] as const).map(
  (unit) => new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'long' }),
)
const SPANS_S = [86_400, 3600, 60, 1]
const instants = new Intl.NumberFormat(LOCALE, { style: 'unit', unit: 'millisecond', maximumFractionDigits: 1 })

const NONE = t.none

export const count = (n: number): string => numbers.format(n)
export const share = (part: number | null): string => (part === null ? NONE : shares.format(part))

/** Bytes in decimal units. */
export function fileSize(bytes: number | null): string {
  if (bytes === null) return NONE
  const step = Math.min(sizes.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return sizes[step]?.format(bytes / 1000 ** step) ?? NONE
}

/** Seconds in the largest unit that they fill. */
export function duration(seconds: number): string {
  const found = SPANS_S.findIndex((span) => seconds >= span)
  const at = found === -1 ? SPANS_S.length - 1 : found
  return spans[at]?.format(Math.floor(seconds / (SPANS_S[at] ?? 1))) ?? NONE
}
export const milliseconds = (ms: number): string => instants.format(ms)

/** A confidence, from 0 to 1. */
export const score = (value: number | null): string => (value === null ? NONE : scores.format(value))

/** The change of a count relative to the count before; null if there was none. */
export const change = (now: number, before: number): string | null =>
  before === 0 ? null : wholeShares.format((now - before) / before)

/** The change of a share, in percentage points; null if one of them is unknown. */
export const pointsChanged = (now: number | null, before: number | null): string | null =>
  now === null || before === null ? null : fill(t.format.points, { n: points.format((now - before) * 100) })

/** `{ one: '{n} user', other: '{n} users' }` with its number. */
export const counted = (forms: { readonly one: string; readonly other: string }, n: number): string =>
  fill(plurals.select(n) === 'one' ? forms.one : forms.other, { n: count(n) })

const weekdays = new Intl.DateTimeFormat(LOCALE, { weekday: 'short', timeZone: 'UTC' })
/** The short name of a weekday; 0 is Monday. */
export const weekdayName = (day: number): string => weekdays.format(Date.UTC(2024, 0, 1 + day))

/** Date and time in the viewer's zone. */
export const moment = (iso: string): string => moments.format(new Date(iso))
/** The same moment in UTC. */
export const momentUtc = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`
/** The name of a bucket of a series: hours in the viewer's zone, days as the service counts them, in UTC. */
export const bucketName = (iso: string, bucket: 'hour' | 'day'): string =>
  bucket === 'day' ? utcDays.format(new Date(iso)) : hours.format(new Date(iso))
/** The name of a single bucket, with its day. */
export const bucketTitle = (iso: string, bucket: 'hour' | 'day'): string =>
  bucket === 'day'
    ? `${utcDays.format(new Date(iso))} UTC`
    : `${days.format(new Date(iso))}, ${hours.format(new Date(iso))}`
