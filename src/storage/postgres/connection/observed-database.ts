import { observed, type StoreObserver } from '../../store-observer.js'
import type { Database } from './client.js'

/** The database with every call reported to the observer, pings excepted. */
export function observedDatabase(database: Database, observer: StoreObserver): Database {
  const report = <T>(work: Promise<T>, begun: number): Promise<T> => observed(observer, 'postgres', begun, work)
  return {
    ...database,
    scoped: (organizationId, work, options) => {
      const begun = performance.now()
      return report(database.scoped(organizationId, work, options), begun)
    },
    keyed: (organizationId, work, options) => {
      const begun = performance.now()
      return report(database.keyed(organizationId, work, options), begun)
    },
    asSystem: (work, options) => {
      const begun = performance.now()
      return report(database.asSystem(work, options), begun)
    },
    call: (work, options) => {
      const begun = performance.now()
      return report(database.call(work, options), begun)
    },
  }
}
