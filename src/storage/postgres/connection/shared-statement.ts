import { Refusal } from '../../../domain/refusal.js'

/** A call that waits for a statement shared with other calls. */
export interface Waiting<Asked, Answer> {
  readonly asked: Asked
  resolve(answer: Answer): void
  reject(error: unknown): void
}

interface SharedStatementOptions<Asked, Answer> {
  /** Runs one statement for the batch; returns one answer per call, in the same order. */
  readonly run: (batch: readonly Asked[]) => Promise<readonly Answer[]>
  /** Removes the calls for one statement from the queue, given the calls under way. */
  readonly take: (
    queue: Waiting<Asked, Answer>[],
    underWay: readonly Waiting<Asked, Answer>[],
  ) => readonly Waiting<Asked, Answer>[]
  /** A statement waits for at most this many calls. */
  readonly worthWaitingFor: number
  /** While one statement is under way, another one begins once this many calls wait. */
  readonly worthAnother: number
}

/** A third concurrent statement would take a connection from other work, and make the batches smaller. */
const STATEMENTS_AT_ONCE = 2

/**
 * Batches concurrent calls into one statement: calls that arrive while a statement is under way share the next one. So an idle
 * service adds no wait, and a busy one shares the cost of a statement. A batch that fails is retried call by call, so that only the
 * bad call fails. A `Refusal` rejects the whole batch.
 */
export function shareStatement<Asked, Answer>(
  options: SharedStatementOptions<Asked, Answer>,
): (asked: Asked) => Promise<Answer> {
  const { run, take, worthWaitingFor, worthAnother } = options
  const queue: Waiting<Asked, Answer>[] = []
  let underWay: readonly (readonly Waiting<Asked, Answer>[])[] = []
  let statements = 0

  async function flush(): Promise<void> {
    statements += 1
    for (;;) {
      await gather()
      const batch = take(queue, underWay.flat())
      if (batch.length === 0) break
      underWay = [...underWay, batch]
      await settle(batch)
      underWay = underWay.filter((other) => other !== batch)
    }
    statements -= 1
  }

  /** Waits, without a timer, while each iteration of the event loop brings further calls. */
  async function gather(): Promise<void> {
    for (let before = 0; queue.length > before && queue.length < worthWaitingFor; ) {
      before = queue.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Runs the batch and settles its calls. */
  async function settle(batch: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await run(batch.map(({ asked }) => asked))
      // Sound: `run` returns one answer per call.
      for (const [i, waiting] of batch.entries()) waiting.resolve(answers[i] as Answer)
    } catch (error) {
      if (batch.length === 1 || error instanceof Refusal) for (const waiting of batch) waiting.reject(error)
      else for (const waiting of batch) await settle([waiting])
    }
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      queue.push({ asked, resolve, reject })
      if (statements === 0 || (statements < STATEMENTS_AT_ONCE && queue.length >= worthAnother)) void flush()
    })
}
