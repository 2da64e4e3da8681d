import { Histogram, type Metric } from 'prom-client'
import { closedForMs } from '../domain/attempts.js'
import type { Scoring } from '../scoring/scoring.js'
import type { AttemptLockStore } from '../storage/attempt-lock.js'
import type { AttemptRecord, AuthenticationStore } from '../storage/authentication.js'
import type { ProfileStore } from '../storage/profile.js'
import { createCounts } from './counts.js'

const CONFIDENCE_BUCKETS = Array.from({ length: 20 }, (_, i) => (i + 1) / 20)
const SCORING_BUCKETS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** The parts of the service whose work the metrics count. */
interface Watched {
  readonly scoring: Scoring
  readonly authentications: AuthenticationStore
  readonly profiles: ProfileStore
  readonly attemptLocks: AttemptLockStore
}

interface AttemptMetrics {
  /** Wraps the parts so that they count their work. */
  watch(parts: Watched): Watched
  readonly metrics: readonly Metric[]
}

/** Verdicts, confidences, bots, replays, locks and enrollments. Counts what the stores confirmed, in any flow. */
export function createAttemptMetrics(): AttemptMetrics {
  const verdicts = createVerdictMetrics()
  const enrollments = createEnrollmentMetrics()
  const patterns = createPatternMetrics()
  return {
    watch: ({ scoring, authentications, profiles, attemptLocks }) => ({
      scoring: patterns.watch(scoring),
      authentications: {
        ...authentications,
        async record(organizationId, attempt, change) {
          const outcome = await authentications.record(organizationId, attempt, change)
          if (outcome === 'recorded') verdicts.note(attempt)
          return outcome
        },
      },
      profiles: enrollments.watch(profiles),
      attemptLocks: {
        ...attemptLocks,
        async close(organizationId, memberId) {
          const closed = await attemptLocks.close(organizationId, memberId)
          if (closed) for (const method of METHODS) verdicts.locks.add([method, 'administrator'])
          return closed
        },
      },
    }),
    metrics: [...verdicts.metrics, ...enrollments.metrics, ...patterns.metrics],
  }
}

const METHODS = ['biometric', 'security_code'] as const

function createVerdictMetrics() {
  const verdicts = createCounts({
    name: 'keystride_verdicts_total',
    help: 'Recorded sign-in attempts, by method, recommended action and reason (none: the score alone decided)',
    labelNames: ['method', 'action', 'reason'],
  })
  const locks = createCounts({
    name: 'keystride_locks_total',
    help: 'Locks that began, by method and cause',
    labelNames: ['method', 'cause'],
  })
  const replays = createCounts({
    name: 'keystride_replays_total',
    help: 'Sign-in attempts with a replayed or edited pattern, by whether it was refused (REPLAY)',
    labelNames: ['refused'],
  })
  const confidence = new Histogram({
    name: 'keystride_attempt_confidence',
    help: 'Confidence of sign-in attempts by typing, bots and replays included',
    buckets: CONFIDENCE_BUCKETS,
    registers: [],
  })
  for (const method of METHODS) for (const cause of ['failures', 'administrator']) locks.add([method, cause], 0)
  for (const refused of ['true', 'false']) replays.add([refused], 0)
  return {
    metrics: [verdicts.metric, locks.metric, replays.metric, confidence],
    locks,
    note({ method, recommendedAction, reason, facts, ...attempt }: AttemptRecord): void {
      verdicts.add([method, recommendedAction, reason || 'none'])
      // An attempt is judged only while its method is open, so a failure that leaves it closed is the one that closed it.
      if (!attempt.authenticated && closedForMs(attempt.counters, method, attempt.createdAt) > 0)
        locks.add([method, 'failures'])
      if (facts === null) return
      confidence.observe(attempt.confidence)
      if (facts.replay) replays.add([String(facts.replayRejected || facts.editedCopyRejected)])
    },
  }
}

const ADDED = ['added', 'replay', 'closed', 'too-soon', 'link-ended', 'locked', 'absent'] as const

function createEnrollmentMetrics() {
  const patterns = createCounts({
    name: 'keystride_enrollment_patterns_total',
    help: 'Reference patterns offered to profiles, by outcome',
    labelNames: ['outcome'],
  })
  const profiles = createCounts({
    name: 'keystride_profile_changes_total',
    help: 'Profiles that were completed, adapted by a sign-in, or reset',
    labelNames: ['change'],
  })
  for (const outcome of ADDED) patterns.add([outcome], 0)
  for (const change of ['completed', 'adapted', 'reset']) profiles.add([change], 0)
  const counted = async (adding: ReturnType<ProfileStore['add']>) => {
    const added = await adding
    patterns.add([added.outcome])
    if (added.outcome === 'added' && added.completes) profiles.add(['completed'])
    return added
  }
  return {
    metrics: [patterns.metric, profiles.metric],
    watch: (store: ProfileStore): ProfileStore => ({
      ...store,
      add: (...call) => counted(store.add(...call)),
      replaceOldest: (...call) => counted(store.replaceOldest(...call)),
      addToSuccessor: (...call) => counted(store.addToSuccessor(...call)),
      async adapt(...call) {
        const adapted = await store.adapt(...call)
        if (adapted) profiles.add(['adapted'])
        return adapted
      },
      async reset(...call) {
        const reset = await store.reset(...call)
        if (reset !== null) profiles.add(['reset'])
        return reset
      },
    }),
  }
}

function createPatternMetrics() {
  const patterns = createCounts({
    name: 'keystride_patterns_total',
    help: 'Typing patterns read, by finding; a replay is found later and counted in keystride_replays_total',
    labelNames: ['finding'],
  })
  const latency = new Histogram({
    name: 'keystride_scoring_duration_seconds',
    help: 'From a pattern to its reading and score, waiting for a scoring thread included',
    buckets: SCORING_BUCKETS_S,
    registers: [],
  })
  for (const finding of ['sincere', 'bot', 'invalid']) patterns.add([finding], 0)
  // A pattern counts once, although it is read again when it is remembered or when the references have changed.
  const counted = new WeakSet<Uint8Array>()
  return {
    metrics: [patterns.metric, latency],
    watch: (scoring: Scoring): Scoring => ({
      ...scoring,
      async score(task) {
        const begun = performance.now()
        const result = await scoring.score(task)
        latency.observe((performance.now() - begun) / 1000)
        if (!counted.has(task.body)) patterns.add([!result.ok ? 'invalid' : result.reading.bot ? 'bot' : 'sincere'])
        counted.add(task.body)
        return result
      },
    }),
  }
}
