import { RANGES, rangeNow } from '../range.js'
import { hrefWith } from '../router.js'
import { t } from '../texts.js'
import { Tabs } from './tabs.js'

/** The choice of the window of a view. */
export const Ranges = () => (
  <Tabs
    label={t.range.label}
    tabs={RANGES.map((range) => ({
      name: t.range[range],
      href: hrefWith({ range, skip: null }),
      current: range === rangeNow(),
    }))}
  />
)
