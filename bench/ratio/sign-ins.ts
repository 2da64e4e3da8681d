import type { Histories } from '../shared/histories.js'
import type { SignInUnit } from './generator.js'

/** Returns the next sign-ins of some people. */
export type SignIns = (count: number) => SignInUnit[]

/**
 * Sign-ins of people in random order, each of them once before anyone signs in again. `of` names the people. All share the ordinals
 * of a made-up person, because a typing that is sent a second time is a replay in the organization.
 */
export function signInsFor({ userRefOf, typistOf, typedFrom }: Histories) {
  const typed = new Map<number, number>()
  return ({ first, people }: { readonly first: number; readonly people: number }): SignIns => {
    let left: number[] = []
    return (count) =>
      Array.from({ length: count }, () => {
        if (left.length === 0) left = shuffled(people)
        const person = first + (left.pop() ?? 0)
        const typist = typistOf(person)
        const ordinal = typed.get(typist) ?? typedFrom
        typed.set(typist, ordinal + 1)
        return { userRef: userRefOf(person), typist, ordinal }
      })
  }
}

function shuffled(count: number): number[] {
  const order = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    const moved = order[i] ?? 0
    order[i] = order[j] ?? 0
    order[j] = moved
  }
  return order
}
