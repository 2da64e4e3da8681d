import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { INVARIANTS, type Invariant } from './invariants.js'
import { PLANTED } from './planted.js'
import { type Failure, shrunk, story } from './shrunk.js'
import { type Outcome, type Settings, simulate } from './simulation.js'
import type { Planted } from './world.js'

/** A seed begins without users. Within 4,000 steps it reaches a daily lock and most other states. */
const STEPS_A_SEED = 4_000
/** Plays this seed alone, to repeat a failure. */
const SEED = process.env.SIMULATOR_SEED === undefined ? null : Number(process.env.SIMULATOR_SEED)
/** Steps over all seeds, `STEPS_A_SEED` each; with SIMULATOR_SEED, steps of that seed. */
const STEPS_ALL = process.env.KEYSTRIDE_TESTS === 'all' ? 1_000_000 : 400_000
const STEPS = Number(process.env.SIMULATOR_STEPS ?? (SEED === null ? STEPS_ALL : STEPS_A_SEED))
const WITHOUT = (process.env.SIMULATOR_WITHOUT ?? '').split(',').filter((one) => one !== '') as NonNullable<
  Settings['without']
>
/** Most steps until a planted bug is found. */
const FOUND_WITHIN = 100_000
/** A step takes about 50 us here. The timeout allows ten times that, for a loaded machine. */
const PATIENCE_MS = Math.max(600_000, STEPS / 2)

// Thousands of refusals are thrown; without stack traces that is faster.
const { stackTraceLimit } = Error
beforeAll(() => {
  if (SEED === null) Error.stackTraceLimit = 0
})
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit
})

/** Plays seeds until one fails or the steps are over. */
async function play(first: number, steps: number, settings: Partial<Settings> = {}) {
  const counts = new Map<string, number>()
  let taken = 0
  for (let seed = first; taken < steps; seed++) {
    const given = { seed, steps: Math.min(STEPS_A_SEED, steps - taken), ...settings }
    const outcome = await simulate(given)
    taken += outcome.steps
    for (const [what, n] of outcome.counts) counts.set(what, (counts.get(what) ?? 0) + n)
    if (outcome.violation !== null) return { taken, last: seed, counts, failure: { settings: given, outcome } }
  }
  return { taken, last: first + Math.ceil(steps / STEPS_A_SEED) - 1, counts, failure: null }
}

describe.skipIf(SEED === null)('one seed', () => {
  it(
    `${SEED} keeps all invariants`,
    async () => {
      const settings = { seed: SEED ?? 0, steps: STEPS, without: WITHOUT }
      const outcome = await simulate(settings)
      if (outcome.violation !== null) expect.fail(story({ settings, outcome }))
    },
    PATIENCE_MS,
  )
})

describe.skipIf(SEED !== null)(`${STEPS.toLocaleString('en')} steps of people, processes, stores and faults`, () => {
  it(
    'keep all invariants and reach all states of the list',
    async () => {
      const begun = performance.now()
      const { taken, last, counts, failure } = await play(1, STEPS, { without: WITHOUT })
      const s = (performance.now() - begun) / 1000
      console.log(
        `${taken.toLocaleString('en')} steps, seeds 1 to ${last}, in ${s.toFixed(0)} s: ${Math.round(taken / s).toLocaleString('en')} steps/s`,
      )
      if (failure !== null) expect.fail(`${story(failure)}\n\nshortest failure found:\n${story(await shrunk(failure))}`)
      expect(MET.filter((what) => !counts.has(what))).toEqual([])
    },
    PATIENCE_MS,
  )
})

describe.skipIf(SEED !== null)('a planted bug', () => {
  it.each(PLANTED)(
    'is found: $name ($by)',
    async (planted: Planted) => {
      const { taken, last, failure } = await play(1, FOUND_WITHIN, { planted, only: planted.by })
      expect(failure?.outcome.violation?.invariant).toBe(planted.by)
      console.log(
        `${planted.name}: ${planted.by} at step ${failure?.outcome.steps} of seed ${last}, ${taken} steps in all`,
      )
    },
    PATIENCE_MS,
  )

  it('exists for each invariant except the one that a call ends with an answer or a refusal', () => {
    const broken = new Set(PLANTED.map(({ by }) => by))
    expect(Object.keys(INVARIANTS).filter((name) => !broken.has(name as Invariant))).toEqual(['bug'])
  })

  it(
    'is reported with the seed that repeats it and with the shortest failure',
    async () => {
      const planted = PLANTED.find(({ by }) => by === 'I10')
      const { failure } = await play(1, FOUND_WITHIN, { ...(planted && { planted }), only: 'I10' })
      const least = await shrunk(failure as Failure) // the test above finds it
      expect(least.outcome.steps).toBeLessThan(failure?.outcome.steps ?? 0)
      expect(least.settings.without).toEqual(['flush', 'crash', 'timeOut', 'company'])
      expect(await simulate(least.settings)).toEqual(least.outcome)
      const { seed, steps } = least.outcome
      const command = `SIMULATOR_SEED=${seed} SIMULATOR_STEPS=${steps} SIMULATOR_WITHOUT=flush,crash,timeOut,company`
      expect(story(least)).toContain(command)
      expect(least.outcome.last.at(-1)).toContain('"action":"')
    },
    PATIENCE_MS,
  )
})

it.skipIf(SEED !== null)('a seed gives the same run every time', async () => {
  const twice: Outcome[] = []
  for (let i = 0; i < 2; i++) twice.push(await simulate({ seed: 11, steps: 2_000 }))
  expect(twice[0]).toEqual(twice[1])
})

/** States and events that a run of a million steps must reach. */
const MET = [
  // Calls that were answered.
  ...['bootstrap', 'create', 'enroll', 'verify', 'verify code', 'legacy verify', 'legacy link', 'choose', 'issue'],
  ...['clear', 'reset', 'remove one', 'queue', 'make link', 'open link', 'link step', 'revoke links', 'delete'],
  ...['change', 'members', 'unlock', 'act'],
  // Refusals.
  ...['session-missing', 'member-required', 'member-mismatch', 'user-not-found', 'pattern-not-found', 'account-type'],
  ...['member-exists', 'pattern-invalid', 'bot-detected', 'replay-detected', 'profile-complete', 'link-unknown'],
  ...['rate-limited', 'degraded', 'profile-locked'],
  // Fates of calls, processes and stores.
  ...['timed out', 'timed out, done', 'timed out, late', 'done late', 'lost', 'lost, done', 'the process dies'],
  ...['the sessions are flushed', 'the database dies'],
  // States and ends.
  ...['not-ready', 'in-progress', 'ok', 'full', 'reset', 'expired'],
  ...['link completed', 'link replaced', 'link revoked', 'link expired', 'link erased', 'link reset'],
  // Free attempts.
  ...['free: refused', 'free: enroll'],
  // Steps of the lock ladder.
  ...['biometric: 5 in a row', 'biometric: 10 in a row', 'biometric: 15 in a row', 'biometric: 20 in a day'],
  ...['security_code: 3 in a row', 'security_code: 6 in a row', 'security_code: 10 in a row'],
]
