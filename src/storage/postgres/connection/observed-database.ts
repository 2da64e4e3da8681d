import { observed, type StoreObserver } from '../../store-observer.js'
import type { Database } from './client.js'

/** Wraps the database so that every call except pings is reported to the observer. */
export function observedDatabase(database: Database, observer: StoreObserver): Database {
  const report = <T>(begun: number, work: Promise<T>): Promise<T> => observed(observer, 'postgres', begun, work)
  return {
    ...database,
    scoped: (...call) => report(performance.now(), database.scoped(...call)),
    keyed: (...call) => report(performance.now(), database.keyed(...call)),
    asSystem: (...call) => report(performance.now(), database.asSystem(...call)),
    call: (...call) => report(performance.now(), database.call(...call)),
  }
}
