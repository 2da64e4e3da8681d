import { Mailbox } from '../../domain/alert-channels.js'
import { normalizeUserRef } from '../../domain/user-ref.js'
import type { DirectoryPerson } from './directory.js'

/** The fields of a directory's entry, unchecked. */
interface Entry {
  readonly userRef: unknown
  readonly email: unknown
  readonly displayName: unknown
  readonly language: unknown
}

/** The person of an entry; null if it has no usable reference. An invalid e-mail address counts as none. */
export function personOf({ userRef, email, displayName, language }: Entry): DirectoryPerson | null {
  const reference = typeof userRef === 'string' ? normalizeUserRef(userRef) : null
  if (reference === null) return null
  return {
    userRef: reference,
    email: Mailbox.safeParse(email).success ? String(email) : null,
    displayName: typeof displayName === 'string' && displayName !== '' ? displayName : null,
    language: typeof language === 'string' && language !== '' ? language : null,
  }
}
