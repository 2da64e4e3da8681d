import { expect } from 'vitest'
import { type MadeUpPerson, person } from '../../src/cli/made-up-person.js'
import { suggestWords } from '../../src/domain/typing-words.js'
import type { TestService } from '../service.js'

export interface Enrolled {
  readonly userRef: string
  readonly session: string
  readonly who: MadeUpPerson
  /** A pattern of this person that was never sent before: a new text, a new session. */
  readonly fresh: () => unknown
}

/** Sentences that share pairs of keys, as suggested words do. */
export const text = (seed: number) => suggestWords('en', seed).join(' ')

let seeds = 1

/** A made-up person with `count` enrolled patterns and a live session. */
export async function enroll(service: TestService, userRef: string, count = 5): Promise<Enrolled> {
  const seed = seeds++
  const who = person(seed)
  await service.call('POST', `/users/${userRef}`)
  const { session } = await service.bootstrap(userRef)
  for (let n = 0; n < count; n++) {
    const answer = await service.call('POST', `/users/${userRef}/typing-patterns`, {
      session,
      body: who.types(text(n), n),
    })
    expect(answer.status, JSON.stringify(answer.json)).toBe(200)
  }
  let next = 100
  return { userRef, session, who, fresh: () => who.types(text(next), next++) }
}

/** Typing of somebody else, new each time. */
export const stranger = () => {
  const seed = 500_000 + seeds++
  return person(seed).types(text(seed), seed)
}
