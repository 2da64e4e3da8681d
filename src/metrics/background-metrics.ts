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
  /** Reads the state that is the same in every process. After a failure the metrics of that state are absent. */
  refresh(needs: Needs): Promise<void>
  /** Wraps a courier so that it counts its tries, except tests of channels. */
  watch(courier: Courier): Courier
  readonly metrics: readonly Metric[]
}

const JOB_STATES = ['waiting', 'later', 'running', 'failed'] as const

/** Queued jobs, the outbox of alerts, and the database. Several processes report the same state: combine them by `max`. */
export function createBackgroundMetrics(): BackgroundMetrics {
  const jobs = createJobGauges()
  const outbox = createOutboxGauges()
  const database = createDatabaseGauges()
  const tries = createCounts({
    name: 'keystride_alert_deliveries_total',
    help: 'Tries to deliver an alert, by channel and outcome',
    labelNames: ['channel', 'outcome'],
  })
  const groups = [jobs, outbox, database]
  return {
    metrics: [...groups.flatMap((group) => group.metrics), tries.metric],
    async refresh({ jobQueue, outbox: outboxStore, system }) {
      try {
        const [queues, waiting, facts] = await Promise.all([jobQueue.states(), outboxStore.state(), system.database()])
        jobs.set(queues)
        outbox.set(waiting)
        database.set(facts)
      } catch (error) {
        for (const { metrics } of groups) metrics.forEach(forget)
        throw error
      }
    },
    watch: (courier) => async (settings, secret, message) => {
      const outcome = await courier(settings, secret, message)
      if (message.test === null) tries.add([settings.channel, outcome])
      return outcome
    },
  }
}

/** A gauge without a value. */
function gauge(name: string, help: string, labelNames: string[] = []): Gauge {
  const made = new Gauge({ name, help, labelNames, registers: [], aggregator: 'max' })
  forget(made)
  return made
}

/** Removes every value. A reset gauge without labels would have the value 0. */
function forget(made: Gauge): void {
  made.reset()
  made.remove({})
}

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
    set(queues: readonly QueueState[]): void {
      for (const { queue, oldestWaitingS, lastSuccessAt, ...counts } of queues) {
        for (const state of JOB_STATES) count.set({ queue, state }, counts[state])
        oldest.set({ queue }, oldestWaitingS ?? 0)
        if (lastSuccessAt !== null) success.set({ queue }, lastSuccessAt / 1000)
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
    set(state: OutboxState): void {
      waiting.set(state.waiting)
      oldest.set(state.oldestWaitingS ?? 0)
      paused.set(state.channelsPaused)
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
    set(facts: DatabaseFacts): void {
      bytes.set(facts.bytes)
      schema.reset()
      schema.set({ schema: facts.schemaVersion, functions: facts.functionsVersion, server: facts.serverVersion }, 1)
    },
  }
}
