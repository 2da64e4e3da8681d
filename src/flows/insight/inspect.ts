import type { AttemptFacts } from '../../domain/attempt-facts.js'
import type { Circumstances } from '../../domain/context/circumstances.js'
import { judgeContext } from '../../domain/context/context.js'
import type { ContextIndicator, Indicator, IndicatorReading, Signal } from '../../domain/context/signal.js'
import { Refusal, userNotFound } from '../../domain/refusal.js'
import type { Explanation } from '../../scoring/explanation.js'
import { BOT_LIKELIHOOD } from '../../scoring/score.js'
import type { Scorer } from '../../scoring/scorer.js'
import { confirmed, sketchOf } from '../../scoring/sketch.js'
import { type Trace, traceOf } from '../../scoring/trace.js'
import type { AccountStore } from '../../storage/account.js'
import type { AttemptLog, LoggedAttempt } from '../../storage/attempt-log.js'
import type { Authentication, AuthenticationStore } from '../../storage/authentication.js'
import type { ProfileStore } from '../../storage/profile.js'
import type { Vault } from '../../storage/vault.js'

interface Needs {
  readonly attemptLog: Pick<AttemptLog, 'find'>
  readonly authentications: Pick<AuthenticationStore, 'findByPattern'>
  readonly accounts: Pick<AccountStore, 'find'>
  readonly profiles: Pick<ProfileStore, 'references'>
  readonly vault: Vault
  /** Created with the first trace: its own kernel takes 0.2 s and 20 MB. */
  readonly scorer: () => Scorer
}

/** The trace of an attempt, or the reason why there is none. */
interface AttemptTrace {
  readonly attempt: LoggedAttempt
  /** Null for a security code, and if a pattern of the comparison was deleted: the score cannot be reproduced then. */
  readonly trace: Trace | null
  /** Number of references deleted since the attempt. */
  readonly nMissing: number
  /** The current scorer reproduces the recorded score bit for bit; null without a trace. */
  readonly reproduced: boolean | null
  /** The known pattern that the attempt repeats; null if none. */
  readonly copy: TracedCopy | null
}

interface ComparedPresses extends Pick<AttemptTrace, 'attempt' | 'reproduced'> {
  readonly trace: Trace
  readonly explanation: Explanation
}

export type ShownPress = Explanation['presses'][number]

interface TracedCopy {
  readonly patternId: string
  /** Null for an attempt recorded before this field existed. */
  readonly chance: number | null
  /** When the known pattern was received, epoch ms. */
  readonly at: number
  /** For each press, the probability that it was taken from an earlier pattern. Null if one of the patterns was deleted. */
  readonly presses: readonly number[] | null
}

export interface InspectFlows {
  /** Refuses an unknown attempt with `nothing-found`. */
  attempt(organizationId: string, id: string): Promise<LoggedAttempt>
  /** Refuses an unknown user with `user-not-found`. */
  requireUser(organizationId: string, userRef: string): Promise<void>
  trace(organizationId: string, id: string): Promise<AttemptTrace>
  /** Each press next to the references. Refuses with `nothing-found`, and the reason, if there is no trace. */
  presses(organizationId: string, id: string): Promise<ComparedPresses>
  signals(organizationId: string, id: string, indicator: Indicator): Promise<readonly Signal[]>
}

/** Details of single attempts. */
export function createInspect(needs: Needs): InspectFlows {
  const attempt = async (organizationId: string, id: string) => {
    const found = await needs.attemptLog.find(organizationId, id)
    if (found === null) throw new Refusal('nothing-found', 'no such authentication')
    return found
  }
  return {
    attempt,
    requireUser: async (organizationId, userRef) => {
      if ((await needs.accounts.find(organizationId, userRef, null)) === null) throw userNotFound()
    },
    trace: async (organizationId, id) => traced(needs, organizationId, await attempt(organizationId, id)),
    async presses(organizationId, id) {
      const found = await traced(needs, organizationId, await attempt(organizationId, id))
      const { trace } = found
      if (trace === null) throw new Refusal('nothing-found', withoutTrace(found))
      const { explanation } = trace
      if (explanation === null) throw new Refusal('nothing-found', 'the pattern was compared with no reference')
      return { attempt: found.attempt, reproduced: found.reproduced, trace, explanation }
    },
    signals: async (organizationId, id, indicator) => {
      const readings = indicatorsOf(await attempt(organizationId, id))
      return readings.find((one) => one.indicator === indicator)?.signals ?? []
    },
  }
}

/** Every indicator of an attempt, `biometric` and `bot` included; all values are null if nothing was recorded. */
export function indicatorsOf({
  facts,
  confidenceBiometrics,
  method,
  nPatternsRefUsed,
}: Omit<Authentication, 'sealed'>): IndicatorReading[] {
  const typed = method === 'biometric'
  const one = (signal: string, value: number | null, computedOutcome: number | null): Signal => ({
    signal,
    value,
    reference: null,
    weight: 1,
    computedOutcome,
  })
  const human = facts === null ? null : 1 - facts.botLikelihood
  return [
    {
      indicator: 'biometric',
      weight: 1,
      score: typed ? confidenceBiometrics : null,
      signals: [
        one('confidence', typed ? confidenceBiometrics : null, typed ? confidenceBiometrics : null),
        one('references', typed ? nPatternsRefUsed : null, null),
      ],
    },
    {
      indicator: 'bot',
      weight: 1,
      score: human,
      signals: [
        one('bot_likelihood', facts?.botLikelihood ?? null, human),
        one('replay', flag(facts?.replay), null),
        copySignal(facts?.copyOf ?? null),
      ],
    },
    ...(facts?.indicators ?? judgeContext(UNKNOWN, {}, {}, NONE).indicators),
  ]
}

/** Confidence that the pattern is a copy, and the id of the known pattern that it is nearest to. */
const copySignal = (copy: AttemptFacts['copyOf']): Signal => ({
  signal: 'copy_of',
  value: copy?.chance === undefined ? null : 1 - copy.chance,
  reference: copy?.patternId ?? null,
  weight: 1,
  computedOutcome: null,
})

const flag = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value))
const NONE: readonly ContextIndicator[] = []
const UNKNOWN: Circumstances = { at: 0, ip: null, network: null, anonymizer: null, place: null, device: null }

async function traced(needs: Needs, organizationId: string, attempt: LoggedAttempt): Promise<AttemptTrace> {
  const { patternId, sealed, facts, userRef, memberRef, accountId, memberId } = attempt
  const none = (nMissing: number) => ({ attempt, trace: null, nMissing, reproduced: null, copy: copyOf(attempt, null) })
  const person = await needs.accounts.find(organizationId, userRef, memberRef)
  if (patternId === null || sealed === null || facts === null || person?.member?.id !== memberId) return none(0)
  const { generation } = person.member
  const held: Held = new Map((await needs.profiles.references(organizationId, memberId)).map((one) => [one.id, one]))
  const nMissing = [...facts.references, ...facts.adaptive].filter((id) => !held.has(id)).length
  if (nMissing > 0) return none(nMissing)
  const open = (id: string, sealed: Uint8Array) =>
    needs.vault.open(organizationId, { accountId, memberId, patternId: id, generation }, sealed)
  const samples = (ids: readonly string[]) =>
    Promise.all(ids.map((id) => open(id, held.get(id)?.sealed ?? new Uint8Array())))
  const inputs = {
    probe: await open(patternId, sealed),
    references: await samples(facts.references),
    adaptive: await samples(facts.adaptive),
    sitting: facts.sitting ?? 'same',
  }
  const trace = traceOf(needs.scorer(), inputs)
  const original = await sealedOriginal(needs, organizationId, attempt, held)
  const known = original === null ? null : [...inputs.references, await open(original.id, original.sealed)]
  const confirm = (sample: Uint8Array) => confirmed(sketchOf(sample))
  const presses = known && needs.scorer().kernel.copiedPresses(sketchOf(inputs.probe), known.map(confirm))
  const reproduced = isReproduced(attempt.confidenceBiometrics, facts, trace)
  return { attempt, trace, nMissing, reproduced, copy: copyOf(attempt, presses) }
}

type Held = ReadonlyMap<string, { readonly sealed: Uint8Array }>

/** The known pattern that the attempt repeats, from the references or the tested patterns; null if there is none or it was deleted. */
async function sealedOriginal(
  { authentications }: Needs,
  organizationId: string,
  { userRef, facts }: LoggedAttempt,
  held: Held,
): Promise<{ readonly id: string; readonly sealed: Uint8Array } | null> {
  const id = facts?.copyOf?.patternId
  if (id === undefined) return null
  const found = held.get(id) ?? (await authentications.findByPattern(organizationId, userRef, id))
  return found?.sealed ? { id, sealed: found.sealed } : null
}

function copyOf({ facts }: LoggedAttempt, presses: TracedCopy['presses']): TracedCopy | null {
  const copy = facts?.copyOf ?? null
  if (copy === null) return null
  return { patternId: copy.patternId, chance: copy.chance ?? null, at: receivedAt(copy.patternId), presses }
}

function isReproduced(recorded: number, facts: AttemptFacts, { result }: Trace): boolean {
  const { confidence, confidenceAdapted, botLikelihood } = result
  const found = [confidence ?? 0, Math.max(confidence ?? 0, confidenceAdapted ?? 0)]
  return found.includes(recorded) && isSameBot(botLikelihood, facts.botLikelihood)
}

/** Whether a likelihood is that of the facts. The known patterns, which a trace does not have, may have raised it to a verdict. */
const isSameBot = (again: number, then: number): boolean => again === then || (again < then && then > BOT_LIKELIHOOD)

/** The reason why there is no trace. */
function withoutTrace({ attempt, nMissing }: AttemptTrace): string {
  const { method, facts, sealed } = attempt
  if (method === 'security_code')
    return 'a security code was entered in this authentication: there is no typing pattern'
  if (facts === null || sealed === null) return 'the typing pattern of this authentication was deleted'
  if (nMissing === 0) return 'the member of this authentication was deleted'
  const all = facts.references.length + facts.adaptive.length
  return `${nMissing} of the ${all} references of this authentication were deleted since: it cannot be compared again`
}

/** Ids of patterns are UUIDs of version 7: their first 48 bits are the time, epoch ms. */
const receivedAt = (patternId: string): number => Number.parseInt(patternId.replaceAll('-', '').slice(0, 12), 16)
