import { expect } from 'vitest'
import { suggestWords } from '../../src/domain/typing-words.js'
import { type MadeUpPerson, person } from '../../src/typist/made-up-person.js'
import type { TestService } from '../service.js'

export interface Enrolled {
  readonly userRef: string
  readonly session: string
  readonly who: MadeUpPerson
  /** The first pattern that was enrolled. */
  readonly first: unknown
  /** A new pattern of this person, with a new text. */
  readonly fresh: () => unknown
}

/** Sentences that share pairs of keys, as suggested words do. */
export const text = (seed: number) => suggestWords('en', seed).join(' ')

/** The latest seed by test file, so that a file has the same people in any order of the files. */
const seeds = new Map<string, number>()

function nextSeed(): number {
  const file = expect.getState().testPath ?? ''
  const seed = (seeds.get(file) ?? 0) + 1
  seeds.set(file, seed)
  return seed
}

/** A synthetic person with `count` enrolled patterns and a live session. */
export async function enroll(service: TestService, userRef: string, count = 5): Promise<Enrolled> {
  const seed = nextSeed()
  const who = person(seed)
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  let stored = 0
  let first: unknown
  // Synthetic people are sometimes classified as machines; then they type again.
  for (let n = 0; stored < count; n++) {
    const body = who.types(text(n), n)
    const { status, json } = await service.call('POST', `/users/${userRef}/typing-patterns`, { session, body })
    if (status === 200) {
      stored++
      first ??= body
    } else expect(json.reason, JSON.stringify(json)).toBe('detection-bot')
  }
  let next = 100
  return { userRef, session, who, first, fresh: () => who.types(text(next), next++) }
}

/** A pattern of another person, a new one each time, who types far more slowly than any enrolled person. */
export const stranger = (tempo = 2) => {
  const seed = 500_000 + nextSeed()
  return person(seed).types(text(seed), seed, { tempo })
}
