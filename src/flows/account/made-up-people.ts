import { Refusal } from '../../domain/refusal.js'
import { MADE_UP_PREFIX } from '../../domain/user-ref.js'
import { type Directory, EVERYBODY } from '../../storage/directory.js'
import type { StatisticsStore } from '../../storage/statistics.js'
import type { AccountFlows } from './accounts.js'

interface Needs {
  readonly directory: Pick<Directory, 'page'>
  readonly statistics: Pick<StatisticsStore, 'countAgain'>
  readonly removeAccount: AccountFlows['remove']
}

export interface MadeUpPeopleFlows {
  /** Number of accounts of made-up people, `MADE_UP_MAX` at most. */
  count(organizationId: string): Promise<number>
  /**
   * Deletes up to `AT_A_TIME` accounts of made-up people with all that names them, and counts again the attempts since the creation
   * of the oldest one, so that the statistics lose the deleted attempts. Repeat the call until `left` is 0.
   */
  remove(organizationId: string): Promise<{ readonly deleted: number; readonly left: number }>
}

const MADE_UP_MAX = 500
/** Most accounts deleted in one call: each takes some round trips, and a call has a deadline. */
const AT_A_TIME = 8

export function createMadeUpPeople({ directory, statistics, removeAccount }: Needs): MadeUpPeopleFlows {
  const find = async (organizationId: string) => {
    const order = { sort: 'user_ref', descending: false, skip: 0, limit: MADE_UP_MAX } as const
    const rosters = await directory.page(organizationId, { ...EVERYBODY, userRef: MADE_UP_PREFIX }, order)
    return rosters.map(({ account }) => account).filter(({ userRef }) => userRef.startsWith(MADE_UP_PREFIX))
  }
  return {
    count: async (organizationId) => (await find(organizationId)).length,

    async remove(organizationId) {
      const found = await find(organizationId)
      const chosen = found.slice(0, AT_A_TIME)
      for (const { userRef } of chosen)
        await removeAccount({ organizationId, userRef, memberRef: null }).catch((error: unknown) => {
          // A concurrent call deleted it.
          if (!(error instanceof Refusal && error.kind === 'user-not-found')) throw error
        })
      if (chosen.length > 0)
        await statistics.countAgain(organizationId, Math.min(...chosen.map(({ createdAt }) => createdAt)))
      return { deleted: chosen.length, left: found.length - chosen.length }
    },
  }
}
