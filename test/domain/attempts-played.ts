import { deepStrictEqual, ok, strictEqual } from 'node:assert'
import fc from 'fast-check'
import {
  type AttemptCounters,
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
  type Book,
  type Entry,
  failuresOf,
  isClosed,
  isOpen,
  lockMs,
  newVisit,
  turns,
  type Visit,
  windowByTheBook,
} from './attempts-by-the-book.js'

const SECOND = 1000
const DAY = 24 * 3600 * SECOND

type Fallback = Policy['security_code_fallback']
export const KINDS: readonly AttemptKind[] = ['biometric', 'security_code']

/** What is tested: the shipped rules, or such with a bug planted in them. */
export interface Rules {
  readonly afterFailure: typeof afterFailure
  readonly afterSuccess: typeof afterSuccess
  readonly attemptWindow: typeof attemptWindow
  /** What a reset, a new code and a new session make of the counters: held to by the tests of the stores. */
  readonly afterReset: (counters: AttemptCounters) => AttemptCounters
  readonly afterNewCode: (counters: AttemptCounters) => AttemptCounters
  readonly inNewSession: (counters: AttemptCounters) => AttemptCounters
  /** What an attempt whose end nobody heard of leaves of its reservation. */
  readonly afterLoss: (used: SessionUse, kind: AttemptKind) => SessionUse
}

const FRESH: SessionUse = { biometric: 0, security_code: 0, typingFailed: false }

export const SHIPPED: Rules = {
  afterFailure,
  afterSuccess,
  attemptWindow,
  afterReset: (counters) => ({ ...counters, biometric: NO_ATTEMPTS.biometric }),
  afterNewCode,
  inNewSession: (counters) => counters,
  afterLoss: (used) => used,
}

/** One attempt between its reservation and its end, on both sides. */
interface UnderWay {
  readonly kind: AttemptKind
  readonly session: { used: SessionUse }
  /** The session as the reservation left it. */
  readonly used: SessionUse
  /** Of the profile or the code that it is compared with. */
  readonly version: number
  readonly visit: Visit
  readonly visitThen: Visit
  readonly entry: Visit['attempts'][number]
}

/** A member under the rules, and beside it the history that the book judges by. */
function play(rules: Rules, fallback: Fallback) {
  const policy = { ...DEFAULT_POLICY, security_code_fallback: fallback }
  let now = 1_800_000_000_000
  let counters = NO_ATTEMPTS
  let session = { used: FRESH }
  let profileReady = true
  let codeUsable = true
  const version: Record<AttemptKind, number> = { biometric: 0, security_code: 0 }
  const underWay: UnderWay[] = []
  const history: Entry[] = []
  let visit = newVisit()
  const visits = [visit]

  const windowFor = (used: SessionUse) =>
    rules.attemptWindow({ policy, session: used, counters, profileReady, codeUsable, now })
  const opens = (kind: AttemptKind, window: AttemptWindow) =>
    kind === 'biometric' ? window.mode === 'biometric' : window.codeOpen
  const book = (): Book => ({ policy: fallback, history, visit, profileReady, codeUsable, now })
  const take = (which: number) => underWay.splice(which % Math.max(1, underWay.length), 1)[0]
  const budget = (kind: AttemptKind) =>
    kind === 'biometric' ? fallback.max_biometric_attempts : fallback.max_code_attempts

  const acts = {
    wait(ms: number) {
      now += ms
    },
    begin(kind: AttemptKind) {
      const allowed = opens(kind, windowFor(session.used)) && session.used[kind] < budget(kind)
      strictEqual(allowed, opens(kind, windowByTheBook(book())), `${kind} may begin`)
      if (!allowed) return
      session.used = { ...session.used, [kind]: session.used[kind] + 1 }
      const entry: Visit['attempts'][number] = { kind, fate: 'under way' }
      visit.attempts.push(entry)
      const visitThen = { ...visit }
      underWay.push({ kind, session, used: session.used, version: version[kind], visit, visitThen, entry })
    },
    /** Ends one that is under way as the flows do: decided on the counters as they are by then. */
    end(which: number, right: boolean) {
      const one = take(which)
      if (one === undefined) return
      const { kind, used, entry } = one
      const current = version[kind] === one.version
      const judged = current && opens(kind, windowFor({ ...used, [kind]: used[kind] - 1 }))
      strictEqual(judged, current && isOpen(book(), kind, one.visitThen, now), `${kind} is judged`)
      entry.fate = judged ? 'judged' : 'lost'
      if (!judged) return
      counters = right ? rules.afterSuccess(counters, kind) : rules.afterFailure(counters, kind, now)
      history.push({ at: now, what: right ? 'success' : 'failure', kind })
      if (right || kind !== 'biometric') return
      one.session.used = { ...one.session.used, typingFailed: true }
      one.visit.typingFailed = true
    },
    /** The pattern could not be read. */
    giveBack(which: number) {
      const one = take(which)
      if (one === undefined) return
      one.session.used = { ...one.session.used, [one.kind]: one.session.used[one.kind] - 1 }
      one.entry.fate = 'given back'
    },
    /** The process died, or the store answered too late. */
    lose(which: number) {
      const one = take(which)
      if (one === undefined) return
      one.session.used = rules.afterLoss(one.session.used, one.kind)
      one.entry.fate = 'lost'
    },
    newSession() {
      counters = rules.inNewSession(counters)
      session = { used: FRESH }
      visit = newVisit()
      visits.push(visit)
    },
    reset() {
      counters = rules.afterReset(counters)
      history.push({ at: now, what: 'reset' })
      version.biometric++
      profileReady = false
      acts.newSession()
    },
    enroll() {
      profileReady = true
    },
    setCode() {
      counters = rules.afterNewCode(counters)
      history.push({ at: now, what: 'new code' })
      version.security_code++
      codeUsable = true
    },
    clearCode() {
      version.security_code++
      codeUsable = false
    },
    unlock() {
      counters = NO_ATTEMPTS
      history.push({ at: now, what: 'unlock' })
    },
  }

  return {
    ...acts,
    /** Attempts in a row, each in a new session and as soon as its kind opens; every so many succeed. */
    storm(kind: AttemptKind, attempts: number, rightEvery: number) {
      for (let i = 1; i <= attempts; i++) {
        acts.newSession()
        const opensAt = turns(book()).find((at) => isOpen(book(), kind, visit, at))
        if (opensAt === undefined) return
        now = opensAt
        acts.begin(kind)
        acts.end(underWay.length - 1, i % rightEvery === 0)
      }
    },
    window: () => windowFor(session.used),
    isShut: (kind: AttemptKind) => closedForMs(counters, kind, now) > 0,
    isOff: (kind: AttemptKind) => counters[kind].off,
    book,
    visits,
  }
}
type Play = ReturnType<typeof play>

/** What may raise the attempts that remain to a session. */
const RAISES = ['newSession', 'storm', 'giveBack', 'reset', 'enroll', 'setCode', 'unlock']

/** Whether this may end the lock of a kind. */
const frees = (name: string, kind: AttemptKind, wasOff: boolean) =>
  (['wait', 'storm'].includes(name) && !wasOff) ||
  name === 'unlock' ||
  (kind === 'biometric' ? name === 'reset' : name === 'setCode' && wasOff)

/** Does it, and holds what the member shows afterwards to the book, and to what it showed before. */
function step(played: Play, name: string, act: () => void): void {
  const before = { ...played.window(), shut: KINDS.filter(played.isShut), off: KINDS.filter(played.isOff) }
  act()
  const after = played.window()
  const book = played.book()
  deepStrictEqual(after, windowByTheBook(book), `after ${name}`)
  for (const kind of KINDS) strictEqual(played.isShut(kind), isClosed(book.history, kind, book.now), `${kind} is shut`)
  for (const kind of before.shut) {
    if (!frees(name, kind, before.off.includes(kind))) ok(played.isShut(kind), `${name} has freed ${kind}`)
  }
  if (RAISES.includes(name)) return
  ok(after.remainingBiometricAttempts <= before.remainingBiometricAttempts, `${name} has raised the typing attempts`)
  ok(after.remainingCodeAttempts <= before.remainingCodeAttempts, `${name} has raised the code attempts`)
}

/** What no history may show, said once more of the whole. */
function holdBounds(played: Play): void {
  const { policy, history } = played.book()
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

/** Every run of commands leaves the rules and the book in agreement. */
export const agreement = (rules: Rules) =>
  fc.property(policies, fc.commands(COMMANDS, { maxCommands: 30, size: 'max' }), (policy, commands) => {
    const played = play(rules, policy)
    fc.modelRun(() => ({ model: {}, real: played }), commands)
    holdBounds(played)
  })

const bursts = fc.record({
  kind,
  what: fc.constantFrom('failure', 'failure', 'success'),
  times: fc.integer({ min: 1, max: 25 }),
  waitMs: waits,
})

/** The counters close what the book closes, whenever what is recorded: two clocks may disagree on whether a lock is over. */
export const lateAgreement = (rules: Pick<Rules, 'afterFailure' | 'afterSuccess'>) =>
  fc.property(fc.array(bursts, { maxLength: 8 }), (all) => {
    const history: Entry[] = []
    let counters = NO_ATTEMPTS
    let now = 0
    for (const { kind, what, times, waitMs } of all) {
      for (let i = 0; i < times; i++) {
        now += waitMs
        history.push({ at: now, what, kind })
        counters = what === 'success' ? rules.afterSuccess(counters, kind) : rules.afterFailure(counters, kind, now)
      }
      for (const turn of turns({ history, now })) {
        for (const at of [turn - 1, turn].filter((moment) => moment >= now)) {
          strictEqual(closedForMs(counters, kind, at) > 0, isClosed(history, kind, at), `${kind} at ${at}`)
        }
      }
    }
  })
