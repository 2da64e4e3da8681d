import { Refusal } from '../../../domain/refusal.js'

/** A call that waits for a statement which it shares with others. */
export interface Waiting<Asked, Told> {
  readonly asked: Asked
  resolve(told: Told): void
  reject(error: unknown): void
}

interface SharedStatementOptions<Asked, Told> {
  /** One statement for all of these; tells as many, in their order. */
  readonly run: (batch: readonly Asked[]) => Promise<readonly Told[]>
  /** Takes off the queue what one statement may hold, with regard to those under way. */
  readonly take: (
    queue: Waiting<Asked, Told>[],
    underWay: readonly Waiting<Asked, Told>[],
  ) => readonly Waiting<Asked, Told>[]
  /** A statement waits for no more calls than so many. */
  readonly worthWaitingFor: number
  /** While one statement is under way another begins from so many waiting calls on. */
  readonly worthAnother: number
}

/** A third would take a connection from other work, and the calls that arrive meanwhile from each other. */
const STATEMENTS_AT_ONCE = 2

/**
 * One statement for many calls: what arrives while one is under way shares the next, so an idle service adds no wait, and
 * a busy one pays the price of a statement once for many. A batch that fails as a whole is tried again call by call, so
 * that only the bad one fails; a `Refusal` is everybody's.
 */
export function shareStatement<Asked, Told>(
  options: SharedStatementOptions<Asked, Told>,
): (asked: Asked) => Promise<Told> {
  const { run, take, worthWaitingFor, worthAnother } = options
  const queue: Waiting<Asked, Told>[] = []
  let underWay: readonly (readonly Waiting<Asked, Told>[])[] = []
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

  /** No timer: as long as each turn of the event loop brings more, it belongs to the same statement. */
  async function gather(): Promise<void> {
    for (let before = 0; queue.length > before && queue.length < worthWaitingFor; ) {
      before = queue.length
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Tells those of the batch what became of them. */
  async function settle(batch: readonly Waiting<Asked, Told>[]): Promise<void> {
    try {
      const told = await run(batch.map(({ asked }) => asked))
      // Sound: `run` tells as many as it was asked.
      for (const [i, waiting] of batch.entries()) waiting.resolve(told[i] as Told)
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
