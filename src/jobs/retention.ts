import type { ProfileLinkStore } from '../storage/profile-link.js'
import type { RetentionStore } from '../storage/retention.js'
import type { UsageStore } from '../storage/usage.js'

interface Needs {
  readonly retention: RetentionStore
  readonly usage: Pick<UsageStore, 'forgetRequests'>
  readonly profileLinks: Pick<ProfileLinkStore, 'sweep'>
  readonly now: () => number
}

/** Authentications, replay marks, the record of administrative actions, and what is counted. */
export const KEPT_DAYS = 400
/** The log of requests. */
export const REQUESTS_KEPT_MS = 30 * 24 * 3600 * 1000
/** Months of authentications that have their partition before they begin. */
const MONTHS_AHEAD = 3
/** Links of an organization are taken away a few at a time. */
const SWEEPS_MAX = 200

/** One round of what is due: whatever is left when the signal comes, the next round does. */
export const createRetention =
  ({ retention, usage, profileLinks, now }: Needs) =>
  async (signal: AbortSignal): Promise<void> => {
    const whileMore = async (some: () => Promise<boolean>) => {
      while (!signal.aborted && (await some())) {
        // More is left.
      }
    }
    await retention.makeAhead(MONTHS_AHEAD, now())
    await whileMore(() => retention.forgetOld(KEPT_DAYS, now()))
    await whileMore(() => retention.sweepSessions())
    await whileMore(() => usage.forgetRequests(now() - REQUESTS_KEPT_MS))
    let sweeps = 0
    await whileMore(async () => {
      const organizations = await retention.withEndedLinks()
      for (const organizationId of organizations) await profileLinks.sweep(organizationId)
      sweeps += 1
      return organizations.length > 0 && sweeps < SWEEPS_MAX
    })
    // Last: it may have to wait for a reader, and is tried again as a whole.
    if (!signal.aborted) await retention.dropOld(KEPT_DAYS, now())
  }
