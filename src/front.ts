import type { MetricsJson } from './http/metrics.js'

/** What a front tells its supervisor. */
export type FromFront =
  | { readonly kind: 'serving' }
  | { readonly kind: 'ask-metrics'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricsJson }

/** What a supervisor tells its fronts. */
export type ToFront =
  | { readonly kind: 'give-metrics'; readonly id: number }
  | { readonly kind: 'metrics-text'; readonly id: number; readonly text: string }

/** This process as one of several fronts. */
export interface Front {
  serving(): void
  /** Gives what the supervisor asks for; from then on `text` is the metrics of all fronts. */
  metrics(own: { json: () => Promise<MetricsJson>; text: () => Promise<string> }): () => Promise<string>
  /** Runs when the supervisor is gone: nobody would stop this process any more. */
  onOrphaned(stop: () => void): void
}

const ANSWER_MS = 2000

/** Null where this process is the whole service. */
export function asFront(env: NodeJS.ProcessEnv): Front | null {
  if (env.KEYSTRIDE_FRONT === undefined || process.send === undefined) return null
  const tell = (message: FromFront): void => {
    if (process.connected) process.send?.(message)
  }
  const waiting = new Map<number, (text: string) => void>()
  let asked = 0
  return {
    serving: () => tell({ kind: 'serving' }),
    metrics({ json, text }) {
      process.on('message', (message: ToFront) => {
        if (message.kind === 'give-metrics')
          void json().then((metrics) => tell({ kind: 'metrics', id: message.id, metrics }))
        else waiting.get(message.id)?.(message.text)
      })
      return () =>
        new Promise((resolve) => {
          const id = asked++
          const done = (answer: string | Promise<string>): void => {
            clearTimeout(late)
            waiting.delete(id)
            resolve(answer)
          }
          const late = setTimeout(() => done(text()), ANSWER_MS)
          waiting.set(id, done)
          tell({ kind: 'ask-metrics', id })
        })
    },
    onOrphaned: (stop) => process.on('disconnect', stop),
  }
}
