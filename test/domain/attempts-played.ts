import { deepStrictEqual, ok, strictEqual } from 'node:assert'
import fc from 'fast-check'
import {
  type AttemptKind,
  type AttemptWindow,
  afterFailure,
  afterNewCode,
  afterSuccess,
  attemptWindow,
  closedForMs,
  NO_ATTEMPTS,
  type SessionUse,
} from '../../src/domain/attempts.js'
import { DEFAULT_POLICY, type Policy } from '../../src/domain/policy.js'
import {
  type Entry,
  expectedWindow,
  failuresOf,
  isClosed,
  isOpen,
  lockMs,
  type MemberFacts,
  newVisit,
  turns,
  type Visit,
} from './attempts-oracle.js'

const SECOND = 1000
const DAY = 24 * 3600 * SECOND

type Fallback = Policy['security_code_fallback']
const KINDS: readonly AttemptKind[] = ['biometric', 'security_code']

const FRESH: SessionUse = { biometric: 0, security_code: 0, typingFailed: false }

/** An attempt between its reservation and its end, for the rules and for the oracle. */
interface UnderWay {
  readonly kind: AttemptKind
  readonly session: { used: SessionUse }
  /** The session after the reservation. */
  readonly used: SessionUse
  /** Version of the profile or the code that it is compared with. */
  readonly version: number
  readonly visit: Visit
  readonly visitThen: Visit
  readonly entry: Visit['attempts'][number]
}

/** A member under the rules, with the history that the oracle reads. */
class Play {
  private now = 1_800_000_000_000
  private counters = NO_ATTEMPTS
  private session = { used: FRESH }
  private profileReady = true
  private codeUsable = true
  private readonly version: Record<AttemptKind, number> = { biometric: 0, security_code: 0 }
  private readonly underWay: UnderWay[] = []
  private readonly history: Entry[] = []
  private visit = newVisit()
  readonly visits = [this.visit]

  constructor(private readonly fallback: Fallback) {}

  wait(ms: number): void {
    this.now += ms
  }

  begin(kind: AttemptKind): void {
    const { session, visit } = this
    const allowed = opens(kind, this.window()) && session.used[kind] < this.budget(kind)
    strictEqual(allowed, opens(kind, expectedWindow(this.facts())), `${kind} may begin`)
    if (!allowed) return
    session.used = { ...session.used, [kind]: session.used[kind] + 1 }
    const entry: Visit['attempts'][number] = { kind, fate: 'under way' }
    visit.attempts.push(entry)
    const visitThen = { ...visit }
    this.underWay.push({ kind, session, used: session.used, version: this.version[kind], visit, visitThen, entry })
  }

  /** Ends an attempt as the flows do: the counters at the end decide. */
  end(which: number, right: boolean): void {
    const one = this.take(which)
    if (one === undefined) return
    const { kind, used, entry } = one
    const current = this.version[kind] === one.version
    const judged = current && opens(kind, this.windowFor({ ...used, [kind]: used[kind] - 1 }))
    strictEqual(judged, current && isOpen(this.facts(), kind, one.visitThen, this.now), `${kind} is judged`)
    entry.fate = judged ? 'judged' : 'lost'
    if (!judged) return
    const { counters, now } = this
    this.counters = right ? afterSuccess(counters, kind) : afterFailure(counters, kind, now)
    this.history.push({ at: now, what: right ? 'success' : 'failure', kind })
    if (right || kind !== 'biometric') return
    one.session.used = { ...one.session.used, typingFailed: true }
    one.visit.typingFailed = true
  }

  /** The reservation is returned, because the pattern was invalid. */
  giveBack(which: number): void {
    const one = this.take(which)
    if (one === undefined) return
    one.session.used = { ...one.session.used, [one.kind]: one.session.used[one.kind] - 1 }
    one.entry.fate = 'given back'
  }

  /** The end is lost: the process died, or the store answered too late. */
  lose(which: number): void {
    const one = this.take(which)
    if (one === undefined) return
    one.entry.fate = 'lost'
  }

  newSession(): void {
    this.session = { used: FRESH }
    this.visit = newVisit()
    this.visits.push(this.visit)
  }

  reset(): void {
    this.counters = { ...this.counters, biometric: NO_ATTEMPTS.biometric }
    this.history.push({ at: this.now, what: 'reset' })
    this.version.biometric++
    this.profileReady = false
    this.newSession()
  }

  enroll(): void {
    this.profileReady = true
  }

  setCode(): void {
    this.counters = afterNewCode(this.counters)
    this.history.push({ at: this.now, what: 'new code' })
    this.version.security_code++
    this.codeUsable = true
  }

  clearCode(): void {
    this.version.security_code++
    this.codeUsable = false
  }

  unlock(): void {
    this.counters = NO_ATTEMPTS
    this.history.push({ at: this.now, what: 'unlock' })
  }

  /** Consecutive attempts, each in a new session as soon as its kind opens; every `rightEvery`-th succeeds. */
  storm(kind: AttemptKind, attempts: number, rightEvery: number): void {
    for (let i = 1; i <= attempts; i++) {
      this.newSession()
      const opensAt = turns(this.facts()).find((at) => isOpen(this.facts(), kind, this.visit, at))
      if (opensAt === undefined) return
      this.now = opensAt
      this.begin(kind)
      this.end(this.underWay.length - 1, i % rightEvery === 0)
    }
  }

  window = (): AttemptWindow => this.windowFor(this.session.used)
  isShut = (kind: AttemptKind): boolean => closedForMs(this.counters, kind, this.now) > 0
  isOff = (kind: AttemptKind): boolean => this.counters[kind].off

  facts(): MemberFacts {
    const { fallback, history, visit, profileReady, codeUsable, now } = this
    return { policy: fallback, history, visit, profileReady, codeUsable, now }
  }

  private windowFor(used: SessionUse): AttemptWindow {
    const { fallback, counters, profileReady, codeUsable, now } = this
    const policy = { ...DEFAULT_POLICY, security_code_fallback: fallback }
    return attemptWindow({ policy, session: used, counters, profileReady, codeUsable, now })
  }

  private take(which: number): UnderWay | undefined {
    return this.underWay.splice(which % Math.max(1, this.underWay.length), 1)[0]
  }

  private budget(kind: AttemptKind): number {
    return kind === 'biometric' ? this.fallback.max_biometric_attempts : this.fallback.max_code_attempts
  }
}

const opens = (kind: AttemptKind, window: AttemptWindow) =>
  kind === 'biometric' ? window.mode === 'biometric' : window.codeOpen

/** Commands that may raise the remaining attempts of a session. */
const RAISES = ['newSession', 'storm', 'giveBack', 'reset', 'enroll', 'setCode', 'unlock']

/** Whether a command may end the lock of a kind. */
const frees = (name: string, kind: AttemptKind, wasOff: boolean) =>
  (['wait', 'storm'].includes(name) && !wasOff) ||
  name === 'unlock' ||
  (kind === 'biometric' ? name === 'reset' : name === 'setCode' && wasOff)

/** Runs a command and compares the member afterwards with the oracle and with its state before. */
function step(played: Play, name: string, act: () => void): void {
  const before = { ...played.window(), shut: KINDS.filter(played.isShut), off: KINDS.filter(played.isOff) }
  act()
  const after = played.window()
  const facts = played.facts()
  deepStrictEqual(after, expectedWindow(facts), `after ${name}`)
  for (const kind of KINDS)
    strictEqual(played.isShut(kind), isClosed(facts.history, kind, facts.now), `${kind} is shut`)
  for (const kind of before.shut) {
    if (!frees(name, kind, before.off.includes(kind))) ok(played.isShut(kind), `${name} has freed ${kind}`)
  }
  if (RAISES.includes(name)) return
  ok(after.remainingBiometricAttempts <= before.remainingBiometricAttempts, `${name} has raised the typing attempts`)
  ok(after.remainingCodeAttempts <= before.remainingCodeAttempts, `${name} has raised the code attempts`)
}

/** Checks bounds that every whole history must keep. */
function holdBounds(played: Play): void {
  const { policy, history } = played.facts()
  for (const { attempts } of played.visits) {
    const judged = (kind: AttemptKind) => attempts.filter((one) => one.kind === kind && one.fate === 'judged').length
    ok(judged('biometric') <= policy.max_biometric_attempts, 'a session has judged more typing than its budget')
    ok(judged('security_code') <= policy.max_code_attempts, 'a session has judged more codes than its budget')
  }
  for (const kind of KINDS) {
    const failures = failuresOf(history, kind)
    failures.forEach(({ at, inARow, place }, i) => {
      const inADay = failures.filter((one) => one.at > at - DAY && one.at <= at)
      ok(inADay.length <= 20, `${inADay.length} failures of ${kind} within a day`)
      const next = failures[i + 1]
      if (next === undefined || history.slice(place, next.place).some(({ what }) => what === 'new code')) return
      ok(next.at - at >= lockMs(kind, inARow), `${kind} has failed again under the lock of ${inARow} failures`)
    })
  }
}

type Command = fc.Command<Record<string, never>, Play>
const command = (name: string, args: readonly unknown[], act: (played: Play) => void): Command => ({
  check: () => true,
  run: (_, played) => step(played, name, () => act(played)),
  toString: () => `${name}(${args.join(', ')})`,
})

const kind = fc.constantFrom(...KINDS)
const which = fc.nat(3)
const waits = fc.oneof(
  fc.constantFrom(1, 30, 900, 3600, 86_400).chain((s) => fc.constantFrom(s * SECOND - 1, s * SECOND, 1)),
  fc.integer({ min: 1, max: 90_000 * SECOND }),
)

const COMMANDS: fc.Arbitrary<Command>[] = [
  kind.map((k) => command('begin', [k], (played) => played.begin(k))),
  kind.map((k) => command('begin', [k], (played) => played.begin(k))),
  fc.tuple(which, fc.boolean()).map((args) => command('end', args, (played) => played.end(...args))),
  fc.tuple(which, fc.boolean()).map((args) => command('end', args, (played) => played.end(...args))),
  which.map((i) => command('giveBack', [i], (played) => played.giveBack(i))),
  which.map((i) => command('lose', [i], (played) => played.lose(i))),
  waits.map((ms) => command('wait', [ms], (played) => played.wait(ms))),
  fc
    .tuple(
      kind,
      fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 12 }) }, fc.integer({ min: 13, max: 60 })),
      fc.constantFrom(2, 3, 5, 1000),
    )
    .map((args) => command('storm', args, (played) => played.storm(...args))),
  fc.constant(command('newSession', [], (played) => played.newSession())),
  fc
    .constantFrom('reset', 'enroll', 'setCode', 'clearCode', 'unlock')
    .map((name) => command(name, [], (played) => played[name as 'reset']())),
]

export const policies: fc.Arbitrary<Fallback> = fc
  .record({
    enabled: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, fc.constant(false)),
    max_biometric_attempts: fc.integer({ min: 1, max: 4 }),
    max_code_attempts: fc.integer({ min: 1, max: 4 }),
    require_biometric_first: fc.boolean(),
  })
  .map((given) => ({ ...DEFAULT_POLICY.security_code_fallback, ...given }))

/** Every run of commands leaves the rules and the oracle in agreement. */
export const agreement = fc.property(
  policies,
  fc.commands(COMMANDS, { maxCommands: 30, size: 'max' }),
  (policy, commands) => {
    const played = new Play(policy)
    fc.modelRun(() => ({ model: {}, real: played }), commands)
    holdBounds(played)
  },
)

const bursts = fc.record({
  kind,
  what: fc.constantFrom('failure', 'failure', 'success'),
  times: fc.integer({ min: 1, max: 25 }),
  waitMs: waits,
})

/** The counters close what the oracle closes, also for attempts recorded under a lock: two clocks may disagree about its end. */
export const lateAgreement = fc.property(fc.array(bursts, { maxLength: 8 }), (all) => {
  const history: Entry[] = []
  let counters = NO_ATTEMPTS
  let now = 0
  for (const { kind, what, times, waitMs } of all) {
    for (let i = 0; i < times; i++) {
      now += waitMs
      history.push({ at: now, what, kind })
      counters = what === 'success' ? afterSuccess(counters, kind) : afterFailure(counters, kind, now)
    }
    for (const turn of turns({ history, now })) {
      for (const at of [turn - 1, turn].filter((moment) => moment >= now)) {
        strictEqual(closedForMs(counters, kind, at) > 0, isClosed(history, kind, at), `${kind} at ${at}`)
      }
    }
  }
})
