import type { ErasedPerson } from '../../domain/erased-person.js'
import type { PatternMemory } from './pattern-memory.js'
import type { PersonCache } from './person-cache.js'

/** Removes what this process has cached of a person. */
export function forgetPerson(
  { people, memory }: { readonly people: Pick<PersonCache, 'forget'>; readonly memory: Pick<PatternMemory, 'forget'> },
  { organizationId, userRef, memberIds }: ErasedPerson,
): void {
  people.forget({ organizationId, userRef, memberRef: null })
  for (const id of memberIds) memory.forget(id)
}
