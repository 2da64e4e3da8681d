import { type Outcome, type Settings, simulate } from './simulation.js'

/** A seed begins without users. Within 4,000 steps it reaches a daily lock and most other states. */
export const STEPS_A_SEED = 4_000

interface Played {
  readonly taken: number
  readonly counts: ReadonlyMap<string, number>
  /** The seed that broke an invariant; null if none did. */
  readonly failure: Outcome | null
}

/** Plays seeds of `STEPS_A_SEED` steps each until one fails or the steps are over. */
export async function play(first: number, steps: number, settings: Partial<Settings> = {}): Promise<Played> {
  const counts = new Map<string, number>()
  let taken = 0
  for (let seed = first; taken < steps; seed++) {
    const outcome = await simulate({ seed, steps: Math.min(STEPS_A_SEED, steps - taken), ...settings })
    taken += outcome.steps
    for (const [what, n] of outcome.counts) counts.set(what, (counts.get(what) ?? 0) + n)
    if (outcome.violation !== null) return { taken, counts, failure: outcome }
  }
  return { taken, counts, failure: null }
}

/** The report of a failure, with the command that repeats it. */
export const story = ({ seed, steps, violation, last }: Outcome): string =>
  [
    `seed ${seed} broke ${violation?.invariant} at step ${steps}: ${violation?.found}`,
    `again: SIMULATOR_SEED=${seed} SIMULATOR_STEPS=${steps} npm test -- test/simulator/simulator.test.ts`,
    ...last,
  ].join('\n')
