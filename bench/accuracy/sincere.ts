import { inPieces, type Subject, type TypingSession } from '../../src/calibration/dataset.js'
import type { Kernel } from '../../src/scoring/kernel.js'
import { sampleOf, within } from './forgeries.js'

/** Counts of sincere patterns that are called a bot, against five of the same person's patterns and without a reference. */
export interface SincereCount {
  readonly patterns: number
  readonly called: number
  readonly calledUnknown: number
}

/** A person's patterns of one way of typing: any five can be the references of another. */
export type Patterns = readonly TypingSession[]

/** The first `pressesMax` presses of every session. */
export const sentences = (people: readonly Subject[], pressesMax: number): Patterns[] =>
  people.map(({ sessions }) => [...sessions.values()].map((session) => session.slice(0, pressesMax)))

/** Every session in pieces of `presses`: free text. */
export const pieces = (people: readonly Subject[], presses: number): Patterns[] =>
  people.map(({ sessions }) => [...sessions.values()].flatMap((session) => inPieces(session, presses)))

/** NISLAB's repetitions of each phrase with one hand class: their sessions are named phrase-hands-repetition. */
export function passphrases(people: readonly Subject[], hands: 'h1' | 'h2'): Patterns[] {
  return people.flatMap(({ sessions }) => {
    const phrases = new Map<string, TypingSession[]>()
    for (const [name, session] of sessions) {
      const [phrase = '', hand] = name.split('-')
      if (hand !== hands) continue
      const held = phrases.get(phrase) ?? []
      phrases.set(phrase, held)
      held.push(session)
    }
    return [...phrases.values()]
  })
}

/** Scores each pattern once against the first five of the others. Patterns out of bounds are skipped. */
export function countSincere(kernel: Kernel, people: readonly Patterns[]): SincereCount {
  let [patterns, called, calledUnknown] = [0, 0, 0]
  for (const all of people) {
    const samples = all.filter(within).map(sampleOf)
    samples.forEach((sample, own) => {
      const references = samples.filter((_, i) => i !== own).slice(0, 5)
      const bot = (of: readonly Uint8Array[]): number => (kernel.score(sample, of).botLikelihood > 0.5 ? 1 : 0)
      patterns++
      called += bot(references)
      calledUnknown += bot([])
    })
  }
  return { patterns, called, calledUnknown }
}
