import cluster from 'node:cluster'
import type { ErasedPerson } from '../domain/erased-person.js'
import { Refusal } from '../domain/refusal.js'
import type { MetricsJson } from '../http/metrics.js'
import type { RateAccounts } from '../storage/rate-account.js'
import { createQuestions } from './questions.js'
import { version } from './version.js'

/** Messages of a front to its supervisor. */
export type FromFront =
  | { readonly kind: 'serving'; readonly version: string }
  | { readonly kind: 'here'; readonly id: number }
  | { readonly kind: 'ask-metrics'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricsJson }
  | { readonly kind: 'readiness'; readonly id: number; readonly why: string | null }
  | { readonly kind: 'settings-changed'; readonly id: number; readonly organizationId: string }
  | { readonly kind: 'person-erased'; readonly id: number; readonly person: ErasedPerson }
  | { readonly kind: 'forgotten'; readonly id: number }
  | { readonly kind: 'spend-rate'; readonly id: number; readonly keyId: string; readonly spentMs: number }
  | { readonly kind: 'ask-processes'; readonly id: number }
  | { readonly kind: 'organizations-seen'; readonly organizations: readonly string[] }

/** Messages of a supervisor to its fronts. */
export type ToFront =
  | { readonly kind: 'are-you-here'; readonly id: number }
  | { readonly kind: 'give-metrics'; readonly id: number }
  | { readonly kind: 'are-you-ready'; readonly id: number }
  | { readonly kind: 'metrics-text'; readonly id: number; readonly text: string }
  | { readonly kind: 'forget-settings'; readonly id: number; readonly organizationId: string }
  | { readonly kind: 'forget-person'; readonly id: number; readonly person: ErasedPerson }
  | { readonly kind: 'all-forgot'; readonly id: number }
  | { readonly kind: 'rate-spent'; readonly id: number; readonly aheadMs: number }
  | { readonly kind: 'processes'; readonly id: number; readonly processes: readonly FrontState[] }
  | { readonly kind: 'organizations-elsewhere'; readonly id: number; readonly organizations: readonly string[] }

/** A serving front, as its supervisor knows it. */
export interface FrontState {
  readonly index: number
  readonly version: string
  readonly uptimeS: number
  readonly restarts: number
}

/** The connection of one of several fronts to their supervisor. */
export interface Front {
  /** Reports that this front serves. */
  serving(): void
  /**
   * Answers the supervisor's requests for this front's metrics; returns a reader of the metrics of all fronts. The reader rejects
   * with the refusal `degraded` if the supervisor does not answer in time: the counts of one front would look like a reset.
   */
  metrics(own: { json: () => Promise<MetricsJson> }): () => Promise<string>
  /** Answers the supervisor's readiness checks: the reason not to send requests to this front, or null. */
  readiness(unready: () => string | null): void
  /** Calls `forget` when another front has changed an organization's settings. */
  onSettingsChanged(forget: (organizationId: string) => void): void
  /** Resolves once the other fronts have the change, or after a timeout; a busy front has it at most a second later. */
  settingsChanged(organizationId: string): Promise<void>
  /** Calls `forget` when another front has deleted a person. */
  onPersonErased(forget: (person: ErasedPerson) => void): void
  /** Like `settingsChanged`, for a deleted person. */
  personErased(person: ErasedPerson): Promise<void>
  /** Every front that serves; null if the supervisor does not answer in time. */
  processes(): Promise<readonly FrontState[] | null>
  /** Reports the organizations that this front has seen lately. */
  organizationsSeen(organizations: readonly string[]): void
  /** Calls `note` when another front has seen organizations. */
  onOrganizationsSeen(note: (organizations: readonly string[]) => void): void
  /** Rate accounts of the API keys, shared by all fronts. */
  readonly rateAccounts: RateAccounts
  /** Calls `stop` when the supervisor has exited: no other process would stop this one. */
  onOrphaned(stop: () => void): void
}

const METRICS_MS = 2000
const FORGET_MS = 200
const SPEND_MS = 1000
const PROCESSES_MS = 1000

/** Connects to the supervisor; null if this process is the whole service. */
export function connectSupervisor(env: NodeJS.ProcessEnv): Front | null {
  if (env.KEYSTRIDE_FRONT === undefined || process.send === undefined) return null
  const questions = createQuestions<ToFront>()
  process.on('message', questions.hear)
  const ask = <K extends ToFront['kind']>(kind: K, message: (id: number) => FromFront, withinMs: number) =>
    questions.ask(kind, (id) => send(message(id)), withinMs)
  on('are-you-here', ({ id }) => send({ kind: 'here', id }))
  return {
    serving: () => send({ kind: 'serving', version: version() }),
    metrics({ json }) {
      on('give-metrics', ({ id }) => void json().then((metrics) => send({ kind: 'metrics', id, metrics })))
      return async () => {
        const found = await ask('metrics-text', (id) => ({ kind: 'ask-metrics', id }), METRICS_MS)
        if (found !== null) return found.text
        throw new Refusal('degraded', `the supervisor has not answered within ${METRICS_MS} ms: scrape again`)
      }
    },
    readiness(unready) {
      on('are-you-ready', ({ id }) => send({ kind: 'readiness', id, why: unready() }))
    },
    onSettingsChanged(forget) {
      on('forget-settings', ({ id, organizationId }) => {
        forget(organizationId)
        send({ kind: 'forgotten', id })
      })
    },
    async settingsChanged(organizationId) {
      await ask('all-forgot', (id) => ({ kind: 'settings-changed', id, organizationId }), FORGET_MS)
    },
    onPersonErased(forget) {
      on('forget-person', ({ id, person }) => {
        forget(person)
        send({ kind: 'forgotten', id })
      })
    },
    async personErased(person) {
      await ask('all-forgot', (id) => ({ kind: 'person-erased', id, person }), FORGET_MS)
    },
    async processes() {
      const found = await ask('processes', (id) => ({ kind: 'ask-processes', id }), PROCESSES_MS)
      return found === null ? null : found.processes
    },
    organizationsSeen: (organizations) => send({ kind: 'organizations-seen', organizations }),
    onOrganizationsSeen(note) {
      on('organizations-elsewhere', ({ organizations }) => note(organizations))
    },
    rateAccounts: {
      async spend(_, keyId, spentMs) {
        const found = await ask('rate-spent', (id) => ({ kind: 'spend-rate', id, keyId, spentMs }), SPEND_MS)
        if (found === null) throw new Error('the supervisor does not answer')
        return found.aheadMs
      },
    },
    onOrphaned(stop) {
      // Without this a worker of a cluster exits at once, in the middle of its requests.
      if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
      process.on('disconnect', stop)
    },
  }
}

/** Handles each message of a kind from the supervisor. */
function on<K extends ToFront['kind']>(kind: K, handle: (message: Extract<ToFront, { kind: K }>) => void): void {
  process.on('message', (message: ToFront) => {
    // Sound: the kinds are equal.
    if (message.kind === kind) handle(message as Extract<ToFront, { kind: K }>)
  })
}

function send(message: FromFront): void {
  // Without a callback, the error of a message to a supervisor that has just exited would end this process before it has stopped.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}
