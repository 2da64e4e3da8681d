import { strictEqual } from 'node:assert'
import fc from 'fast-check'
import {
  type BiometricStatus,
  biometricStatus,
  canVerify,
  ENROLLMENT,
  outdated,
  type ProfileTargets,
} from '../../src/domain/biometric-status.js'
import { SAMPLE_FORMAT } from '../../src/domain/sample-format.js'

export type Profile = Parameters<typeof biometricStatus>[0]

/** A profile with a number of references, complete since `completedAt`. */
export const profileOf = (nPatternsRef: number, completedAt: number | null): Profile => ({
  nPatternsRef,
  everReset: false,
  completedAt,
  lastTypedAt: null,
  sampleFormat: SAMPLE_FORMAT,
  successor: null,
})
const collected = (profile: Profile) => profile.successor?.nVisible ?? 0
const collecting = (n: number) => ({ owner: ENROLLMENT, sampleFormat: SAMPLE_FORMAT, nVisible: n, nSensitive: 0 })

/** The rules under test, shipped or with a planted bug: the status, and the profile after each write of the stores. */
export interface StatusRules {
  readonly status: typeof biometricStatus
  readonly canVerify: typeof canVerify
  /** The profile after one more reference. The tests of the profile store check the same rules. */
  readonly afterAdd: (profile: Profile, target: number, now: number) => Profile
  /** One more reference of the generation that will replace an outdated one. */
  readonly afterCollected: (profile: Profile, target: number, now: number) => Profile
  readonly afterRemoval: (profile: Profile) => Profile
  readonly afterReset: (profile: Profile) => Profile
  readonly afterSuccess: (profile: Profile, now: number) => Profile
}

export const SHIPPED: StatusRules = {
  status: biometricStatus,
  canVerify,
  afterAdd: (profile, target, now) => ({
    ...profile,
    nPatternsRef: profile.nPatternsRef + 1,
    completedAt: profile.nPatternsRef + 1 === target ? now : profile.completedAt,
  }),
  afterCollected: (profile, target, now) => {
    const n = collected(profile) + 1
    if (n < target) return { ...profile, successor: collecting(n) }
    return { ...profile, nPatternsRef: n, successor: null, completedAt: now }
  },
  afterRemoval: (profile) => ({
    ...profile,
    nPatternsRef: profile.nPatternsRef - 1,
    everReset: profile.everReset || profile.nPatternsRef === 1,
  }),
  afterReset: (profile) => ({ ...profile, nPatternsRef: 0, everReset: true, completedAt: null, successor: null }),
  afterSuccess: (profile, now) => ({ ...profile, lastTypedAt: now }),
}

const DAY = 24 * 3_600_000

/** The state in the table of the biometric profile (docs/interface-tests.md). Events change it; no state is computed. */
interface TableState {
  status: BiometricStatus
  n: number
  /** References of an expired generation while the next one is enrolled; otherwise 0. */
  nOld: number
  /** Time of its completion or of its last success. */
  goodAt: number
}

/** Result of an enroll call. */
type Enrolled = 'stored' | 'nothing stored' | '409'

/** A profile under the rules, with its state in the table. */
export function play(rules: StatusRules, given: ProfileTargets) {
  let now = 1_800_000_000_000
  let targets = given
  let profile = profileOf(0, null)
  const table: TableState = { status: 'not-ready', n: 0, nOld: 0, goodAt: 0 }
  const status = () => rules.status(profile, targets, now)
  const isComplete = () => table.status === 'ok' || table.status === 'full'

  const byCount = (n: number): BiometricStatus => {
    if (n >= targets.fullRefPatterns) return 'full'
    if (n >= targets.targetRefPatterns) return 'ok'
    return n > 0 ? 'in-progress' : 'reset'
  }

  const acts = {
    wait(days: number) {
      now += days * DAY
      if (isComplete() && now - table.goodAt > 365 * DAY) table.status = 'expired'
    },
    enroll(authenticated: boolean): Enrolled {
      const before = status()
      if (before === 'full') return 'nothing stored'
      if (before === 'ok' && !authenticated) return '409'
      const store = outdated(profile, targets, now) ? rules.afterCollected : rules.afterAdd
      profile = store(profile, targets.targetRefPatterns, now)

      if (table.status === 'expired') [table.n, table.nOld] = [0, table.n]
      const wasComplete = isComplete()
      table.n += 1
      table.status = byCount(table.n)
      if (!isComplete()) return 'stored'
      table.nOld = 0
      if (!wasComplete) table.goodAt = now
      return 'stored'
    },
    /** Removes the newest reference. */
    remove() {
      if (table.nOld > 0) {
        const left = collected(profile) - 1
        profile = { ...profile, successor: left === 0 ? null : collecting(left) }
        table.n -= 1
        if (table.n > 0) return
        ;[table.n, table.nOld] = [table.nOld, 0]
        table.status = table.n < targets.targetRefPatterns ? 'in-progress' : 'expired'
        return
      }
      if (profile.nPatternsRef === 0) return
      profile = rules.afterRemoval(profile)
      table.n -= 1
      if (table.status !== 'expired' || table.n < targets.targetRefPatterns) table.status = byCount(table.n)
    },
    reset() {
      profile = rules.afterReset(profile)
      table.n = 0
      table.nOld = 0
      table.status = 'reset'
    },
    succeed() {
      const open = rules.canVerify(status())
      strictEqual(open, isComplete(), 'typing is open')
      if (!open) return
      profile = rules.afterSuccess(profile, now)
      table.goodAt = now
    },
    raiseTarget(by: number) {
      const target = Math.min(targets.targetRefPatterns + by, targets.fullRefPatterns)
      targets = { ...targets, targetRefPatterns: target }
      if (table.n > 0 && table.n < target) table.status = 'in-progress'
    },
  }
  return { ...acts, status, expected: () => table.status, n: () => profile.successor?.nVisible ?? profile.nPatternsRef }
}
export type Play = ReturnType<typeof play>

type Command = fc.Command<Record<string, never>, Play>
const command = (name: string, arg: unknown, act: (played: Play) => void): Command => ({
  check: () => true,
  run: (_, played) => {
    act(played)
    strictEqual(played.status(), played.expected(), `after ${name}`)
  },
  toString: () => `${name}(${String(arg)})`,
})

const COMMANDS: fc.Arbitrary<Command>[] = [
  fc.boolean().map((yes) => command('enroll', yes, (played) => played.enroll(yes))),
  fc.integer({ min: 1, max: 12 }).map((n) =>
    command('enroll', `${n} times`, (played) => {
      for (let i = 0; i < n; i++) played.enroll(true)
    }),
  ),
  fc.constantFrom(1, 100, 364, 365, 366).map((days) => command('wait', days, (played) => played.wait(days))),
  fc.constantFrom(1 / DAY, 1).map((days) => command('wait', days, (played) => played.wait(days))),
  fc.integer({ min: 1, max: 3 }).map((by) => command('raiseTarget', by, (played) => played.raiseTarget(by))),
  fc
    .constantFrom('remove', 'remove', 'reset', 'succeed', 'succeed')
    .map((name) => command(name, '', (played) => played[name as 'reset']())),
]

const targets = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 5 }))
  .map(([target, more]) => ({ targetRefPatterns: target, fullRefPatterns: target + more }))

/** Every run of commands leaves the status and the table in agreement. */
export const agreement = (rules: StatusRules) =>
  fc.property(targets, fc.commands(COMMANDS, { maxCommands: 30, size: 'max' }), (given, commands) => {
    fc.modelRun(() => ({ model: {}, real: play(rules, given) }), commands)
  })
