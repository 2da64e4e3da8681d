import { type Outcome, type Settings, simulate } from './simulation.js'

/** Each look at fewer faults takes so many seeds at the most. */
const SEEDS_TRIED = 20
const LEAST = ['flush', 'crash', 'timeOut', 'company'] as const

export interface Failure {
  readonly settings: Settings
  readonly outcome: Outcome
}

/**
 * A failure of the same invariant in fewer steps, with less going on: kinds of faults, and calls beside each other, are
 * left out one after the other as long as some seed still fails within the steps of the last. Leaving one out deals all
 * chances anew, so it is sought among the seeds that follow.
 */
export async function shrunk(failure: Failure): Promise<Failure> {
  let least = failure
  const look = async (changes: Partial<Settings>) => {
    for (let i = 0; i < SEEDS_TRIED; i++) {
      const settings = {
        ...least.settings,
        steps: least.outcome.steps - 1,
        ...changes,
        seed: failure.settings.seed + i,
      }
      const outcome = await simulate(settings)
      if (outcome.violation?.invariant !== failure.outcome.violation?.invariant) continue
      least = { settings: { ...settings, steps: outcome.steps }, outcome }
      return
    }
  }
  for (const one of LEAST) await look({ without: [...(least.settings.without ?? []), one], steps: least.outcome.steps })
  await look({})
  return least
}

/** What to read of a failure, and how to see it again. */
export function story({ settings, outcome: { violation, steps, last } }: Failure): string {
  const without = settings.without?.length ? ` SIMULATOR_WITHOUT=${settings.without.join()}` : ''
  return [
    `seed ${settings.seed} broke ${violation?.invariant} at step ${steps}: ${violation?.found}`,
    `again: SIMULATOR_SEED=${settings.seed} SIMULATOR_STEPS=${steps}${without} npm test -- test/simulator/simulator.test.ts`,
    ...last,
  ].join('\n')
}
