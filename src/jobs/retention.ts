import type { ProfileLinkStore } from '../storage/profile-link.js'
import type { RetentionStore } from '../storage/retention.js'
import type { UsageStore } from '../storage/usage.js'

interface Needs {
  readonly retention: RetentionStore
  readonly usage: Pick<UsageStore, 'forgetRequests'>
  readonly profileLinks: Pick<ProfileLinkStore, 'sweep'>
  readonly now: () => number
}

/** Retention of authentications, replay marks, administrative actions and statistics. */
export const KEPT_DAYS = 400
/** Retention of the request log. */
export const REQUESTS_KEPT_MS = 30 * 24 * 3600 * 1000
/** Number of future months whose partition of authentications is created in advance. */
const MONTHS_AHEAD = 3
/** Maximum number of sweeps of ended links per round; each deletes a few links of every organization. */
const SWEEPS_MAX = 200

/** One round of deletions. It stops after the signal, and the next round continues. */
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
    // Runs after all deletions, because `dropOld` may wait for a reader, and a failed round is retried as a whole.
    if (!signal.aborted) await retention.dropOld(KEPT_DAYS, now())
    await retention.vacuumErased(signal)
  }
