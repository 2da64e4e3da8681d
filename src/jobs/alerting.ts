import { setTimeout as delay } from 'node:timers/promises'
import { every, type Job } from '../base/every.js'
import type { Courier } from '../flows/alert/courier.js'
import { createDeliveries } from '../flows/alert/deliveries.js'
import type { Outages } from '../flows/alert/outages.js'
import type { NotificationStore } from '../storage/notifications.js'
import type { Outbox } from '../storage/outbox.js'
import type { Vault } from '../storage/vault.js'

interface Log {
  warn(facts: { readonly err: unknown }, message: string): void
}

interface Needs {
  readonly notifications: NotificationStore
  readonly outbox: Outbox
  readonly vault: Pick<Vault, 'openSecret'>
  readonly courier: Courier
  readonly now: () => number
  readonly log: Log
}

/** Periods of a few seconds keep alerts timely; a round without work costs some milliseconds. */
const DERIVE_EVERY_MS = 2000
const DELIVER_EVERY_MS = 2000
const NOTE_EVERY_MS = 2000
const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
/** Retention of notifications. */
const KEPT_MS = 90 * DAY_MS
/** A process must stop within 8 s in total, so a slower delivery is aborted and retried later. */
const STOPPING_MS = 1000

/** Writes the outages that this process has noted to the store. */
export const noteOutages = (outages: Outages, log: Log): Job =>
  every({
    async work() {
      await outages.flush()
      return false
    },
    everyMs: NOTE_EVERY_MS,
    onError: (err) => log.warn({ err }, 'an outage could not be stored: the next round retries'),
  })

/**
 * Derives notifications from recorded events and delivers them. Any number of processes may run it: the database gives each
 * piece of work to one of them. Deliveries do not use the job queue, because after a failure a whole channel waits with all its
 * messages. The queue backs off each job separately and would retry minutes after the channel has recovered.
 */
export function startAlerting({ notifications, log, now, ...needs }: Needs): Job[] {
  const deliveries = createDeliveries({
    ...needs,
    now,
    after: (ms) => delay(ms, false as const, { ref: false }),
    onError: (err) => log.warn({ err }, 'a delivery failed: it is retried in a minute'),
  })
  const sending = every({
    work: deliveries.begin,
    everyMs: DELIVER_EVERY_MS,
    onError: (err) => log.warn({ err }, 'deliveries could not be claimed: the next round retries'),
  })
  let sweptAt = Number.NEGATIVE_INFINITY
  return [
    every({
      async work() {
        const at = now()
        const sweeps = at - sweptAt >= HOUR_MS
        // The sweep over the last day finds attempts that were committed long after their id was created.
        const more = await notifications.derive(sweeps ? at - DAY_MS : null)
        if (more || !sweeps) return more
        sweptAt = at
        while (await notifications.forget(at - KEPT_MS)) {
          // More is left.
        }
        return false
      },
      everyMs: DERIVE_EVERY_MS,
      onError: (err) => log.warn({ err }, 'notifications could not be derived: the next round retries'),
    }),
    {
      async stop() {
        await sending.stop()
        await Promise.race([deliveries.idle(), delay(STOPPING_MS, undefined, { ref: false })])
      },
    },
  ]
}
