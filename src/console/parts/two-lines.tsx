import type { ComponentChild } from 'preact'

interface TwoLinesNeeds {
  readonly first: ComponentChild
  /** Null if the cell has one line. */
  readonly second: string | null
}

/** A cell of a table with a second, smaller line: two columns would not fit into a window of 1,280 px. Long lines are cut off. */
export const TwoLines = ({ first, second }: TwoLinesNeeds) => (
  <span class="named" translate={false}>
    <span>{first}</span>
    {second !== null && <span class="soft small">{second}</span>}
  </span>
)
