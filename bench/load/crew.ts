import { Worker } from 'node:worker_threads'
import type { Crew as CrewSettings, FromWorker, Step, ToWorker } from './messages.js'
import { CannotTest, unknownKey } from './target.js'

/** A second of a step and its figures. */
export type SeenMessage = Extract<FromWorker, { kind: 'seen' }>

/** All threads of the load generator. */
export interface Crew {
  /** Returns the number of enrolled people: fewer than `people` if enrolling failed. */
  enroll(people: number, onSeen: (seen: SeenMessage) => void, onProgress: () => void): Promise<number>
  /** Returns the number of people after the step: some may have joined. */
  step(step: Step, onSeen: (seen: SeenMessage, worker: number) => void): Promise<number>
  /** Returns the number of people that could not be removed. */
  remove(onProgress: () => void, onKept: (last: string) => void): Promise<number>
  /** Begins nothing more; requests in flight finish. */
  stop(): void
  close(): Promise<void>
}

interface Hears {
  readonly onSeen?: (seen: SeenMessage, worker: number) => void
  readonly onProgress?: () => void
  readonly onKept?: (last: string) => void
}

/** Starts the threads of the load generator. If the key becomes unknown, the work ends with `CannotTest`. */
export function startCrew(settings: Omit<CrewSettings, 'worker'>): Crew {
  const shareOf = (all: number, worker: number) => Math.floor((all + settings.workers - 1 - worker) / settings.workers)
  const threads = Array.from({ length: settings.workers }, (_, worker) => {
    const workerData = { ...settings, worker, connections: shareOf(settings.connections, worker) }
    return new Worker(new URL('./worker.js', import.meta.url), { workerData })
  })
  const send = (message: ToWorker) => {
    for (const thread of threads) thread.postMessage(message)
  }

  /** Sends a message to each thread and passes on their messages until all are done. */
  const together = async (
    messageOf: (worker: number) => ToWorker,
    { onSeen, onProgress, onKept }: Hears,
  ): Promise<number> => {
    const each = threads.map(
      (thread, worker) =>
        new Promise<number>((resolve, reject) => {
          const settle = (act: () => void) => {
            thread.off('message', hear).off('error', fail)
            act()
          }
          const fail = (error: Error) => settle(() => reject(error))
          const hear = (message: FromWorker) => {
            if (message.kind === 'seen') onSeen?.(message, worker)
            else if (message.kind === 'progress') onProgress?.()
            else if (message.kind === 'kept') onKept?.(message.last)
            else if (message.kind === 'done') settle(() => resolve(message.people))
            else
              fail(message.kind === 'failed' ? new Error(message.message) : new CannotTest(unknownKey(settings.core)))
          }
          thread.on('message', hear).on('error', fail)
          thread.postMessage(messageOf(worker))
        }),
    )
    return (await Promise.all(each)).reduce((sum, people) => sum + people, 0)
  }

  return {
    enroll: (people, onSeen, onProgress) =>
      together((worker) => ({ kind: 'enroll', people: shareOf(people, worker) }), { onSeen, onProgress }),
    step: (step, onSeen) => together(() => ({ kind: 'step', step }), { onSeen }),
    remove: (onProgress, onKept) => together(() => ({ kind: 'remove' }), { onProgress, onKept }),
    stop: () => send({ kind: 'stop' }),
    async close() {
      send({ kind: 'close' })
      await Promise.all(threads.map((thread) => thread.terminate()))
    },
  }
}
