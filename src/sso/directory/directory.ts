import { clipped } from '../../base/text.js'
import { withoutMarks } from '../../domain/entered-code.js'

/** A name without outer spaces and invisible marks, with one form of each accent (NFC), as people and applications write it. */
export const writtenName = (text: string): string => clipped(withoutMarks(text.normalize('NFC')).trim(), NAME_MAX)

const NAME_MAX = 256

/** A person of the directory. */
export interface DirectoryPerson {
  /** The normalized reference of the person's account. */
  readonly userRef: string
  /** Null if the directory has none, or one that is not valid. */
  readonly email: string | null
  readonly displayName: string | null
  /** A language tag; null if unknown. */
  readonly language: string | null
}

/** The people who may sign in. */
export interface PeopleDirectory {
  /** Finds a person; null if the directory does not have exactly one of the name. Throws if it cannot be reached. */
  find(name: string): Promise<DirectoryPerson | null>
}
