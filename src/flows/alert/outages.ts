import type { NotificationStore } from '../../storage/notifications.js'

interface Needs {
  readonly notifications: Pick<NotificationStore, 'noteOutage'>
  readonly now: () => number
}

export interface Outages {
  /** Notes a change of health; `degraded` is null once the service is healthy again. */
  turn(degraded: string | null): void
  /** Stores the outages that are over; those that cannot be stored wait for the next call. */
  flush(): Promise<void>
}

/** Outages kept while a store flaps; further ones are dropped. */
const WAITING_MAX = 100

/** Keeps this process's outages in memory until the stores are back. The outages are lost if the process ends before that. */
export function createOutages({ notifications, now }: Needs): Outages {
  let beganAt: number | null = null
  const over: { readonly beganAt: number; readonly endedAt: number }[] = []
  return {
    turn(degraded) {
      if (degraded !== null) beganAt ??= now()
      else if (beganAt !== null) {
        if (over.length < WAITING_MAX) over.push({ beganAt, endedAt: now() })
        beganAt = null
      }
    },
    async flush() {
      for (let [first] = over; beganAt === null && first !== undefined; [first] = over) {
        await notifications.noteOutage(first.beganAt, first.endedAt)
        over.shift()
      }
    },
  }
}
