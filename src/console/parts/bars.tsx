import { count, share } from '../format.js'
import { Empty } from './states.js'

interface Bar {
  readonly name: string
  readonly n: number
}

interface BarsNeeds {
  /** The meaning of the counts, in words. */
  readonly label: string
  readonly bars: readonly Bar[]
  /** The total for the shares; the sum of the bars unless given. */
  readonly all?: number
  /** Bars beyond this number are left out. */
  readonly most?: number
  readonly empty: string
}

/** Counts as bars, each with its share. */
export function Bars({ label, bars, all = bars.reduce((sum, { n }) => sum + n, 0), most = 8, empty }: BarsNeeds) {
  if (all === 0) return <Empty title={empty} />
  const largest = Math.max(1, ...bars.map(({ n }) => n))
  return (
    <ul class="bars" aria-label={label}>
      {bars.slice(0, most).map(({ name, n }) => (
        <li key={name}>
          <span class="bar-name">{name}</span>
          <span class="bar-track" aria-hidden="true">
            <span style={{ width: `${(100 * n) / largest}%` }} />
          </span>
          <span class="figure">{count(n)}</span>
          <span class="figure soft">{share(n / all)}</span>
        </li>
      ))}
    </ul>
  )
}
