import type { NotificationStore } from '../../storage/notifications.js'

interface Needs {
  readonly notifications: Pick<NotificationStore, 'noteOutage'>
  readonly now: () => number
}

export interface Outages {
  /** Hears of every turn for better (null) or worse. */
  turn(degraded: string | null): void
  /** Writes down what is over; what cannot be written yet is written the next time. */
  flush(): Promise<void>
}

/** A store that comes and goes tells of no more than this before it stays. */
const WAITING_MAX = 100

/** Remembers this process's outages until the stores are back and take them. A process that dies meanwhile tells nobody. */
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
