import { ADAPTIVE_MAX, joinedConfidence, liftable, mayAdapt } from '../domain/adaptation.js'
import { DEFAULT_POLICY } from '../domain/policy.js'
import { verdict } from '../domain/verdict.js'
import type { Kernel } from '../scoring/kernel.js'
import { encodeSample } from '../scoring/sample.js'
import { PAUSE_MS, type TypingSession } from './dataset.js'
import type { Random } from './random.js'

/** References of one person, as samples. */
export interface Profile {
  readonly enrolled: readonly Uint8Array[]
  readonly adaptive: readonly Uint8Array[]
}

interface Decision {
  readonly accepted: boolean
  readonly clean: boolean
}

/** How a profile learns: `shipped` as the service does, `replacing` as in textbooks, which is the baseline. */
export type LearningRule = 'shipped' | 'replacing'

export const sampleOf = (session: TypingSession): Uint8Array => encodeSample(session, 'visible')

/** Simulates verify under the default policy, one attempt a day from the day after the enrollment, on one kernel. */
export function learner(kernel: Kernel, rule: LearningRule) {
  let loaded: Profile | null = null

  function decide(profile: Profile, probe: Uint8Array): Decision {
    const { enrolled, adaptive } = profile
    if (loaded !== profile) for (const [i, one] of [...enrolled, ...adaptive].entries()) kernel.read(i + 1, one)
    loaded = profile
    kernel.read(0, probe)
    const alone = kernel.scoreRead(enrolled.length, 'later')
    const confidenceEnrolled = alone.confidence ?? 0
    const asked = adaptive.length > 0 && liftable(confidenceEnrolled, DEFAULT_POLICY)
    const all = asked ? kernel.scoreRead(enrolled.length + adaptive.length, 'later').confidence : null
    const confidenceBiometrics = joinedConfidence(confidenceEnrolled, all, DEFAULT_POLICY)
    const evidence = {
      confidenceBiometrics,
      confidenceContext: null,
      bot: alone.botLikelihood > 0.5,
      replay: false,
      editedCopy: false,
      copyInDoubt: false,
      impossibleTravel: false,
    }
    const decided = verdict(evidence, DEFAULT_POLICY)
    const inputs = {
      verdict: decided,
      replay: false,
      confidenceEnrolled,
      confidenceContext: null,
      adaptedAt: null,
      now: 0,
    }
    return { accepted: decided.recommendedAction === 'auth', clean: mayAdapt(inputs) }
  }

  return {
    accepts: (profile: Profile, probe: Uint8Array): boolean => decide(profile, probe).accepted,
    /** Returns the profile after this attempt; null if it learned nothing. */
    learn(profile: Profile, probe: Uint8Array): Profile | null {
      if (!decide(profile, probe).clean) return null
      const { enrolled, adaptive } = profile
      if (rule === 'replacing') return { enrolled: [...enrolled.slice(1), probe], adaptive }
      return { enrolled, adaptive: [...adaptive, probe].slice(-ADAPTIVE_MAX) }
    },
  }
}

/** Blends that an impostor tries at every step, boldest first: 1 is their own typing, 0 the victim's. */
const BLENDS = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]

/**
 * Poisons a profile: an impostor who can type like the victim blends over to their own typing. Each of `steps` uses the boldest
 * blend that the profile learns from, which no impostor outside a simulation could know. `mixed` gives the blend of a step.
 * Returns the profile afterwards.
 */
export function poisoned(
  { learn }: ReturnType<typeof learner>,
  profile: Profile,
  steps: number,
  mixed: (step: number) => (share: number) => TypingSession,
): Profile {
  let current = profile
  for (let step = 0; step < steps; step++) {
    const blend = mixed(step)
    for (const share of BLENDS) {
      const learned = learn(current, sampleOf(blend(share)))
      if (learned === null) continue
      current = learned
      break
    }
  }
  return current
}

/** Hold of each press, and time since the previous press, ms. */
interface Rhythm {
  readonly holdMs: readonly number[]
  readonly flightMs: readonly number[]
}

/** One text typed between two rhythms of it: interpolates the logarithms of the times. */
export function blended(text: TypingSession, from: Rhythm, to: Rhythm, share: number): TypingSession {
  const mix = (a = 1, b = 1) => Math.exp((1 - share) * Math.log(a) + share * Math.log(b))
  let now = 0
  return text.map(({ key }, i) => {
    if (i > 0) now += mix(from.flightMs[i], to.flightMs[i])
    return { key, pressMs: now, releaseMs: now + mix(from.holdMs[i], to.holdMs[i]) }
  })
}

const LEAST_MS = 5

export function rhythmOf(session: TypingSession): Rhythm {
  return {
    holdMs: session.map(({ pressMs, releaseMs }) => Math.max(LEAST_MS, releaseMs - pressMs)),
    flightMs: session.map(({ pressMs }, i) => Math.max(LEAST_MS, pressMs - (session[i - 1]?.pressMs ?? 0))),
  }
}

/** Synthesizes a person's typing of a new text from their recorded times: by pair, else by key, else from all. */
export function typistOf(sessions: readonly TypingSession[]): (text: TypingSession, random: Random) => Rhythm {
  const times = new Map<string, number[]>()
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms])
  for (const session of sessions) {
    const { holdMs, flightMs } = rhythmOf(session)
    session.forEach(({ key }, i) => {
      const [hold = LEAST_MS, flight = LEAST_MS] = [holdMs[i], flightMs[i]]
      for (const name of [`hold ${key}`, 'hold']) note(name, hold)
      if (i === 0 || flight > PAUSE_MS) return
      for (const name of [`flight ${session[i - 1]?.key} ${key}`, `flight ${key}`, 'flight']) note(name, flight)
    })
  }
  const drawn = (random: Random, ...names: string[]): number => {
    const known = names.map((name) => times.get(name)).find((found) => found !== undefined) ?? []
    return known[Math.floor(random() * known.length)] ?? LEAST_MS
  }
  return (text, random) => ({
    holdMs: text.map(({ key }) => drawn(random, `hold ${key}`, 'hold')),
    flightMs: text.map(({ key }, i) => drawn(random, `flight ${text[i - 1]?.key} ${key}`, `flight ${key}`, 'flight')),
  })
}
