import { describe, expect, it } from 'vitest'
import { INVARIANTS, type Invariant } from './invariants.js'
import { PLANTED } from './planted.js'
import { play, STEPS_A_SEED, story } from './played.js'
import { type Outcome, simulate } from './simulation.js'

/** Plays this seed alone, to repeat a failure. */
const SEED = process.env.SIMULATOR_SEED === undefined ? null : Number(process.env.SIMULATOR_SEED)
/** Steps over all seeds, `STEPS_A_SEED` each; with SIMULATOR_SEED, steps of that seed. */
const STEPS = Number(process.env.SIMULATOR_STEPS ?? (SEED === null ? 40_000 : STEPS_A_SEED))
/** Ends only a test that hangs: a step takes about 30 µs. */
const timeout = Math.max(300_000, STEPS)
/** Most steps until a planted bug is found. */
const FOUND_WITHIN = 250_000

describe.skipIf(SEED === null)('one seed', { timeout }, () => {
  it(`${SEED} keeps all invariants`, async () => {
    const outcome = await simulate({ seed: SEED ?? 0, steps: STEPS })
    if (outcome.violation !== null) expect.fail(story(outcome))
  })
})

describe.skipIf(SEED !== null)('steps of people, processes, stores and faults', { timeout }, () => {
  it('keep all invariants', async () => {
    const { failure } = await play(1, STEPS)
    if (failure !== null) expect.fail(story(failure))
  })

  it('of one seed are the same every time', async () => {
    const once = await simulate({ seed: 11, steps: 2_000 })
    expect(await simulate({ seed: 11, steps: 2_000 })).toEqual(once)
  })
})

describe.skipIf(SEED !== null)('a planted bug', () => {
  it.each(PLANTED)('is found: $name ($by)', async (planted) => {
    const { taken, failure } = await play(1, FOUND_WITHIN, { planted, only: planted.by })
    expect(failure?.violation?.invariant).toBe(planted.by)
    const { seed, steps } = failure as Outcome // Sound: expected above.
    expect(story(failure as Outcome)).toContain(`SIMULATOR_SEED=${seed} SIMULATOR_STEPS=${steps} `)
    console.log(`${planted.name}: ${planted.by} at step ${steps} of seed ${seed}, ${taken} steps in all`)
  })

  it('exists for each invariant except the one that a call ends with an answer or a refusal', () => {
    const broken = new Set(PLANTED.map(({ by }) => by))
    expect(Object.keys(INVARIANTS).filter((name) => !broken.has(name as Invariant))).toEqual(['bug'])
  })
})
