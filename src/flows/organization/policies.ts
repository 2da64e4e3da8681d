import type { ContextIndicator } from '../../domain/context/signal.js'
import type { Policy } from '../../domain/policy.js'
import { Refusal } from '../../domain/refusal.js'
import { type Bucket, bucketStarts, type TimeWindow } from '../../domain/time-window.js'
import type { RecommendedAction, Verdict } from '../../domain/verdict.js'
import { whatIf } from '../../domain/what-if.js'
import type { AttemptLog, LoggedAttempt } from '../../storage/attempt-log.js'
import type { PolicyContent, PolicyRecord, PolicyStore } from '../../storage/policies.js'
import type { StatisticsStore, Tally } from '../../storage/statistics.js'

interface Needs {
  readonly policies: PolicyStore
  readonly attemptLog: Pick<AttemptLog, 'find' | 'judged'>
  readonly statistics: Pick<StatisticsStore, 'tallies'>
  readonly contextIndicators: readonly ContextIndicator[]
  readonly newId: () => string
  readonly now: () => number
  readonly forgetSettings: (organizationId: string) => Promise<void>
}

/** Attempts whose decision changes. */
interface Transition {
  readonly from: RecommendedAction
  readonly to: RecommendedAction
  readonly n: number
}

/** Recorded attempts judged by another policy. */
interface Simulation {
  readonly nAttempts: number
  readonly nChanged: number
  /** The window has more attempts; only the newest were judged again. */
  readonly truncated: boolean
  readonly transitions: readonly Transition[]
  /** Users with changed decisions, most changes first. */
  readonly users: readonly { readonly userRef: string; readonly nStricter: number; readonly nLooser: number }[]
}

/** Called between two slices of long work. Resolves when the next slice may begin. */
type Turn = () => Promise<void>

/** One recorded attempt, and the verdicts of other policies on it. */
interface WhatIf {
  readonly attempt: LoggedAttempt
  readonly verdicts: readonly { readonly record: PolicyRecord; readonly verdict: Verdict }[]
}

/** A change is effective at once in this process, and within a second in the others. */
export interface PolicyFlows {
  list(organizationId: string, archived: boolean): Promise<PolicyRecord[]>
  /** Every method with an id refuses an unknown policy with `nothing-found`; changes also refuse an archived policy. */
  find(organizationId: string, id: string): Promise<PolicyRecord>
  default(organizationId: string): Promise<PolicyRecord>
  create(organizationId: string, content: PolicyContent): Promise<PolicyRecord>
  change(organizationId: string, id: string, content: PolicyContent): Promise<PolicyRecord>
  /** Refuses the default with `policy-default`. Idempotent. */
  archive(organizationId: string, id: string): Promise<PolicyRecord>
  makeDefault(organizationId: string, id: string): Promise<PolicyRecord>
  setShadow(organizationId: string, id: string, on: boolean): Promise<PolicyRecord>
  /**
   * Judges one recorded attempt again: by all live policies, oldest first, or by the policy `id`, which may be archived.
   * Refuses an unknown attempt, and one without typing, with `nothing-found`.
   */
  whatIf(organizationId: string, attemptId: string, id: string | null): Promise<WhatIf>
  /** Judges recorded attempts of the window again. The policy may be archived. */
  simulate(organizationId: string, id: string, window: TimeWindow, turn: Turn): Promise<Simulation>
  /** As `simulate`, by a policy that is not stored. */
  simulateDraft(organizationId: string, policy: Policy, window: TimeWindow, turn: Turn): Promise<Simulation>
  /** Compares the decisions of the active policies (`from`) with this policy's verdicts as a shadow (`to`). */
  shadowed(organizationId: string, id: string, window: TimeWindow): Promise<readonly Transition[]>
  /** As `shadowed`, for every bucket that overlaps the window, oldest first. */
  shadowedOver(
    organizationId: string,
    id: string,
    window: TimeWindow,
    bucket: Bucket,
  ): Promise<readonly { readonly at: number; readonly transitions: readonly Transition[] }[]>
}

/** Most attempts judged again in one call: about 2 s of reading and 20 ms of judging. */
const ATTEMPTS_MAX = 20_000
/** Attempts per statement, 0.5 MB of facts. */
const PAGE = 250
/** Attempts judged per slice, which takes 0.5 ms. */
const SLICE = 20
const USERS_MAX = 200

const WITHOUT_FACTS: Record<LoggedAttempt['method'], string> = {
  biometric: 'the facts of this authentication are not stored: no policy can judge it again',
  security_code: 'a security code was entered in this authentication: a policy judges only typing',
}

export function createPolicyFlows(needs: Needs): PolicyFlows {
  const { policies } = needs
  const find = async (organizationId: string, id: string) => (await policies.find(organizationId, id)) ?? refuse()
  const changed = async (organizationId: string, record: PolicyRecord | null): Promise<PolicyRecord> => {
    await needs.forgetSettings(organizationId)
    return record ?? refuse()
  }
  return {
    list: (organizationId, archived) => policies.list(organizationId, archived),
    find,
    async default(organizationId) {
      const live = await policies.list(organizationId, false)
      return live.find(({ isDefault }) => isDefault) ?? refuse()
    },
    create: async (organizationId, content) =>
      changed(organizationId, await policies.create(organizationId, needs.newId(), content, needs.now())),
    change: async (organizationId, id, content) =>
      changed(organizationId, await policies.update(organizationId, id, content, needs.now())),
    async archive(organizationId, id) {
      const archived = await policies.archive(organizationId, id, needs.now())
      await needs.forgetSettings(organizationId)
      const record = await find(organizationId, id)
      if (!archived && record.isDefault)
        throw new Refusal('policy-default', 'this is the default policy: make another one the default first')
      return record
    },
    makeDefault: async (organizationId, id) => changed(organizationId, await policies.makeDefault(organizationId, id)),
    setShadow: async (organizationId, id, on) =>
      changed(organizationId, await policies.setShadow(organizationId, id, on)),
    async whatIf(organizationId, attemptId, id) {
      const attempt = await needs.attemptLog.find(organizationId, attemptId)
      if (attempt === null) throw new Refusal('nothing-found', 'no such authentication')
      const { facts } = attempt
      if (facts === null) throw new Refusal('nothing-found', WITHOUT_FACTS[attempt.method])
      const records = id === null ? await policies.list(organizationId, false) : [await find(organizationId, id)]
      const verdicts = records.map((record) => ({
        record,
        verdict: whatIf(facts, record.policy, needs.contextIndicators),
      }))
      return { attempt, verdicts }
    },
    async simulate(organizationId, id, window, turn) {
      const { policy } = await find(organizationId, id)
      return simulate(needs, { organizationId, policy, window, turn })
    },
    simulateDraft: (organizationId, policy, window, turn) => simulate(needs, { organizationId, policy, window, turn }),
    async shadowed(organizationId, id, window) {
      await find(organizationId, id)
      return transitionsOf(id, await needs.statistics.tallies(organizationId, 'shadow', window, null))
    },
    async shadowedOver(organizationId, id, window, bucket) {
      await find(organizationId, id)
      const tallies = await needs.statistics.tallies(organizationId, 'shadow', window, bucket)
      return bucketStarts(window, bucket).map((at) => {
        const own = tallies.filter((one) => one.at === at)
        return { at, transitions: transitionsOf(id, own) }
      })
    },
  }
}

/** The transitions of one shadow policy among the values of the facet. */
const transitionsOf = (id: string, tallies: readonly Tally[]): Transition[] =>
  tallies.flatMap(({ value, n }) => {
    const [policyId, from, to] = value.split(' ')
    // Sound: `facetsOf` writes the two actions there.
    return policyId === id ? { from: from as RecommendedAction, to: to as RecommendedAction, n } : []
  })

/** How strict a decision is: a change to a higher number is stricter. */
export const STRICTNESS: Readonly<Record<RecommendedAction, number>> = { auth: 0, challenge: 1, block: 2 }

function refuse(): never {
  throw new Refusal('nothing-found', 'no such policy')
}

interface Simulated {
  readonly organizationId: string
  readonly policy: Policy
  readonly window: TimeWindow
  readonly turn: Turn
}

async function simulate(
  { attemptLog, contextIndicators }: Needs,
  { organizationId, policy, window, turn }: Simulated,
): Promise<Simulation> {
  const transitions = new Map<string, Transition>()
  const users = new Map<string, { userRef: string; nStricter: number; nLooser: number }>()
  let [nAttempts, nChanged] = [0, 0]
  let before: string | null = null
  let more = true
  while (more && nAttempts < ATTEMPTS_MAX) {
    const page = await attemptLog.judged(organizationId, window, before, PAGE)
    for (const [i, { userRef, recommendedAction: from, facts }] of page.entries()) {
      if (i % SLICE === 0) await turn()
      const to = whatIf(facts, policy, contextIndicators).recommendedAction
      if (to === from) continue
      nChanged++
      transitions.set(`${from} ${to}`, { from, to, n: (transitions.get(`${from} ${to}`)?.n ?? 0) + 1 })
      const user = users.get(userRef) ?? { userRef, nStricter: 0, nLooser: 0 }
      if (STRICTNESS[to] > STRICTNESS[from]) user.nStricter++
      else user.nLooser++
      users.set(userRef, user)
    }
    nAttempts += page.length
    before = page.at(-1)?.id ?? null
    more = page.length === PAGE
  }
  const most = (user: { nStricter: number; nLooser: number }) => user.nStricter + user.nLooser
  return {
    nAttempts,
    nChanged,
    truncated: more,
    transitions: [...transitions.values()].sort((a, b) => b.n - a.n),
    users: [...users.values()].sort((a, b) => most(b) - most(a)).slice(0, USERS_MAX),
  }
}
