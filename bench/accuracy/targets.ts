import { type Captured, capturedFrom } from '../../src/calibration/attack-models.js'
import type { Subject, TypingSession } from '../../src/calibration/dataset.js'
import { type Means, meansOf } from '../../src/calibration/remembered-noise.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { type Durations, durationsOf } from './durations.js'
import { within } from './forgeries.js'
import { type Profile, profileOf } from './profile.js'
import { joined } from './same-words.js'
import { passphrases } from './sincere.js'

const PRESSES_MAX = 50
const REFERENCES = 5
const CAPTURES_MAX = 8
const LATER_MIN = 2
/** Presses of a pattern that joins NISLAB's passphrases. */
const JOINED_PRESSES = 60

/** Patterns that an attacker has: sign-ins captured on the way, or references from a stolen store. */
export interface Loot {
  readonly patterns: readonly Durations[]
  readonly means: () => Means
  readonly stock: () => Captured
  /** The profile that an attacker makes of the patterns, to try forgeries on. */
  readonly profile: () => Profile
}

/** A person under attack: references, sign-ins since that an attacker captured, and sincere patterns to come. */
export interface Target extends Profile {
  readonly enrolled: Loot
  readonly captures: Loot
  readonly later: readonly TypingSession[]
}

const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const lootOf = (kernel: Kernel, sessions: readonly TypingSession[]): Loot => ({
  patterns: sessions.map(durationsOf),
  means: once(() => meansOf(sessions)),
  stock: once(() => capturedFrom(sessions)),
  profile: once(() => profileOf(kernel, sessions, sessions)),
})

/**
 * Targets from people's sessions in order: five are enrolled, up to eight are captured, and the last two at least come later.
 * The service knows references and captures. People with fewer sessions are left out.
 */
export const targetsOf = (kernel: Kernel, people: readonly (readonly TypingSession[])[]): Target[] =>
  people.flatMap((sessions) => {
    const all = sessions.filter((one) => within(one))
    const captured = Math.min(CAPTURES_MAX, all.length - REFERENCES - LATER_MIN)
    if (captured < 2) return []
    const enrolled = all.slice(0, REFERENCES)
    const captures = all.slice(REFERENCES, REFERENCES + captured)
    return [
      {
        ...profileOf(kernel, enrolled, [...enrolled, ...captures]),
        enrolled: lootOf(kernel, enrolled),
        captures: lootOf(kernel, captures),
        later: all.slice(REFERENCES + captured),
      },
    ]
  })

/** The first presses of each session. */
export const sessionsOf = (people: readonly Subject[]): TypingSession[][] =>
  people.map(({ sessions }) => [...sessions.values()].map((session) => session.slice(0, PRESSES_MAX)))

/** NISLAB's repetitions with two hands, the passphrases joined: the same text ten times. */
export const joinedPhrases = (people: readonly Subject[]): TypingSession[][] =>
  people.map((person) => {
    const phrases = passphrases([person], 'h2')
    const repetitions = Math.min(...phrases.map(({ length }) => length))
    return Array.from({ length: repetitions }, (_, i) =>
      joined(phrases.map((phrase) => phrase[i] ?? [])).slice(0, JOINED_PRESSES),
    )
  })
