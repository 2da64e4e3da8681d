/** The time that everything is counted by, and how far other clocks are off it. */
export interface Clock {
  /** Epoch ms by the database's clock: what a jump of this machine's own does to nobody's lock. */
  now(): number
  /** A ping of the database: what it says of the time is the time. */
  led(ping: () => Promise<number>): () => Promise<void>
  /** A ping of another store, which says what its clocks show: they are only compared. */
  compared(name: string, ping: () => Promise<readonly number[]>): () => Promise<void>
  /** How far the clock is off that is off furthest, ms. */
  skewMs(): number
  /** What is wrong where a clock is off by more than a minute, else null. */
  skewed(): string | null
  /** The same of this machine's own clock alone. */
  skewedHere(): string | null
}

interface Needs {
  readonly monotonicMs: () => number
  /** This machine's clock, epoch ms. */
  readonly wallMs: () => number
  /** Hears once when a clock is off by more than 5 s, and once when it no longer is. */
  readonly onSkew: (whose: string, skewMs: number, off: boolean) => void
}

const ALERT_MS = 5_000
const NOK_MS = 60_000
/** Answers to pings bound the time and do not tell it: where the bounds move back by less than this, the clock stands still. */
const STANDS_STILL_MS = 2_000
const HERE = 'this machine'

/**
 * The database's clock, carried on by the monotonic one from ping to ping. The database read its clock at some moment between
 * asking and hearing: that bounds how far apart the two clocks are, and within the bounds nothing is moved. All
 * processes on one database so have one time, whatever their machines show. Until the first ping it is this machine's.
 */
export function createClock({ monotonicMs, wallMs, onSkew }: Needs): Clock {
  let apartMs: number | null = null
  let last = 0
  const skews = new Map<string, number>()

  const untouched = () => (apartMs === null ? wallMs() : monotonicMs() + apartMs)
  function note(whose: string, skewMs: number): void {
    const before = skews.get(whose) ?? 0
    skews.set(whose, skewMs)
    const off = skewMs > ALERT_MS
    if (off !== before > ALERT_MS) onSkew(whose, skewMs, off)
  }
  const furthest = () =>
    [...skews].reduce((most, one) => (one[1] > most[1] ? one : most), [HERE, 0] as [string, number])

  return {
    now() {
      const now = Math.floor(untouched())
      if (now < last && last - now < STANDS_STILL_MS) return last
      last = now
      return now
    },
    led: (ping) => async () => {
      const [askedAt, wallAskedAt] = [monotonicMs(), wallMs()]
      const said = await ping()
      const [least, most] = [said - monotonicMs(), said - askedAt]
      apartMs = apartMs === null ? (least + most) / 2 : Math.min(Math.max(apartMs, least), most)
      note(HERE, outside(said, wallAskedAt, wallMs()))
    },
    compared: (name, ping) => async () => {
      const askedAt = untouched()
      const said = await ping()
      const heardAt = untouched()
      note(`the machine of ${name}`, Math.max(0, ...said.map((one) => outside(one, askedAt, heardAt))))
    },
    skewMs: () => furthest()[1],
    skewed: () => wrong(...furthest()),
    skewedHere: () => wrong(HERE, skews.get(HERE) ?? 0),
  }
}

const wrong = (whose: string, skewMs: number): string | null =>
  skewMs > NOK_MS ? `the clock of ${whose} is ${Math.round(skewMs / 1000)} s off the database's` : null

const outside = (said: number, least: number, most: number): number => Math.max(0, least - said, said - most)
