import { viewAddress } from './router.js'

/** Windows that a view offers; the last bucket is the current hour or day, UTC. */
export const RANGES = ['24h', '7d', '30d', '90d'] as const
export type Range = (typeof RANGES)[number]
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000]
const BUCKETS = { '24h': 24, '7d': 7, '30d': 30, '90d': 90 } as const

/** The range of the address; 7 days unless given. */
export const rangeNow = (): Range => RANGES.find((one) => one === viewAddress.value.query.get('range')) ?? '7d'

interface RangeWindow {
  readonly bucket: 'hour' | 'day'
  readonly from: string
  /** The window of the same length before it. */
  readonly before: { readonly date_from: string; readonly date_to: string }
}

export function windowOf(range: Range, now = Date.now()): RangeWindow {
  const bucket = range === '24h' ? 'hour' : 'day'
  const bucketMs = bucket === 'hour' ? HOUR_MS : DAY_MS
  const lengthMs = BUCKETS[range] * bucketMs
  const from = Math.floor(now / bucketMs) * bucketMs - lengthMs + bucketMs
  const iso = (at: number) => new Date(at).toISOString()
  return { bucket, from: iso(from), before: { date_from: iso(from - lengthMs), date_to: iso(now - lengthMs) } }
}
