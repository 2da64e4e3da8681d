import type { MetricsJson } from '../http/metrics.js'
import type { RateAccounts } from '../storage/rate-account.js'

/** What a front tells its supervisor. */
export type FromFront =
  | { readonly kind: 'serving' }
  | { readonly kind: 'here'; readonly id: number }
  | { readonly kind: 'ask-metrics'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricsJson }
  | { readonly kind: 'readiness'; readonly id: number; readonly why: string | null }
  | { readonly kind: 'settings-changed'; readonly id: number; readonly organizationId: string }
  | { readonly kind: 'forgotten'; readonly id: number }
  | { readonly kind: 'spend-rate'; readonly id: number; readonly keyId: string; readonly spentMs: number }

/** What a supervisor tells its fronts. */
export type ToFront =
  | { readonly kind: 'are-you-here'; readonly id: number }
  | { readonly kind: 'give-metrics'; readonly id: number }
  | { readonly kind: 'are-you-ready'; readonly id: number }
  | { readonly kind: 'metrics-text'; readonly id: number; readonly text: string }
  | { readonly kind: 'forget-settings'; readonly id: number; readonly organizationId: string }
  | { readonly kind: 'all-forgot'; readonly id: number }
  | { readonly kind: 'rate-spent'; readonly id: number; readonly aheadMs: number }

/** This process as one of several fronts. */
export interface Front {
  serving(): void
  /** Gives what the supervisor asks for; from then on `text` is the metrics of all fronts. */
  metrics(own: { json: () => Promise<MetricsJson>; text: () => Promise<string> }): () => Promise<string>
  /** Tells the supervisor, where it asks, why this front should be sent no request; null where it should. */
  readiness(unready: () => string | null): void
  /** Runs where another front changed an organization's settings. */
  onSettingsChanged(forget: (organizationId: string) => void): void
  /** Resolves once the other fronts have heard of it, or are too busy to: they see it a second later at the most. */
  settingsChanged(organizationId: string): Promise<void>
  /** What the keys have asked of all fronts. */
  readonly rateAccounts: RateAccounts
  /** Runs when the supervisor is gone: nobody would stop this process any more. */
  onOrphaned(stop: () => void): void
}

const METRICS_MS = 2000
const FORGET_MS = 200
const SPEND_MS = 1000

/** Null where this process is the whole service. */
export function asFront(env: NodeJS.ProcessEnv): Front | null {
  if (env.KEYSTRIDE_FRONT === undefined || process.send === undefined) return null
  const tell = (message: FromFront): void => {
    if (process.connected) process.send?.(message)
  }
  const waiting = new Map<number, (answer: string) => void>()
  let asked = 0
  /** What the supervisor answers; undefined where it does not in time. */
  const ask = (message: (id: number) => FromFront, withinMs: number): Promise<string | undefined> =>
    new Promise((resolve) => {
      const id = asked++
      const done = (answer?: string): void => {
        clearTimeout(late)
        waiting.delete(id)
        resolve(answer)
      }
      const late = setTimeout(done, withinMs)
      waiting.set(id, done)
      tell(message(id))
    })
  process.on('message', (message: ToFront) => {
    if (message.kind === 'are-you-here') tell({ kind: 'here', id: message.id })
    else if (message.kind === 'metrics-text') waiting.get(message.id)?.(message.text)
    else if (message.kind === 'all-forgot') waiting.get(message.id)?.('')
    else if (message.kind === 'rate-spent') waiting.get(message.id)?.(String(message.aheadMs))
  })
  return {
    serving: () => tell({ kind: 'serving' }),
    metrics({ json, text }) {
      process.on('message', (message: ToFront) => {
        if (message.kind !== 'give-metrics') return
        void json().then((metrics) => tell({ kind: 'metrics', id: message.id, metrics }))
      })
      return async () => (await ask((id) => ({ kind: 'ask-metrics', id }), METRICS_MS)) ?? text()
    },
    readiness(unready) {
      process.on('message', (message: ToFront) => {
        if (message.kind === 'are-you-ready') tell({ kind: 'readiness', id: message.id, why: unready() })
      })
    },
    onSettingsChanged(forget) {
      process.on('message', (message: ToFront) => {
        if (message.kind !== 'forget-settings') return
        forget(message.organizationId)
        tell({ kind: 'forgotten', id: message.id })
      })
    },
    async settingsChanged(organizationId) {
      await ask((id) => ({ kind: 'settings-changed', id, organizationId }), FORGET_MS)
    },
    rateAccounts: {
      async spend(_, keyId, spentMs) {
        const aheadMs = await ask((id) => ({ kind: 'spend-rate', id, keyId, spentMs }), SPEND_MS)
        if (aheadMs === undefined) throw new Error('the supervisor does not answer')
        return Number(aheadMs)
      },
    },
    onOrphaned: (stop) => process.on('disconnect', stop),
  }
}
