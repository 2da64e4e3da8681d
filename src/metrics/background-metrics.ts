import { Gauge, type Metric } from 'prom-client'
import type { Courier } from '../flows/alert/courier.js'
import type { JobQueueStore, QueueState } from '../storage/job-queue.js'
import type { Outbox, OutboxState } from '../storage/outbox.js'
import type { DatabaseFacts, SystemStore } from '../storage/system.js'
import { createCounts } from './counts.js'

interface Needs {
  readonly jobQueue: Pick<JobQueueStore, 'states'>
  readonly outbox: Pick<Outbox, 'state'>
  readonly system: SystemStore
}

interface BackgroundMetrics {
  /** Reads the state of a database, which is the same in every process. After a failure its metrics are absent. */
  refresh(database: string, needs: Needs): Promise<void>
  /** Wraps a courier so that it counts its tries, except tests of channels. */
  watch(courier: Courier): Courier
  readonly metrics: readonly Metric[]
}

/** The state of one database and its background work. */
interface DatabaseState {
  readonly queues: readonly QueueState[]
  readonly waiting: OutboxState
  readonly facts: DatabaseFacts
}

const JOB_STATES = ['waiting', 'later', 'running', 'failed'] as const

/** Queued jobs, the outbox of alerts, and the size, by database. Several processes report the same state: combine them by `max`. */
export function createBackgroundMetrics(): BackgroundMetrics {
  const jobs = createJobGauges()
  const outbox = createOutboxGauges()
  const size = createDatabaseGauges()
  const tries = createCounts({
    name: 'keystride_alert_deliveries_total',
    help: 'Tries to deliver an alert, by channel and outcome',
    labelNames: ['channel', 'outcome'],
  })
  const groups = [jobs, outbox, size]
  const states = new Map<string, DatabaseState>()
  return {
    metrics: [...groups.flatMap((group) => group.metrics), tries.metric],
    async refresh(name, { jobQueue, outbox: outboxStore, system }) {
      try {
        const [queues, waiting, facts] = await Promise.all([jobQueue.states(), outboxStore.state(), system.database()])
        states.set(name, { queues, waiting, facts })
      } catch (error) {
        states.delete(name)
        throw error
      } finally {
        for (const gauge of groups.flatMap(({ metrics }) => metrics)) gauge.reset()
        for (const [database, { queues, waiting, facts }] of states) {
          jobs.set(database, queues)
          outbox.set(database, waiting)
          size.set(database, facts)
        }
      }
    },
    watch: (courier) => async (settings, secret, message) => {
      const outcome = await courier(settings, secret, message)
      if (message.test === null) tries.add([settings.channel, outcome])
      return outcome
    },
  }
}

/** A gauge by database, without a value. */
const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
  new Gauge({ name, help, labelNames: ['database', ...labelNames], registers: [], aggregator: 'max' })

function createJobGauges() {
  const count = gauge('keystride_jobs', 'Background jobs, by queue and state; failed within two days', [
    'queue',
    'state',
  ])
  const oldest = gauge('keystride_job_oldest_waiting_seconds', 'How long the oldest waiting job has been due', [
    'queue',
  ])
  const success = gauge('keystride_job_last_success_timestamp_seconds', 'End of the latest successful job', ['queue'])
  return {
    metrics: [count, oldest, success],
    set(database: string, queues: readonly QueueState[]): void {
      for (const { queue, oldestWaitingS, lastSuccessAt, ...counts } of queues) {
        for (const state of JOB_STATES) count.set({ database, queue, state }, counts[state])
        oldest.set({ database, queue }, oldestWaitingS ?? 0)
        if (lastSuccessAt !== null) success.set({ database, queue }, lastSuccessAt / 1000)
      }
    },
  }
}

function createOutboxGauges() {
  const waiting = gauge('keystride_outbox_deliveries', 'Alerts that wait for their delivery')
  const oldest = gauge('keystride_outbox_oldest_waiting_seconds', 'Age of the oldest alert that waits for its delivery')
  const paused = gauge('keystride_alert_channels_paused', 'Channels that pause after a failure')
  return {
    metrics: [waiting, oldest, paused],
    set(database: string, state: OutboxState): void {
      waiting.set({ database }, state.waiting)
      oldest.set({ database }, state.oldestWaitingS ?? 0)
      paused.set({ database }, state.channelsPaused)
    },
  }
}

function createDatabaseGauges() {
  const bytes = gauge('keystride_database_bytes', 'Size of the database on disk, without the write-ahead log')
  const schema = gauge('keystride_schema_info', 'Latest migration, and the version whose functions the database has', [
    'schema',
    'functions',
    'server',
  ])
  return {
    metrics: [bytes, schema],
    set(database: string, facts: DatabaseFacts): void {
      bytes.set({ database }, facts.bytes)
      const { schemaVersion, functionsVersion, serverVersion } = facts
      schema.set({ database, schema: schemaVersion, functions: functionsVersion, server: serverVersion }, 1)
    },
  }
}
