/** The service's time, and the skew of other clocks. */
export interface Clock {
  /** Epoch ms by the database's clock, so that a jump of this machine's clock changes no lock. */
  now(): number
  /** Wraps a ping of the database, whose reply (epoch ms) sets this clock. */
  setBy(ping: () => Promise<number>): () => Promise<void>
  /** Wraps a ping of another store, whose clocks (epoch ms) are only compared. */
  compared(name: string, ping: () => Promise<readonly number[]>): () => Promise<void>
  /** Largest clock skew, ms. */
  skewMs(): number
  /** A message if a clock's skew exceeds a minute; else null. */
  skewed(): string | null
  /** As `skewed`, for this machine's clock only. */
  skewedHere(): string | null
}

interface Needs {
  readonly monotonicMs: () => number
  /** This machine's clock, epoch ms. */
  readonly wallMs: () => number
  /** Called once when a clock's skew exceeds 5 s, and once when it no longer does. */
  readonly onSkew: (whose: string, skewMs: number, off: boolean) => void
}

const ALERT_MS = 5_000
const DEGRADED_MS = 60_000
/** A ping's reply only bounds the time. If the bounds move back by less than this, the clock stands still. */
const STANDS_STILL_MS = 2_000
const HERE = 'this machine'

/**
 * The database's clock, advanced by the monotonic clock between pings. The database reads its clock at some moment between
 * request and reply, which bounds the offset of the two clocks; an offset within the bounds is kept. So all processes on
 * one database share one time, independent of their machines' clocks. Before the first ping, `now` is this machine's time.
 */
export function createClock({ monotonicMs, wallMs, onSkew }: Needs): Clock {
  let offsetMs: number | null = null
  let last = 0
  const skews = new Map<string, number>()

  const unclamped = () => (offsetMs === null ? wallMs() : monotonicMs() + offsetMs)
  function note(whose: string, skewMs: number): void {
    const before = skews.get(whose) ?? 0
    skews.set(whose, skewMs)
    const off = skewMs > ALERT_MS
    if (off !== before > ALERT_MS) onSkew(whose, skewMs, off)
  }
  const largest = () => [...skews].reduce((most, one) => (one[1] > most[1] ? one : most), [HERE, 0] as [string, number])

  return {
    now() {
      const now = Math.floor(unclamped())
      if (now < last && last - now < STANDS_STILL_MS) return last
      last = now
      return now
    },
    setBy: (ping) => async () => {
      const [askedAt, wallAskedAt] = [monotonicMs(), wallMs()]
      const reported = await ping()
      const [least, most] = [reported - monotonicMs(), reported - askedAt]
      offsetMs = offsetMs === null ? (least + most) / 2 : Math.min(Math.max(offsetMs, least), most)
      note(HERE, distance(reported, wallAskedAt, wallMs()))
    },
    compared: (name, ping) => async () => {
      const askedAt = unclamped()
      const reported = await ping()
      const repliedAt = unclamped()
      note(`the machine of ${name}`, Math.max(0, ...reported.map((one) => distance(one, askedAt, repliedAt))))
    },
    skewMs: () => largest()[1],
    skewed: () => messageOf(...largest()),
    skewedHere: () => messageOf(HERE, skews.get(HERE) ?? 0),
  }
}

const messageOf = (whose: string, skewMs: number): string | null =>
  skewMs > DEGRADED_MS ? `the clock of ${whose} is ${Math.round(skewMs / 1000)} s off the database's` : null

/** Distance of a reported time from the interval between request and reply; 0 inside it. */
const distance = (reported: number, least: number, most: number): number =>
  Math.max(0, least - reported, reported - most)
