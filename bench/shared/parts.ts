import { processorS } from './machine.js'

/** The processes of each part of a deployment; null for a store that was not started by the bench. */
export interface Parts {
  readonly front: readonly number[]
  readonly postgres: number | null
  readonly redis: number | null
}

/** Processor time by part, s; null on a system without /proc. `generator` is this process, which generates the load. */
export type UsedBy = Readonly<Record<keyof Parts | 'generator', number | null>>

const NOTHING: UsedBy = { front: null, postgres: null, redis: null, generator: null }

export function usedSoFar({ front, postgres, redis }: Parts): UsedBy {
  const { user, system } = process.cpuUsage()
  return {
    front: front.reduce<number | null>((sum, pid) => plus(sum, processorS(pid)), 0),
    postgres: postgres === null ? null : processorS(postgres),
    redis: redis === null ? null : processorS(redis),
    generator: (user + system) / 1e6,
  }
}

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

export function usedBetween(before: UsedBy | null, after: UsedBy): UsedBy {
  const from = before ?? NOTHING
  const of = (part: keyof UsedBy) => {
    const [begun, ended] = [from[part], after[part]]
    return begun === null || ended === null ? null : ended - begun
  }
  return { front: of('front'), postgres: of('postgres'), redis: of('redis'), generator: of('generator') }
}
