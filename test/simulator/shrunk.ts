import { type Outcome, type Settings, simulate } from './simulation.js'

/** Most seeds tried for each simplification. */
const SEEDS_TRIED = 20
const LEAST = ['flush', 'crash', 'timeOut', 'company'] as const

export interface Failure {
  readonly settings: Settings
  readonly outcome: Outcome
}

/**
 * A shorter failure of the same invariant. Leaves out kinds of faults and concurrent calls one after the other, as long
 * as some seed still fails within the steps of the last failure. Each omission changes all random draws, so it is tried
 * on the following seeds.
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

/** The report of a failure, with the command that repeats it. */
export function story({ settings, outcome: { violation, steps, last } }: Failure): string {
  const without = settings.without?.length ? ` SIMULATOR_WITHOUT=${settings.without.join()}` : ''
  return [
    `seed ${settings.seed} broke ${violation?.invariant} at step ${steps}: ${violation?.found}`,
    `again: SIMULATOR_SEED=${settings.seed} SIMULATOR_STEPS=${steps}${without} npm test -- test/simulator/simulator.test.ts`,
    ...last,
  ].join('\n')
}
